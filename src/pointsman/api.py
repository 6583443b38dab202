"""The Python API: read a workload, name a cluster and a policy, get a result."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.cluster import Cluster, load_cluster
from pointsman.cluster.congestion import UNCONGESTED
from pointsman.engine.rate_models.gpu_sharing import gpu_sharing_of
from pointsman.engine.rate_models.rate_model import Iterations, Tree, rate_model_of
from pointsman.engine.rate_models.uplinks import parse_link_sharing
from pointsman.engine.run.contract import CompiledPolicy, Policy
from pointsman.engine.run.outcome import make_result
from pointsman.engine.run.result import Result
from pointsman.engine.run.simulation import Named, Simulation
from pointsman.engine.setup.build import PARAMETERS, Rules, build
from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.engine.setup.prepare import Prepared, prepare, sigma_of
from pointsman.engine.setup.script import make_script
from pointsman.errors import UsageError
from pointsman.inputs.bounds import check_seed, instant_ms
from pointsman.policies.registry import PolicySpec, get_policy
from pointsman.types import NEVER_MS, PLACEMENT_NAMES
from pointsman.workload import Workload, read_workload

OVERSIZED = ("refuse", "drop", "clamp")


def simulate(
    workload: Workload | str | Path,
    cluster: Cluster | str,
    policy: str | Policy | CompiledPolicy,
    *,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    estimate: str | None = None,
    placement: str | None = None,
    overheads: str | Overheads = "none",
    oversized: str = "refuse",
    assign_models: int | None = None,
    profiles: Sequence[str | Path] = (),
    congestion: Mapping[str, float] = UNCONGESTED,
    contention: str = "none",
    enforce_limits: bool = False,
    rate_model: str | None = None,
    gpu_sharing: int | None = None,
    interference: str | float | None = None,
    node_events: Sequence[tuple[float, str, str]] = (),
    cancels: Sequence[tuple[float, int]] = (),
    until_s: float | None = None,
    log: bool = True,
    audit: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Replay `workload` on `cluster` under `policy`.

    Args:
        workload: a `Workload`, or a file that `read_workload` reads.
        cluster: a `Cluster`, or what `load_cluster` takes: a name, ``800x8``, a file.
        policy: a name (``fifo``, ``rounds(srtf, 60)``, ``my_policy.py:MyPolicy``) or a policy object.
        params: parameters of a named policy.
        seed: of everything random: estimate errors and failing starts.
        estimate: what policies know of durations: ``none``, ``limit``, ``oracle``, ``lognormal:SIGMA``; by default
            the truth for policies
            that need an oracle, limits (the truth where the log has none) for those that need estimates, else nothing.
        placement: ``consolidated``, ``first-fit``, ``spread`` or ``tightest``; by default the policy's own, else
            ``consolidated``.
        overheads: ``none``, ``realistic``, a YAML file or `Overheads`.
        oversized: ``refuse``, ``drop`` or ``clamp`` gangs that could never start.
        assign_models: give jobs without a model one, by this seed.
        profiles: files of model profiles, which go before the shipped ones; of two, the later.
        congestion: a factor of at least 1 by which the bandwidth of a level of the network is divided: of ``rack``,
            ``pod``, ``cluster``, or ``network``, which is all of them.
        contention: how jobs share links: ``none``, ``level`` (all uplinks of a level as one), ``max-min`` (fair shares
            of every uplink while they send), ``duty-cycle`` (of what they send on average) or ``node-link[:PENALTY]``.
        enforce_limits: kill jobs that would run longer than their ``time_limit_s``.
        rate_model: ``rates``, or ``iterations[:a=MS,b=MS_PER_MB,eta=MS_PER_MB,sharing=JOBS]``: jobs are chains of
            iterations that may share GPUs, with one transfer each (``semantics.md`` §9), or ``goodput``: jobs tune
            their batches (§11), or ``tree[:clamp=COST,rack=,node=,gpu=]``: a gang pays for the racks, nodes and GPUs
            that it spans (§12); by default the policy's own.
        gpu_sharing: how many jobs a GPU may have (``semantics.md`` §10); by default the policy's own: 1, or 2 for those
            that share. Jobs that ask for a fraction of a GPU share it with their like where it is above 1.
        interference: how jobs on one GPU slow each other: ``table`` (measured pairs), ``law`` (fitted to them), a
            number (times as long, for all), or a file of ``pointsman profile pairs``; by default ``table``.
        node_events: (time_s, node name or index, ``UP``, ``DRAIN`` or ``DOWN``).
        cancels: (time_s, row) of jobs that their users cancel, after their submit.
        until_s: stop after the instants up to this many seconds from the first submit.
        log: keep the plan log.
        audit: check every invariant after every pass (slow).
        progress: told the share of jobs that have ended, now and then.

    Raises:
        InputError: the workload or the cluster file is wrong, or a gang could never start.
        UsageError: an option, a policy or a parameter is wrong.
    """
    began = time.perf_counter()
    work = workload if isinstance(workload, Workload) else read_workload(workload)
    place = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    spec, made = _policy(policy, params)
    cost = overheads if isinstance(overheads, Overheads) else load_overheads(overheads)
    simulation, prepared = open_simulation(
        work, place, spec, made, seed=seed, estimate=estimate, placement=placement, overheads=cost, oversized=oversized,
        assign_models=assign_models, profiles=profiles, congestion=congestion, contention=contention,
        rate_model=rate_model, gpu_sharing=gpu_sharing, interference=interference, enforce_limits=enforce_limits,
        node_events=node_events, cancels=cancels, log=log, audit=audit,
    )  # fmt: skip
    until_ms = NEVER_MS - 1 if until_s is None else instant_ms(until_s, "until_s")
    simulation.run(until_ms, progress)
    choices = {
        "policy": spec.text,
        "policy_name": spec.title,
        "needs": spec.needs,
        "params": made.model_dump(mode="json") if isinstance(made, CompiledPolicy) else dict(params or {}),
        "placement": "its own" if hasattr(made, "rate_model") else placement_of(made, placement),
        "overheads": cost.model_dump(),
        "assign_models": assign_models,
        "congestion": dict(congestion),
        "contention": contention,
        "rate_model": rate_model or getattr(made, "rate_model", None) or "rates",
        "gpu_sharing": int(simulation.handle.state.g[0]["jobs_per_gpu"]),
        "own_gpu_sharing": gpu_sharing is None or int(getattr(made, "gpu_sharing", 1)) == gpu_sharing,
        "interference": "table" if interference is None else str(interference),
        "seed": seed,
    }
    if until_s is not None:
        choices["until_s"] = until_s
    result = make_result(simulation, prepared, work, place, choices)
    result.info["wall_s"] = time.perf_counter() - began
    return result


