"""Whether a policy can take over a state that was built for another, and what it changes there
(``docs/reference/semantics.md`` §13).
"""

from typing import TypeGuard

import numpy as np

from pointsman.engine.rate_models.registry import BASE_MODELS, base_models
from pointsman.engine.run.contract import CompiledPolicy, Policy, title
from pointsman.engine.state.state_pointer import Handle
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.types import PLACEMENT_NAMES, SCATTERED, Event, JobState, Placement

_SUBMIT, _STARTED = int(Event.SUBMIT), int(Event.STARTED)
_PENDING, _RUNNING = int(JobState.PENDING), int(JobState.RUNNING)


def check_takeover(handle: Handle, policy: CompiledPolicy | Policy, placement: Placement) -> None:
    """That the state has what the policy needs, and could hold its jobs under its `placement`.

    Raises:
        UsageError: it has not: what is missing, and how the run would have it.
    """
    model = rate_model_of_state(handle)
    _check_model(policy, model)
    if model != "iterations":
        _check_sharing(handle, policy)
    _check_estimates(handle, policy)
    _check_schedulers(handle, policy)
    _check_placement(handle, policy, placement)
    _check_shapes(handle, policy)


def check_forecasts(policy: object, before: object) -> None:
    """That the run has what the policy forecasts interference by: what the one before it did, or jobs are slowed by.

    Raises:
        UsageError: it has not.
    """
    source = getattr(policy, "interference", None)
    if source is not None and not isinstance(source, str) and not source.begun:
        raise UsageError(f"policy {title(policy)!r} learns interference from the first job on: start the run with it")
    if isinstance(source, str) and source != getattr(before, "interference", None):
        raise UsageError(
            f"policy {title(policy)!r} forecasts interference by {source!r}, which this run has not read: begin the "
            "run with a policy that does, or leave it out"
        )


def check_told_of_cluster(policy: object, before: object) -> None:
    """That a policy that must be told of the cluster before a run is that of the run, and that none must of its jobs.

    Raises:
        UsageError: it must.
    """
    if hasattr(policy, "on_cluster") and policy is not before:
        raise UsageError(f"policy {title(policy)!r} must see the cluster before the run: it cannot take over")
    if getattr(policy, "briefed", False):
        raise UsageError(f"policy {title(policy)!r} must see the jobs before the run: it cannot take over")


def learns_alike(policy: object, before: object) -> TypeGuard[CompiledPolicy]:
    """Whether a policy goes on with what the one before it has learnt: itself, and by the same estimates."""
    return (
        isinstance(policy, CompiledPolicy)
        and policy.learns
        and type(policy) is type(before)
        and policy.durations == before.durations
    )


def rate_model_of_state(handle: Handle) -> str:
    """The name of the base model that a state was built for."""
    return list(BASE_MODELS)[int(handle.state.g[0]["base_model"])]


def placement_under(policy: object, otherwise: Placement) -> Placement:
    """The placement that a policy declares, or `otherwise`."""
    own = getattr(policy, "placement", None)
    return otherwise if own is None else PLACEMENT_NAMES[own]


def introductions(handle: Handle) -> list[tuple[int, int]]:
    """What a Python policy hears of the jobs it finds, in row order: (kind of event, slot)."""
    jobs = handle.jobs
    known = np.flatnonzero((jobs["state"] == _PENDING) | (jobs["state"] == _RUNNING))
    known = known[np.argsort(jobs["row"][known], kind="stable")]
    return [(_STARTED if jobs["state"][j] == _RUNNING else _SUBMIT, j) for j in known.tolist()]


def _check_model(policy: object, model: str) -> None:
    own = getattr(policy, "rate_model", None)
    if own not in (None, model):
        raise UsageError(
            f"policy {title(policy)!r} needs the rate model {own!r}, and this run has {model!r}: run it with "
            f"--rate-model {own}"
        )
    base_models()[model].check_policy(policy)


