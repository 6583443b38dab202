"""What is given in Python where a policy is needed: a name or an object."""

from collections.abc import Mapping
from typing import Any

from pointsman.engine.run.contract import CompiledPolicy, Policy, check_declarations, title
from pointsman.errors import UsageError
from pointsman.inputs.messages import described, quoted
from pointsman.policies.registry import PLAIN, PolicySpec, get_policy

GivenPolicy = str | Policy | CompiledPolicy


def policy_of(given: GivenPolicy, params: Mapping[str, Any] | None = None) -> tuple[PolicySpec, Any]:
    """What is known of the policy, and the policy with `params` set.

    Raises:
        UsageError: it is neither a name nor a policy, or a parameter is wrong.
    """
    if isinstance(given, str):
        spec = get_policy(given)
        return spec, spec.make(params)
    check_object(given)
    if params:
        raise UsageError("params require a policy name; a policy object has its own parameters")
    check_declarations(given)
    return PolicySpec(title(given), type(given)), given


def check_object(given: object) -> None:
    """Refuse what is no policy.

    Raises:
        UsageError: it is a class, several policies or something else; the sentence has the right call.
    """
    if isinstance(given, list | tuple | set):
        several = quoted(given) if all(isinstance(each, str) for each in given) else "policies"
        raise UsageError(
            f"simulate runs one policy, not {len(given)}: call pointsman.compare(workload, cluster, {several})"
        )
    if isinstance(given, type):
        raise UsageError(f"the policy is {described(given)}: give an object of it, {given.__name__}()")
    if not isinstance(given, CompiledPolicy) and not callable(getattr(given, "decide", None)):
        raise UsageError(
            f"the policy is {described(given)}: give a name such as 'fifo', or an object with the method decide(view); "
            "workload, cluster and policy are given in this order"
        )


def stated_parameters(
    spec: PolicySpec, policy: object, params: Mapping[str, Any] | None, *, is_named: bool
) -> dict[str, Any]:
    """The parameters of a policy as a result states them; of an object written in Python they are the attributes that
    are called as its class calls its parameters.
    """
    if isinstance(policy, CompiledPolicy):
        return policy.model_dump(mode="json", exclude_none=True)
    if is_named:
        return spec.effective(params or {}, policy=policy)
    found = {name: getattr(policy, name) for name in spec.arguments if hasattr(policy, name)}
    return {name: value for name, value in found.items() if isinstance(value, PLAIN) and value != ""}
