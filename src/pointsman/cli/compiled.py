"""Compiled code: what a command needs of it, whether it is there, and making all of it beforehand."""

from collections.abc import Iterable, Mapping
from typing import Any

from pointsman.cli import screen
from pointsman.engine.jit.built import is_shipped
from pointsman.engine.jit.policy_code import units_of
from pointsman.engine.jit.units import AUDIT, CONTENTION, HOSTED_HOOKS, PYTHON_API, SHARED_GPUS, factor_unit
from pointsman.engine.rate_models.factors.gpu_sharing import jobs_per_gpu
from pointsman.engine.rate_models.registry import base_model_of, factors_of
from pointsman.policies.registry import get_policy


def prepare_code(
    policies: Iterable[str],
    options: Mapping[str, Any] | None = None,
    *,
    questions: bool = False,
    more: Iterable[str] = (),
) -> None:
    """Compile, on all cores, what runs of these policies with these options need, and say so if it takes a while.

    Args:
        policies: their names.
        options: fields of `experiment.Assumptions`; by default, the policies' own.
        questions: whether questions are asked of the state, as by `explain`.
        more: units that are needed besides.
    """
    needed = [*more, *(unit for name in policies for unit in _units(name, options or {}))]
    if questions:
        needed += [PYTHON_API, *units_of(HOSTED_HOOKS)]
    needed = [unit for unit in needed if not is_shipped(unit)]
    if needed:
        from pointsman.engine.jit.build import missing, prepare

        lacking = missing(needed)
        _announce(len(lacking))
        prepare(lacking)


def _units(name: str, options: Mapping[str, Any]) -> list[str]:
    """What a run of this policy needs: its own hooks, its rate model and its factors."""
    policy = get_policy(name).factory
    base = base_model_of(policy, options.get("rate_model"))
    asked = jobs_per_gpu(policy, options.get("gpu_sharing"))
    shared = [SHARED_GPUS] if base.most_jobs_per_gpu(asked) > 1 else []
    links = [CONTENTION] if options.get("contention", "none") != "none" else []
    audit = [AUDIT] if options.get("audit") else []
    of_factors = [factor_unit(factor.unit()) for factor in factors_of(options, policy, base)]
    return [*units_of(_hooks(name)), *base.units, *shared, *links, *audit, *of_factors]


def _announce(missing: int) -> None:
    """Say that the command will be slow to start, if `missing` parts must be compiled first."""
    if not missing:
        return
    parts, them = (f"{missing} parts", "them") if missing > 1 else ("1 part", "it")
    screen.note(
        f"compiling {parts} of the simulator, some seconds each; later runs reuse {them} "
        "('pointsman warmup' compiles everything)"
    )
    from pointsman.cache_folder import find_place

    place = find_place()
    if not place.lasts:
        screen.note(f"compiled code is kept in {place.folder}, {place.why}; POINTSMAN_HOME names a lasting folder")


def _hooks(policy: str) -> str:
    spec = get_policy(policy)
    return getattr(spec.factory, "hooks", HOSTED_HOOKS)