def _policy(policy: str | Policy | CompiledPolicy, params: Mapping[str, Any] | None) -> tuple[PolicySpec, Any]:
    if isinstance(policy, str):
        spec = get_policy(policy)
        return spec, spec.make(params)
    if params:
        raise UsageError("params go with a policy's name; a policy object has its own")
    return PolicySpec(getattr(policy, "name", type(policy).__name__), type(policy)), policy


def open_simulation(
    workload: Workload,
    cluster: Cluster,
    spec: PolicySpec,
    policy: CompiledPolicy | Policy,
    *,
    seed: int,
    estimate: str | None,
    placement: str | None,
    overheads: Overheads,
    oversized: str,
    assign_models: int | None,
    node_events: Sequence[tuple[float, str, str]],
    cancels: Sequence[tuple[float, int]],
    log: bool,
    audit: bool,
    profiles: Sequence[str | Path] = (),
    congestion: Mapping[str, float] = UNCONGESTED,
    contention: str = "none",
    enforce_limits: bool = False,
    rate_model: str | None = None,
    gpu_sharing: int | None = None,
    interference: str | float | None = None,
) -> tuple[Simulation, Prepared]:
    """A simulation before its first event, and what it was prepared from. Arguments as in `simulate`."""
    placement = placement_of(policy, placement)
    if oversized not in OVERSIZED:
        raise UsageError(f"unknown choice {oversized!r} for oversized jobs (there are {', '.join(OVERSIZED)})")
    sharing = parse_link_sharing(contention)
    law = rate_model_of(policy, rate_model, contention, congestion, gpu_sharing)
    gpus = gpu_sharing_of(policy, gpu_sharing, interference)
    if interference is not None:
        from pointsman.speed.interference.slow_downs import load_interference
        from pointsman.speed.profiles.catalogue import load_catalogue

        load_interference(gpus.interference, load_catalogue(*profiles))
    check_seed(seed)
    if enforce_limits:
        from pointsman.workload.transforms.enforce_limits import enforce_limits as enforced

        workload = enforced(workload)
    if assign_models is not None:
        from pointsman.speed.profiles.assign import assign_models as assign

        check_seed(assign_models, "assign_models")
        workload = replace(workload, jobs=assign(workload.jobs, assign_models))
    knowledge = knowledge_for(spec, estimate, workload.jobs["time_limit_s"].null_count() == 0)
    layout = cluster.layout()
    prepared = prepare(
        workload, layout, knowledge=knowledge, placement=PLACEMENT_NAMES[placement], oversized=oversized, seed=seed,
        profiles=profiles, congestion=congestion, contention=sharing.contention, law=law, gpu_sharing=gpus,
    )  # fmt: skip
    hosted = not isinstance(policy, CompiledPolicy)
    rules = Rules(
        placement=PLACEMENT_NAMES[placement], round_ms=round(1000 * spec.round_s), seed=seed, log=log, audit=audit,
        hosted=hosted, sharing=sharing, iterations=law if isinstance(law, Iterations) else None,
        tree=law if isinstance(law, Tree) else None, gpu_sharing=gpus.limit,
        admits=getattr(policy, "admits", False), **overheads.milliseconds(),
    )  # fmt: skip
    params = np.zeros(PARAMETERS)
    if isinstance(policy, CompiledPolicy):
        numbers = policy.parameters()
        params[: len(numbers)] = numbers
    script = make_script(node_events, cancels, layout, prepared.trace["submit"])
    handle = build(
        layout,
        prepared.pools,
        prepared.demands,
        prepared.trace,
        prepared.queue_limits,
        prepared.speeds,
        params,
        script,
        rules,
    )
    return Simulation(handle, policy, _named), prepared


