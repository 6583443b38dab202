"""The Python API: read a workload, name a cluster and a policy, get a result."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pointsman.cluster import Cluster
from pointsman.cluster.congestion import UNCONGESTED
from pointsman.cluster.load import GivenCluster, check_order, cluster_of
from pointsman.engine.rate_models.profile_error import told_profiles
from pointsman.engine.run.assembly import assemble
from pointsman.engine.run.contract import CompiledPolicy, Policy
from pointsman.engine.run.kept_log import KeptLog
from pointsman.engine.run.outcome import make_result
from pointsman.engine.run.policy_terms import placement_of
from pointsman.engine.run.simulation import Named, Simulation
from pointsman.engine.setup.build import build
from pointsman.engine.setup.job_columns import job_columns
from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.script import make_script
from pointsman.experiment import RunOptions
from pointsman.inputs.bounds import instant_ms
from pointsman.parallel.file_bundle import digests
from pointsman.policies.given import GivenPolicy, policy_of, stated_parameters
from pointsman.policies.registry import PolicySpec, get_policy
from pointsman.progress import shown
from pointsman.report.result import Result
from pointsman.types import NEVER_MS
from pointsman.workload import Workload
from pointsman.workload.given import GivenWorkload, workload_of


def simulate(
    workload: GivenWorkload,
    cluster: GivenCluster,
    policy: GivenPolicy,
    *,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    estimate: str | None = None,
    profile_error: float = 0.0,
    placement: str | None = None,
    overheads: str | Mapping[str, float] | Overheads = "realistic",
    oversized: str = "refuse",
    assign_models: int | None = None,
    profiles: Sequence[str | Path] = (),
    congestion: Mapping[str, float] = UNCONGESTED,
    contention: str = "none",
    rate_model: str | None = None,
    gpu_sharing: int | None = None,
    interference: str | float | None = None,
    node_interference: str = "none",
    decision_time: str | float = 0.0,
    enforce_limits: bool = False,
    log_speeds: bool = False,
    log: bool | None = None,
    audit: bool = False,
    node_events: Sequence[tuple[float, str, str]] = (),
    cancels: Sequence[tuple[float, int]] = (),
    until_s: float | None = None,
    progress: Callable[[float], None] | None = None,
    **factors: Any,
) -> Result:
    """Replay `workload` on `cluster` under `policy`.

    The options are those of the command line; ``docs/reference/options.md`` says what each value means.

    Args:
        workload: A `Workload`, a file that `read_workload` reads, or a table that `Workload.of` takes.
        cluster: A `Cluster`, or what `load_cluster` takes: a name, ``800x8``, a file.
        policy: A name (``fifo``, ``rounds(srtf, 60)``, ``my_policy.py:MyPolicy``) or a policy object.
        params: Parameters of a named policy that differ from its defaults.
        seed: Random seed. Default: 0.
        estimate: Job durations that policies use: none, limit, history, oracle or
            lognormal:SIGMA. Default: what each policy requires.
        profile_error: Lognormal error of the model profiles that policies use; jobs run at the true rates.
            Default: 0.0.
        placement: Choice of GPUs for a job: consolidated, first-fit, spread, tightest or few-racks. Default: the
            policy's own, else consolidated.
        overheads: Cost of starting, preempting and restoring jobs: realistic, periodic, none or FILE. Default:
            realistic.
        oversized: Handling of jobs that request more GPUs than the cluster can ever allocate to them: refuse, drop or
            clamp. Default: refuse.
        assign_models: Random seed for assigning models to jobs without one. Default: no models are assigned.
        profiles: Files of model profiles that take precedence over the shipped ones.
        congestion: Factors that divide the bandwidth of network levels: rack, pod, cluster or network.
        contention: Sharing of network links between jobs: none, level, max-min, duty-cycle or node-link[:PENALTY].
            Default: none.
        rate_model: Model of how fast jobs run: rates, iterations[:PARAM=VALUE,...], goodput or tree[:PARAM=VALUE,...].
            Default: what each policy requires.
        gpu_sharing: Maximum number of jobs on a GPU, from 1 to 8. Default: what each policy requires.
        interference: Slowdown of jobs that share a GPU: table, law, NUMBER, FILE or table:MAPPING. Default: table.
        node_interference: Slowdown of jobs on different GPUs of a node: none, table, FILE or
            table:kappa=K,sigma=S,seed=N.
            Default: none.
        decision_time: Time that a scheduler takes to decide about a job, for policies with schedulers.
            Default: 0.0.
        enforce_limits: Kill jobs that exceed their time limit.
        log_speeds: Record every change of a job's speed, in speeds.parquet.
        log: Keep a log of every event and decision. Default: kept while it is small, then dropped; an assumption of
            the result says so.
        audit: Check every invariant at every event (slow).
        node_events: Changes of node states: tuples of time_s, node name or index, and UP, DRAIN or DOWN.
        cancels: Jobs that their users cancel: tuples of time_s, after the job's submission, and row.
        until_s: Time at which the simulation stops, in seconds since the first submission; by default it runs to the
            end.
        progress: A function that is called from time to time with the share of jobs that have ended. By default a
            terminal and a notebook show a bar.
        factors: Options of factors that were registered besides (`pointsman.engine.rate_models.registry`).

    Raises:
        InputError: the workload or the cluster file is wrong, or a gang could never start.
        UsageError: an option, a policy or a parameter is wrong, or something else was given in its place.
        RunError: the policy failed, or there are too many events for a log that was asked for.
    """
    given = {**locals(), **factors}
    began = time.perf_counter()
    if unknown := set(factors) - set(RunOptions.model_fields):
        raise TypeError(f"simulate() has no option {min(unknown)!r}")
    options = RunOptions.checked({name: given[name] for name in RunOptions.model_fields if name in given})
    overheads = load_overheads(options.overheads).stated()
    options = options.model_copy(update={"overheads": overheads})
    check_order(workload)
    cluster = cluster_of(cluster)
    spec, chosen = policy_of(policy, params)
    workload = workload_of(workload)
    until_ms = NEVER_MS - 1 if until_s is None else instant_ms(until_s, "until_s")
    with shown(spec.title, progress) as tell:
        simulation, prepared = open_simulation(workload, cluster, spec, chosen, options)
        simulation.run(until_ms, tell)
    resolved = _resolve(options, chosen, simulation)
    choices = {
        "policy": spec.text,
        "policy_name": spec.title,
        "needs": getattr(chosen, "durations", spec.needs),
        "told_profiles": told_profiles(chosen, options.profile_error, prepared.named_models),
        "progress": getattr(chosen, "progress", "none"),
        "params": stated_parameters(spec, chosen, params, is_named=isinstance(policy, str)),
        **resolved,
        "files": digests([spec.text, dict(params or {}), resolved]),
    }
    if until_s is not None:
        choices["until_s"] = until_s
    result = Result(**vars(make_result(simulation, prepared, workload, cluster, choices)))
    result.info["wall_s"] = time.perf_counter() - began
    return result


def _resolve(options: RunOptions, policy: CompiledPolicy | Policy, simulation: Simulation) -> dict[str, Any]:
    """The options as the result states them, with what the policy decides where they leave it open."""
    own = int(getattr(policy, "gpu_sharing", 1))
    return {
        **options.model_dump(exclude={"node_events", "cancels"}),
        "placement": "its own" if getattr(policy, "places_itself", False) else placement_of(policy, options.placement),
        "rate_model": options.rate_model or getattr(policy, "rate_model", None) or "rates",
        "gpu_sharing": int(simulation.handle.state.g[0]["jobs_per_gpu"]),
        "own_gpu_sharing": options.gpu_sharing is None or own == options.gpu_sharing,
        "interference": dict(options).get("interference") or "table",
    }


def open_simulation(
    workload: Workload, cluster: Cluster, spec: PolicySpec, policy: CompiledPolicy | Policy, options: RunOptions
) -> tuple[Simulation, Prepared]:
    """A simulation before its first event, and what it was prepared from. Arguments and errors are those of
    `assemble`.
    """
    prepared, rules, briefing = assemble(workload, cluster, spec, policy, dict(options))
    script = make_script(options.node_events, options.cancels, prepared.layout, prepared.trace["submit"])
    handle = build(prepared, rules, policy, script, briefing)
    kept = KeptLog(may_drop=options.log is None)
    return Simulation(handle, policy, _policy_by_name, kept, job_columns(prepared.jobs, policy)), prepared


def _policy_by_name(name: str) -> Named:
    """The policy of a name, with its defaults, for `View.what_if`."""
    spec = get_policy(name)
    return Named(spec.make(), round(1000 * spec.round_s))
