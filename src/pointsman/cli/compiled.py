"""Compiled code: whether it is there, and making all of it beforehand."""

from collections.abc import Callable

from pointsman.cli import screen
from pointsman.engine.jit.ahead import HOSTED_HOOKS, compile_ahead, load_unit, units_of
from pointsman.engine.jit.compiled_folder import find_place
from pointsman.engine.jit.loading import BESIDE, OF_FACTOR, is_compiled
from pointsman.engine.rate_models.registry import factors
from pointsman.policies.registry import get_policy, policy_names

QUESTIONS = "python_api"
"""The compiled questions that Python policies and `explain` ask, beside the loops."""


def announce(policies: list[str], *, questions: bool = False) -> None:
    """Say that a command will be slow to start, if it has to compile something first; and compile it, on all cores."""
    needed = [unit for name in policies for unit in units_of(_hooks(name))]
    if questions:
        needed += [QUESTIONS, *units_of(HOSTED_HOOKS)]
    missing = len([unit for unit in dict.fromkeys(needed) if not is_compiled(unit)])
    if missing:
        screen.note(
            f"compiling the simulator, once: {missing} parts, some seconds each (or all with 'pointsman warmup')"
        )
        place = find_place()
        if not place.lasts:
            screen.note(f"compiled code is kept in {place.folder}, {place.why}; POINTSMAN_HOME names a lasting folder")
    compile_ahead(needed)


def compile_all(progress: Callable[[float, str], None]) -> None:
    """Compile whatever a built-in policy, one written in Python, `explain`, a rate model or a learning environment will
    need, on all cores.
    """
    from pointsman.learn.environments.loading import mark, parts
    from pointsman.parallel.pool import Processes

    of_factors = (f"{OF_FACTOR}{factor.hooks}" for factor in factors().values())
    needed = [*BESIDE, HOSTED_HOOKS, *of_factors, *map(_hooks, policy_names())]  # what others need comes first
    missing = [
        *(unit for unit in dict.fromkeys(needed) if not is_compiled(unit)),
        *(() if mark().exists() else parts()),
    ]
    workers = min(len(missing), 8, screen.cores()) or 1
    for done, _ in enumerate(Processes(workers)(_compile, [(hooks,) for hooks in missing]), 1):
        progress(done / len(missing), f"{done} of {len(missing)}")
    mark().touch()


def _hooks(policy: str) -> str:
    spec = get_policy(policy)
    return spec.factory.hooks if spec.compiled else HOSTED_HOOKS


def _compile(hooks: str | tuple[str, str]) -> None:
    if not isinstance(hooks, str):
        from pointsman.learn.environments.loading import load_part

        load_part(*hooks)
    else:
        load_unit(hooks)
