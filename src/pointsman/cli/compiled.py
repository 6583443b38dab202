"""Compiled code: whether it is there, and making all of it beforehand."""

from collections.abc import Callable

from pointsman.cli import screen
from pointsman.engine.jit.compiled_folder import find_place
from pointsman.engine.jit.loading import BESIDE, is_compiled, load_beside, load_hooks
from pointsman.engine.run.simulation import HOSTED_HOOKS
from pointsman.policies.registry import get_policy, policy_names

QUESTIONS = "python_api"
"""The compiled questions that Python policies and `explain` ask, beside the loops."""


def announce(policies: list[str], *, questions: bool = False) -> None:
    """Say that a command will be slow to start, if it has to compile something first."""
    needed = {_hooks(name) for name in policies}
    if questions or HOSTED_HOOKS in needed:
        needed.add(QUESTIONS)
    missing = len([hooks for hooks in needed if not is_compiled(hooks)])
    if missing:
        screen.note(
            f"compiling the simulator, once: {missing} parts, some seconds each (or all with 'pointsman warmup')"
        )
        place = find_place()
        if not place.lasts:
            screen.note(f"compiled code is kept in {place.folder}, {place.why}; POINTSMAN_HOME names a lasting folder")


def compile_all(progress: Callable[[float, str], None]) -> None:
    """Compile whatever a built-in policy, one written in Python, `explain`, a rate model or a learning environment will
    need, on all cores.
    """
    from pointsman.learn.environments.loading import mark, parts
    from pointsman.parallel.pool import Processes

    needed = {HOSTED_HOOKS, *BESIDE, *map(_hooks, policy_names())}
    missing = [*(() if mark().exists() else parts()), *sorted(hooks for hooks in needed if not is_compiled(hooks))]
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
    elif hooks in BESIDE:
        load_beside(hooks)
    else:
        load_hooks(hooks)
