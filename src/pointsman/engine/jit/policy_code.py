"""The compiled code of a run: the main loop, and where it finds the hooks of a policy."""

from pointsman.engine.jit.loaded import Unit, units
from pointsman.engine.jit.units import HOSTED_HOOKS, MAIN_LOOP, PYTHON_API, hooks_unit

HOOKS = ("decide", "on_event", "on_run")
Code = tuple[Unit, dict[str, int]]
"""The main loop, and where it finds the hooks of a policy."""


def units_of(hooks: str) -> list[str]:
    """What a run needs of the policy with these hooks, named by their module or, of a user's own, their file."""
    return [MAIN_LOOP, hooks_unit(hooks), *([PYTHON_API] if hooks == HOSTED_HOOKS else [])]


def load_policy(policy: object) -> Code:
    """The main loop, and where it finds the hooks of a policy: addresses by fields of ``State.g``, 0 where a hook does
    nothing.

    Raises:
        UsageError: a user's file does not compile.
    """
    loop, hooked, *_ = units(*units_of(getattr(policy, "hooks", HOSTED_HOOKS)))
    return loop, {hook: hooked.addresses.get(hook, 0) for hook in HOOKS}
