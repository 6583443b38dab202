"""The policies of several runs: by name, or objects of which each run gets a copy."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

import cloudpickle
from pydantic import PrivateAttr

from pointsman.engine.run.contract import CompiledPolicy
from pointsman.errors import UsageError
from pointsman.experiment import PolicyChoice
from pointsman.policies.given import GivenPolicy, check_object, policy_of, stated_parameters
from pointsman.policies.registry import get_policy
from pointsman.report.units import class_name


class ObjectChoice(PolicyChoice):
    """A policy object as it was when it was given; its name and parameters are those that results state."""

    _pickled: bytes = PrivateAttr()
    _call: str = PrivateAttr(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, policy: Any) -> Self:
        """The choice of an object.

        Raises:
            UsageError: it is no policy, or cannot be copied.
        """
        spec, policy = policy_of(policy)
        found = cls(name=spec.title, params=stated_parameters(spec, policy, None, is_named=False))
        try:
            found._pickled = cloudpickle.dumps(policy)
        except Exception as error:  # whatever an object's own way to be pickled raises
            raise UsageError(
                f"the policy {spec.title!r} cannot be pickled, and each run needs a copy of its own: {error}; open "
                "files and make locks and the like in on_cluster or decide"
            ) from error
        return found

    def copied(self) -> Any:
        """A new object, equal to the one that was given."""
        return cloudpickle.loads(self._pickled)

    @property
    def call(self) -> str:
        """A text that no other choice has: what an object does cannot be digested, so no later call goes on with its
        runs.
        """
        return self._call


def choices_of(policies: Sequence[GivenPolicy]) -> list[str | PolicyChoice]:
    """What an experiment takes of names and objects; an object of a class that has a name becomes one with parameters.

    Raises:
        UsageError: one is no policy or cannot be copied, or two have one name and the same parameters.
    """
    found = [policy if isinstance(policy, str) else _choice(policy) for policy in policies]
    objects = [each for each in found if isinstance(each, ObjectChoice)]
    named = {get_policy(each).title for each in found if isinstance(each, str)} if objects else set()
    stated = Counter((each.name, repr(each.params)) for each in objects)
    for (name, params), number in stated.items():
        if number > 1 or name in named:
            raise UsageError(
                f"several policies are called {name!r} and state the parameters {params:.200}: give each a name of its "
                "own, or keep its parameters in attributes that are called as its class calls them"
            )
    return found


def _choice(policy: Any) -> PolicyChoice:
    check_object(policy)
    if isinstance(policy, CompiledPolicy):
        try:
            named = get_policy(policy.name).factory is type(policy)
        except UsageError:
            named = False
        if named:
            return PolicyChoice(name=policy.name, params=policy.model_dump(exclude_defaults=True))
    return ObjectChoice.of(policy)


def check_baseline(choices: Sequence[PolicyChoice], baseline: str | None, *, imports: bool = True) -> None:
    """Before a long run: the baseline is among the policies (or one of them with its parameters, as tables name it).

    `imports`: whether a policy in a file is imported for its name.

    Raises:
        UsageError: it is not.
    """
    names = [choice.name for choice in choices]
    shown = [title_of(choice, imports=imports) for choice in choices]
    known = {*names, *shown, *map(class_name, names)}
    if baseline is not None and not any(baseline == name or baseline.startswith(f"{name} (") for name in known):
        raise UsageError(f"the baseline {baseline!r} is not among the policies compared ({', '.join(shown)})")


def title_of(choice: PolicyChoice, *, imports: bool = True) -> str:
    """The name that it goes by in tables."""
    return choice.name if isinstance(choice, ObjectChoice) else get_policy(choice.name, imports=imports).title


def call_of(choice: PolicyChoice) -> tuple[GivenPolicy, dict[str, Any] | None]:
    """The policy, a new object or a name, and the parameters that `simulate` takes for it."""
    return (choice.copied(), None) if isinstance(choice, ObjectChoice) else (choice.name, choice.params)


def told_apart(choice: PolicyChoice) -> tuple[str, ...]:
    """What the digest of a run needs besides name and parameters."""
    return (choice.call,) if isinstance(choice, ObjectChoice) else ()