def _check_sharing(handle: Handle, policy: object) -> None:
    limit, own = int(handle.state.g[0]["jobs_per_gpu"]), int(getattr(policy, "gpu_sharing", 1))
    if own > limit:
        raise UsageError(
            f"policy {title(policy)!r} puts up to {own} jobs on a GPU, and this run at most {limit}: run it with "
            f"--gpu-sharing {own}"
        )
    if limit > own == 1 and getattr(policy, "takes_whole_gpus", False):
        raise UsageError(
            f"policy {title(policy)!r} uses whole GPUs, or shares them by its own rules, and in this run up to "
            f"{limit} jobs share one: run it with --gpu-sharing 1, or ask for a policy that shares"
        )


def _check_estimates(handle: Handle, policy: object) -> None:
    needs = getattr(policy, "durations", getattr(policy, "needs", "none"))
    if needs in ("none", "history"):
        return
    clock, jobs = handle.world.clock[0], handle.jobs
    without = int(np.isnan(jobs["estimate"][jobs["state"] != 0]).sum())
    if not handle.state.g[0]["history"]:
        to_come = handle.world.trace["estimate"][int(clock["arrived"]) : int(clock["jobs"])]
        without += int(np.isnan(to_come).sum())
    if without:
        have = counted(without, "job of this run has", "jobs of this run have")
        raise UsageError(
            f"policy {title(policy)!r} requires durations ({needs}), and {have} none: "
            "the run must be of a policy that requires them too (needs = 'estimate' or 'oracle')"
        )


def _check_schedulers(handle: Handle, policy: object) -> None:
    there, own = int(handle.state.g[0]["schedulers"]), int(getattr(policy, "divides_among", 1))
    if there != own:
        raise UsageError(
            f"policy {title(policy)!r} divides the cluster among {own} schedulers, and this run has {there}: the "
            "numbers must be the same"
        )


def _check_placement(handle: Handle, policy: object, placement: Placement) -> None:
    """Gangs that fit the cluster only scattered would wait for ever, and others behind them."""
    if placement in SCATTERED or int(handle.state.g[0]["placement"]) not in SCATTERED:
        return
    clock, jobs = handle.world.clock[0], handle.jobs
    to_come = handle.world.trace["cls"][int(clock["arrived"]) : int(clock["jobs"])]
    for c in np.union1d(jobs["cls"][jobs["state"] != 0], to_come).tolist():
        if not _fits_together(handle, c):
            raise UsageError(
                f"policy {title(policy)!r} places jobs {placement.name.lower().replace('_', '-')}, and no nodes of "
                f"this cluster could ever hold one of {handle.state.classes['gpus'][c]} GPUs so: give the run a "
                "placement of its own, or ask for a policy that scatters jobs"
            )


def _check_shapes(handle: Handle, policy: object) -> None:
    if not getattr(policy, "keeps_shapes", True) and (handle.state.classes["per_node"] > 0).any():
        raise UsageError(
            f"policy {title(policy)!r} changes how many GPUs jobs have, and jobs of this run have shapes to keep: run "
            "it with --ignore shape"
        )


def _fits_together(handle: Handle, c: int) -> bool:
    """Whether the empty cluster could hold a gang of class `c` on whole nodes and a part of one more."""
    state = handle.state
    demand, pool_of_node = state.classes[c], state.nodes["pool"]
    if demand["per_node"]:  # which no placement scatters
        return True
    gpus = int(demand["gpus"])
    for alternative in state.alts[int(demand["alt"]) : int(demand["alt_end"])]:
        pools = state.ints[int(alternative["pool"]) : int(alternative["pool_end"])]
        nodes = state.nodes["gpus"][np.isin(pool_of_node, pools)]
        whole, rest = divmod(gpus, int(alternative["gpus"]))
        if (nodes == alternative["gpus"]).sum() >= whole and (not rest or (nodes >= rest).sum() > whole):
            return True
    return False
