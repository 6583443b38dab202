"""Which units of compiled code a run needs is known before any is compiled."""

import numba
import pytest
from pointsman.engine.jit.ahead import HOSTED_HOOKS, units_of

from pointsman.policies.registry import BUILT_IN, get_policy

with_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@with_jit
@pytest.mark.parametrize(("policy", "services"), [("fifo", ["start"]), ("srtf", ["start_or_evict"])])
def test_the_services_of_a_policy_are_found_in_what_it_calls(policy: str, services: list[str]) -> None:
    hooks = get_policy(policy).factory.hooks
    assert units_of(hooks) == ["instant", *services, "main_loop", hooks]


@with_jit
@pytest.mark.parametrize("policy", BUILT_IN)
def test_the_units_of_every_policy_are_found(policy: str) -> None:
    spec = get_policy(policy)
    hooks = getattr(spec.factory, "hooks", HOSTED_HOOKS)
    units = units_of(hooks)
    assert (units[0], units[-2:]) == ("instant", ["main_loop", hooks])