def _named(name: str) -> Named:
    """The policy of a name, with its defaults, for `View.what_if`."""
    spec = get_policy(name)
    return Named(spec.make(), round(1000 * spec.round_s))


def placement_of(policy: CompiledPolicy | Policy, asked: str | None) -> str:
    """The placement of a run: what was asked for, or the policy's own, else ``consolidated``.

    Raises:
        UsageError: an unknown placement, or another than the only one that the policy works with.
    """
    own = getattr(policy, "placement", None)
    if asked is not None and hasattr(policy, "rate_model"):
        raise UsageError(f"policy {policy.name!r} places by itself: leave out the placement {asked!r}")
    if asked is None:
        return own or "consolidated"
    if asked not in PLACEMENT_NAMES:
        raise UsageError(f"unknown placement {asked!r} (there are {', '.join(PLACEMENT_NAMES)})")
    if own not in (None, asked):
        raise UsageError(f"policy {policy.name!r} places by itself ({own}): leave out the placement {asked!r}")
    return asked


def knowledge_for(spec: PolicySpec, estimate: str | None, has_limits: bool) -> str:
    """What a policy is told of durations: what was asked for, or what it needs.

    Raises:
        UsageError: an unknown estimate, or ``none`` for a policy that needs one.
    """
    if estimate is None:
        return {"none": "none", "oracle": "oracle", "estimate": "limit" if has_limits else "oracle"}[spec.needs]
    if estimate not in ("none", "limit", "oracle"):
        sigma_of(estimate)
    if estimate == "none" and spec.needs != "none":
        raise UsageError(f"policy {spec.title!r} needs durations ({spec.needs}); --estimate none leaves it without")
    return estimate if spec.needs != "none" else "none"
