"""An instance of the oracle's, run in the engine."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from pointsman.cluster.layout import Host, Layout
from pointsman.engine.estimates.keys import NOTHING, history_of
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.build import Rules, build
from pointsman.engine.setup.demand import Demand, alternatives, make_pools
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.schedulers import divide, scheduler_of_nodes
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import SCRIPT, TRACE
from pointsman.policies.registry import get_policy
from pointsman.types import PLACEMENT_NAMES, Event, JobState, Verb
from tests.oracle.instances import Instance
from tests.oracle.model import LogEntry, Schedule

KINDS = {"NODE_DOWN": (Event.NODE_DOWN, 2), "NODE_DRAIN": (Event.NODE_DOWN, 1), "NODE_UP": (Event.NODE_UP, 0),
         "CANCEL": (Event.CANCEL, 0)}  # fmt: skip


def layout_of(instance: Instance) -> Layout:
    nodes = instance.nodes
    types = list(dict.fromkeys(node.gpu_type for node in nodes))
    kinds = list(dict.fromkeys((node.gpu_type, node.gpus) for node in nodes))
    sizes = np.array([node.gpus for node in nodes], np.int64)
    flat = np.ones((1, 5))
    return Layout(
        node_names=tuple(f"n{i}" for i in range(len(nodes))),
        node_gpus=sizes,
        node_rack=np.array([node.rack for node in nodes], np.int64),
        node_pod=np.array([node.pod for node in nodes], np.int64),
        node_gpu_type=np.array([types.index(node.gpu_type) for node in nodes], np.int64),
        node_type=np.array([kinds.index((node.gpu_type, node.gpus)) for node in nodes], np.int64),
        node_partitions=tuple(node.partitions for node in nodes),
        gpu_types=tuple(types),
        node_types=tuple(f"{gpu_type}x{gpus}" for gpu_type, gpus in kinds),
        gpu_memory_bytes=np.full(len(types), 16e9),
        bandwidth_bytes_per_s=flat,
        latency_s=flat,
        sharers=flat,
        queue_limits=dict(instance.queue_limits),
        hosts=(Host("node", 2, cores=6.0, pcie_mb_per_s=1e4, memory_mb_per_s=1e4, link_mb_per_s=1e4),) * len(kinds),
    )


def simulation_of(instance: Instance, *, audit: bool = True, policy: Any = None) -> Simulation:
    """The instance as a simulation before its first event."""
    layout = layout_of(instance)
    schedulers = instance.params.get("schedulers", 1)
    pools = make_pools(layout, scheduler_of_nodes(layout, schedulers))
    limits = [-1, *layout.queue_limits.values()]
    queue_index = {name: i + 1 for i, name in enumerate(layout.queue_limits)}
    demands: dict[tuple[int, str, str, int, int], Demand] = {}
    trace = np.zeros(len(instance.jobs), TRACE)
    for row, job in enumerate(instance.jobs):
        queue = queue_index.get(job.queue, 0)
        limited = queue if limits[queue] >= 0 else -1
        key = (job.gpus, job.gpu_type, job.partition, limited, job.per_node)
        if key not in demands:
            sets = alternatives(layout, pools, job.gpu_type, job.partition)
            demands[key] = Demand(job.gpus, sets, limited, per_node=job.per_node)
        estimate = job.told_ms if instance.knows_work and not instance.history else np.nan
        speed = len(layout.gpu_types) * bool(job.model)
        trace[row] = (job.submit_ms, job.work_ms, estimate, list(demands).index(key), queue, -job.priority, speed, 0)
    trace["cls"], classes = divide(
        trace["cls"], list(demands.values()), pools, scattered=instance.placement == "tightest", seed=instance.seed
    )
    made = policy or get_policy(instance.policy).make(instance.params)
    briefing = briefing_of(instance, made)
    script = np.array(sorted((t, KINDS[k][0], n, KINDS[k][1], -1, 0.0) for t, k, n in instance.script), SCRIPT)
    rules = Rules(
        round_ms=instance.round_ms,
        audit=audit,
        hosted=not hasattr(made, "parameters"),
        **as_rules(instance.overheads),
    )
    rates = np.repeat([instance.rate_by_locality, instance.rates_of_other], len(layout.gpu_types), axis=0)
    jobs = known(instance)
    prepared = Prepared(
        jobs,
        trace,
        layout,
        pools,
        classes,
        limits,
        Speeds.without_models(rates, len(layout.gpu_types)),
        Terms(PLACEMENT_NAMES[instance.placement]),
        history_of(jobs) if instance.history else NOTHING,
    )
    return Simulation(
        build(prepared, rules, made, script, briefing),
        made,
    )


def known(instance: Instance) -> pl.DataFrame:
    """What is known of the jobs."""
    names = {"queue": pl.String, "user": pl.String, "partition": pl.String, "gpus": pl.Int64}
    rows = {name: [getattr(job, name) or None for job in instance.jobs] for name in names}
    return pl.DataFrame(rows, schema=names).with_columns(account=pl.lit(None, pl.String))


def briefing_of(instance: Instance, policy: Any) -> Briefing | None:
    """What the policy works out of the jobs, if it does."""
    if not getattr(policy, "briefed", False):
        return None
    jobs = known(instance)
    gpus = sum(node.gpus for node in instance.nodes)
    if instance.policy == "kueue":
        assert policy.queue_limits(jobs, gpus) == instance.queue_limits
    return policy.briefing(jobs, gpus, list(instance.queue_limits))


def as_rules(overheads: Mapping[str, float]) -> dict[str, int]:
    """Times in ms, and switches."""
    times = {name: value for name, value in overheads.items() if name.endswith("_s")}
    named = {name.removesuffix("_s").removesuffix("_every") + "_ms": round(1000 * s) for name, s in times.items()}
    return named | {name: int(value) for name, value in overheads.items() if name not in times}


def log_of(simulation: Simulation) -> list[LogEntry]:
    """Starts and preemptions so far."""
    log = []
    rows = simulation.log()
    for seq in dict.fromkeys(rows["seq"].tolist()):
        parts = rows[rows["seq"] == seq]
        if parts["kind"][0] in (Verb.START, Verb.PREEMPT):
            masks = sorted((int(p["node"]), int(p["mask"]) & (1 << 64) - 1) for p in parts)
            log.append((int(parts["time"][0]), Verb(parts["kind"][0]).name, int(parts["row"][0]), tuple(masks)))
    return log


def schedule_of(simulation: Simulation) -> Schedule:
    """What the engine did, in the oracle's words; the run must be over."""
    outcomes = simulation.handle.world.outcomes
    never = [int(t) if t >= 0 else None for t in outcomes["end"]]
    return Schedule(
        first_start_ms=[int(t) if t >= 0 else None for t in outcomes["start"]],
        end_ms=never,
        run_ms=outcomes["run"].tolist(),
        preemptions=outcomes["preempts"].tolist(),
        lost_ms=outcomes["lost"].tolist(),
        held_gpu_ms=outcomes["held"].tolist(),
        cancelled=(outcomes["state"] == JobState.CANCELLED).tolist(),
        log=log_of(simulation),
    )


def log_until(instance: Instance, until_ms: int) -> list[LogEntry]:
    simulation = simulation_of(instance)
    simulation.run(until_ms=until_ms)
    return log_of(simulation)


def run_engine(instance: Instance, *, audit: bool = True) -> Schedule:
    simulation = simulation_of(instance, audit=audit)
    simulation.run()
    return schedule_of(simulation)
