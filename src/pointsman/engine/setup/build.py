"""A state and its world, built from a workload, a cluster and the rules of the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.actions.eviction_cache import FREED
from pointsman.engine.estimates.history import COLUMNS
from pointsman.engine.estimates.keys import NOTHING
from pointsman.engine.index.event_heap import AROUND, LATEST
from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.units import (
    AUDIT,
    CONTENTION,
    HISTORY,
    SCRIPTED_EVENTS,
    SHARED_GPUS,
    TOLD_EVENTS,
    factor_unit,
)
from pointsman.engine.placement.occupancy import SINGLES
from pointsman.engine.rate_models.base.tree import Tree
from pointsman.engine.rate_models.contract import Factor
from pointsman.engine.rate_models.registry import BASE_MODELS
from pointsman.engine.rate_models.speeds import Speeds, Told
from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.demand import Demand, Pools, best_level, can_ever_fit, most_in_rack
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import (
    ALT,
    BUCKET,
    CHAIN,
    CLASS,
    CLOCK,
    CROSSING,
    FACTOR,
    FLOW,
    GPU,
    GROUP,
    HEAP,
    JOB,
    LISTS,
    LOG,
    NIC,
    NODE,
    OF_BOTH,
    OF_POLICY,
    OF_RUN,
    OUTCOME,
    PARAMETERS,
    PART,
    POD,
    POOL,
    QUEUE,
    RACK,
    REACH,
    SAMPLE,
    SCALARS,
    SCRIPT,
    SPEED,
    TRANSFER,
    TRUTH,
    State,
    World,
)
from pointsman.engine.state.state_pointer import Handle
from pointsman.types import NEVER_MS, JobState, Locality, Outside

SAMPLES = 1 << 12
LOG_ROWS = 1 << 16
MEMORY = 1 << 13
EXTRA_BUCKETS = 6
"""Indexes besides those of classes and of queues: running, stopping, and four that a policy may use."""
NO_SCRIPT: NDArray[np.void] = np.zeros(0, SCRIPT)


@dataclass(frozen=True)
class Rules:
    """Everything about a run that is neither workload, cluster, policy nor the terms of both. Times in ms."""

    start_ms: int = 0
    stop_ms: int = 0
    restore_ms: int = 0
    rebatch_ms: int = 0
    lost_ms: int = 0
    checkpoint_ms: int = 0
    loses_since_checkpoint: bool = False
    start_fail_rate: float = 0.0
    round_ms: int = 0
    seed: int = 0
    log: bool = True
    log_speeds: bool = False
    audit: bool = False
    hosted: bool = False
    outside: Outside = Outside.NOTHING
    """What is told, and does not happen by itself."""
    min_run_ms: int = 0
    """How long a job runs before it may be preempted."""
    admits: bool = False
    """The policy admits transfers."""


CACHE_LINE = 64


def _on_lines(rows: int, record: np.dtype[np.void]) -> NDArray[np.void]:
    """Zeros that begin where a line of the memory's cache does, so that what stands together comes together."""
    memory = np.zeros(rows * record.itemsize + CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % CACHE_LINE
    return memory[begin : begin + rows * record.itemsize].view(record)


def build(
    prepared: Prepared,
    rules: Rules,
    policy: Any,
    script: NDArray[np.void] = NO_SCRIPT,
    briefing: Briefing | None = None,
) -> Handle:
    """The state before the first event, under `policy`.

    `script` (SCRIPT, ordered by time and kind); `briefing`: what the policy worked out of the jobs.
    """
    layout, pools, demands, trace = prepared.layout, prepared.pools, prepared.demands, prepared.trace
    queue_limits, speeds, history, terms = prepared.queue_limits, prepared.speeds, prepared.history, prepared.terms
    slots = max(len(trace), 1)  # of memory that is taken only when touched
    total = int(layout.node_gpus.sum())
    nodes = len(layout.node_gpus)
    pool_records, words, counts, members = _pools(pools)
    racks, rack_free, rack_members = _racks(layout, pools, len(members))
    classes, alts, groups, pool_lists = _classes(demands, pools, layout.node_rack, 2 * nodes)
    reaches, reach_lists = _reaches(demands, classes, 2 * nodes + len(pool_lists))
    buckets = np.zeros(len(demands) + len(queue_limits) * len(reaches) + EXTRA_BUCKETS, BUCKET)
    for name in ("root", "first", "last", "newest", "leader"):
        buckets[name] = -1
    limit = terms.base_model.most_jobs_per_gpu(terms.jobs_per_gpu)
    seats = total * limit
    chained = slots if terms.base_model.counts_iterations else 1
    factors, numbers, loads = _factors(terms.factors, layout, speeds)
    parts = np.zeros(seats, PART)
    parts["next"] = np.append(np.arange(1, seats), -1)
    queues = np.zeros(len(queue_limits), QUEUE)
    queues["limit"] = queue_limits
    queues["closed"] = -1
    sharing = len(speeds.uplinks) > 0
    numbers_told = np.ascontiguousarray(briefing.numbers) if briefing else np.zeros((1, 0))
    told = speeds.told or Told(speeds.rates, speeds.goodputs, speeds.slowdowns)
    state = State(
        g=_scalars(layout, len(demands), queue_limits, total, limit, rules, terms),
        jobs=_on_lines(slots, JOB),
        nodes=_nodes(layout, pools),
        gpus=_gpus(layout),
        occupants=np.full((total, limit), -1, np.int64),
        pools=pool_records,
        racks=racks,
        rack_free=rack_free,
        pods=np.zeros(int(layout.node_pod.max()) + 1, POD),
        counts=counts,
        words=words,
        ints=np.concatenate([members, rack_members, pool_lists, reach_lists]),
        classes=classes,
        alts=alts,
        groups=groups,
        reaches=reaches,
        queues=queues,
        buckets=buckets,
        parts=parts,
        lists=np.zeros((LISTS, max(slots, len(demands))), np.int64),
        place=np.zeros(nodes, PART),
        reserve=np.zeros(nodes, PART),
        freed=np.zeros(FREED, PART),
        claims=np.zeros(total, PART),
        log=np.zeros(LOG_ROWS + 16 * seats if rules.log else 1, LOG),
        speed_log=np.zeros(LOG_ROWS + 16 * seats if rules.log_speeds else 1, SPEED),
        inbox=np.zeros((inbox_rows(seats) if rules.hosted else 1, 2), np.int64),
        params=parameters_of(policy),
        memory=_with_room(memory_of(policy, briefing)),
        job_numbers=np.zeros((slots, numbers_told.shape[1])),
        rates=np.ascontiguousarray(speeds.rates),
        models=speeds.models,
        links=speeds.links,
        flows=np.zeros(slots if sharing else chained, FLOW),
        uplinks=speeds.uplinks,
        crossings=_crossings(3 * seats if sharing else 1),
        changed_uplinks=np.zeros(3 * len(speeds.uplinks) + 2 * (seats // 2 + 1), np.int64),
        steps=speeds.steps,
        workers=np.zeros((total if terms.base_model.counts_iterations else 1, limit), np.int64),
        transfers=np.zeros(chained, TRANSFER),
        nics=_nics(nodes),
        subbatches=speeds.subbatches,
        slowdowns=speeds.slowdowns,
        factors=factors,
        factor_numbers=numbers,
        factor_loads=loads,
        goodputs=speeds.goodputs,
        rate_steps=speeds.rate_steps,
        told_rates=np.ascontiguousarray(told.rates),
        told_goodputs=told.goodputs,
        told_slowdowns=told.slowdowns,
        history=history.numbers.copy(),
        history_keys=history.keys,
        history_features=np.zeros((1, 1) if history is NOTHING else (slots, COLUMNS)),
        singles=np.zeros(SINGLES, np.int64),
    )
    state.g["schedulers"] = pools.schedulers
    state.g["kinds"] = speeds.slowdowns.shape[1]
    state.g["stages"] = speeds.stages
    state.g["node_factor"] = next((f + 1 for f, factor in enumerate(terms.factors) if factor.counts_nodes), 0)
    if sharing:
        state.g["network"] = unit(CONTENTION).addresses["network"]
    if limit > 1:
        state.g["sharing"] = unit(SHARED_GPUS).addresses["sharing"]
    Tree().install_costs(state)  # by which policies may choose GPUs in any rate model
    terms.base_model.install(state, admits=rules.admits)
    if history is not NOTHING:
        state.g["history"] = unit(HISTORY).addresses["history"]
    if rules.audit:
        state.g["audit"] = unit(AUDIT).addresses["audit"]
    if rules.outside:
        state.g["scripted_events"] = unit(TOLD_EVENTS).addresses["apply_told"]
    elif len(script):
        state.g["scripted_events"] = unit(SCRIPTED_EVENTS).addresses["apply_script"]
    world = World(
        clock=_clock(len(trace), len(script), trace, rules),
        truth=np.zeros(slots, TRUTH),
        chains=np.zeros(chained, CHAIN),
        heap=_heap(slots),
        trace=trace,
        script=script if len(script) else np.zeros(1, SCRIPT),
        outcomes=np.zeros(len(trace), OUTCOME),
        told_numbers=numbers_told,
        samples=np.zeros(SAMPLES, SAMPLE),
    )
    return Handle(state, world)


def _with_room(memory: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(memory, np.zeros(max(0, MEMORY - len(memory))))


def memory_of(policy: Any, briefing: Briefing | None = None) -> NDArray[np.float64]:
    """What the memory of `policy` is before the first event: as its briefing says, or new."""
    if briefing is not None and len(briefing.memory):
        return briefing.memory
    return policy.new_memory() if hasattr(policy, "new_memory") else np.zeros(0)


def _factors(
    factors: Sequence[Factor], layout: Layout, speeds: Speeds
) -> tuple[NDArray[np.void], NDArray[np.float64], NDArray[np.int64]]:
    """FACTOR of each, their numbers and their loads, one after another."""
    records = np.zeros(len(factors), FACTOR)
    numbers = [factor.numbers(layout, speeds) for factor in factors]
    loads = [factor.loads(layout) for factor in factors]
    for f, factor in enumerate(factors):
        records["unit"][f] = unit(factor_unit(factor.unit())).addresses["factor"]
        records["on_computing"][f] = factor.slows == "computing"
        records["role"][f] = _role(factor, factors)
        records["numbers"][f] = sum(map(len, numbers[:f]))
        records["loads"][f] = sum(loads[:f])
    return records, np.concatenate([np.zeros(0), *numbers]), np.zeros(sum(loads), np.int64)


def parameters_of(policy: Any) -> NDArray[np.float64]:
    """(PARAMETERS,) what compiled code finds in ``State.params`` under `policy`; zeros behind its own numbers."""
    numbers = getattr(policy, "parameters", list)()
    return np.array([*numbers, *[0.0] * (PARAMETERS - len(numbers))])


def _role(factor: Factor, factors: Sequence[Factor]) -> int:
    """The role of a factor in a run that has these."""
    if factor.instead_of:
        return OF_POLICY
    return OF_RUN if any(factor.name in other.instead_of for other in factors) else OF_BOTH


def _heap(slots: int) -> NDArray[np.void]:
    heap = _on_lines(slots + AROUND, HEAP)
    heap["time"][:AROUND] = LATEST
    return heap


def _nics(nodes: int) -> NDArray[np.void]:
    nics = np.zeros(nodes, NIC)
    nics["freed"] = -1
    return nics


def _crossings(n: int) -> NDArray[np.void]:
    """So many free crossings, the first at the head of the list."""
    crossings = np.zeros(n, CROSSING)
    crossings["after"] = np.append(np.arange(2, n + 1), 0)
    return crossings


def inbox_rows(seats: int) -> int:
    """Rows of an inbox for the events of one instant, where jobs can hold `seats` GPUs."""
    return 2 * seats + 1024


def with_larger_inbox(handle: Handle, known: int | None = None) -> Handle:
    """Gives the state twice the room for events; or room for `known` besides those of one instant."""
    old = handle.state.inbox
    rows = 2 * len(old) if known is None else known + inbox_rows(handle.state.occupants.size)
    if rows <= len(old):
        return handle
    inbox = np.zeros((rows, 2), np.int64)
    inbox[: len(old)] = old
    return Handle(handle.state._replace(inbox=inbox), handle.world)


def with_new_memory(handle: Handle, new: NDArray[np.float64]) -> Handle:
    """Gives the state another memory."""
    memory = handle.state.memory
    if len(new) > len(memory):
        return Handle(handle.state._replace(memory=new), handle.world)
    memory[:] = 0.0
    memory[: len(new)] = new
    return handle


def _scalars(
    layout: Layout, classes: int, queue_limits: list[int], total: int, limit: int, rules: Rules, terms: Terms
) -> NDArray[np.void]:
    g = np.zeros(1, SCALARS)
    g["wake"] = NEVER_MS
    g["free_slot"] = g["row_mask"] = -1
    g["gpus"] = g["free"] = total
    g["classes"] = classes
    g["queues"] = len(queue_limits)
    g["has_queue_limits"] = any(limit >= 0 for limit in queue_limits)
    g["types"] = len(layout.gpu_types)
    g["jobs_per_gpu"] = limit
    g["factors"] = len(terms.factors)
    g["base_model"] = list(BASE_MODELS).index(terms.base_model.name)
    g["counts_iterations"] = terms.base_model.counts_iterations
    g["within"] = Locality.CLUSTER
    times = ("start_ms", "stop_ms", "restore_ms", "rebatch_ms", "lost_ms", "checkpoint_ms", "round_ms")
    for name in ("loses_since_checkpoint", "outside", "min_run_ms", *times):
        g[name] = getattr(rules, name)
    g["placement"], g["decision_us"] = terms.placement, terms.decision_us
    g["contention"], g["penalty"] = terms.link_sharing.contention, terms.link_sharing.penalty
    g["bcube"] = np.count_nonzero(layout.node_rack == 0) if layout.cards_apart else 0
    g["free_crossing"] = 1
    g["log_on"] = rules.log
    g["log_speeds"] = rules.log_speeds
    g["inbox_on"] = rules.hosted
    return g


def _clock(jobs: int, scripted: int, trace: NDArray[np.void], rules: Rules) -> NDArray[np.void]:
    clock = np.zeros(1, CLOCK)
    clock["jobs"] = jobs
    clock["script"] = scripted
    span = int(trace["submit"][-1]) if jobs else 0
    clock["sample_every"] = max(1, span // (SAMPLES // 2))
    clock["audit"] = rules.audit
    clock["seed"] = rules.seed
    clock["fail_rate"] = rules.start_fail_rate
    clock["ends_as"] = JobState.COMPLETED
    return clock


def _nodes(layout: Layout, pools: Pools) -> NDArray[np.void]:
    nodes = np.zeros(len(layout.node_gpus), NODE)
    sizes = layout.node_gpus
    nodes["gpus"] = nodes["free"] = sizes
    nodes["free_mask"] = [(1 << g) - 1 if g < 64 else -1 for g in sizes.tolist()]
    nodes["tally_attempt"] = -1
    nodes["rack"], nodes["pod"] = layout.node_rack, layout.node_pod
    nodes["gpu_type"] = layout.node_gpu_type
    nodes["gpu0"] = np.cumsum(sizes) - sizes
    nodes["bytes"] = layout.gpu_memory_bytes[layout.node_gpu_type].astype(np.int64)
    nodes["kind"] = layout.node_type
    nodes["sockets"] = [layout.hosts[k].sockets for k in layout.node_type] if layout.hosts else 1
    nodes["pool"] = pools.pool_of_node
    for members in pools.members:
        nodes["rank"][members] = np.arange(len(members))
    return nodes


def _gpus(layout: Layout) -> NDArray[np.void]:
    gpus = np.zeros(int(layout.node_gpus.sum()), GPU)
    gpus["free_milli"] = 1000
    gpus["busy"] = -1
    gpus["free_bytes"] = np.repeat(layout.gpu_memory_bytes[layout.node_gpu_type], layout.node_gpus).astype(np.int64)
    return gpus


def _pools(pools: Pools) -> tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pool records, their bitmaps with every node wholly free, counts of nodes by free GPUs, and their members."""
    records = np.zeros(len(pools.sizes), POOL)
    counts = np.zeros((len(pools.sizes), 65), np.int64)
    bitmaps, first, bits = [], 0, 0
    for p, (size, members) in enumerate(zip(pools.sizes.tolist(), pools.members, strict=True)):
        leaf = _bitmap(len(members))
        top = _bitmap(len(leaf))
        words = np.zeros((size + 1, len(top) + len(leaf)), np.int64)
        words[size] = np.concatenate([top, leaf])
        some = np.array([1 << (size - 1)], np.uint64).view(np.int64)[0]
        records[p] = (
            size,
            size * len(members),
            some,
            bits,
            len(leaf),
            len(top),
            first,
            pools.gpu_types[p],
            -1,
            -1,
            0.0,
        )
        counts[p, size] = len(members)
        bitmaps.append(words.ravel())
        first += len(members)
        bits += words.size
    return records, np.concatenate(bitmaps), counts, np.concatenate(pools.members)


def _racks(layout: Layout, pools: Pools, offset: int) -> tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.int64]]:
    """Rack records, whose nodes are listed from `offset` on, free GPUs by pool and rack, and the lists of nodes."""
    nodes = np.bincount(layout.node_rack)
    records = np.zeros(len(nodes), RACK)
    records["nodes"] = nodes
    records["tally_attempt"] = -1
    records["members"] = offset + np.cumsum(nodes) - nodes
    free = np.zeros((len(pools.sizes), len(nodes)), np.int64)
    np.add.at(free, (pools.pool_of_node, layout.node_rack), layout.node_gpus)
    return records, free, np.argsort(layout.node_rack, kind="stable")


def _bitmap(n: int) -> NDArray[np.int64]:
    """The words of a bitmap whose first n bits are set."""
    words = np.full((n + 63) // 64, -1, np.int64)
    if n % 64:
        words[-1] = (1 << (n % 64)) - 1
    return words


def _classes(
    demands: list[Demand], pools: Pools, rack_of_node: NDArray[np.int64], offset: int
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void], NDArray[np.int64]]:
    """Class, alternative and group records, and the lists of pools the alternatives point into, which begin at
    `offset`.
    """
    classes = np.zeros(len(demands), CLASS)
    groups: dict[tuple[tuple[tuple[int, ...], ...], int, int, int], int] = {}
    alts, lists = [], []
    fits_whole = cache(lambda gpus, sets, per_node: can_ever_fit(pools, gpus, sets, False, per_node))
    most = cache(lambda members, per_node: most_in_rack(pools, members, rack_of_node, per_node))
    for c, demand in enumerate(demands):
        first = len(alts)
        for members in demand.alternatives:
            size = int(pools.sizes[list(members)].max())
            kinds = {int(pools.gpu_types[p]) for p in members}
            begin = offset + len(lists)
            lists += members
            widest = most(members, 0)
            alts.append((size, begin, offset + len(lists), kinds.pop() if len(kinds) == 1 else -1, widest))
        key = demand.alternatives, demand.limited_queue, demand.milli, demand.per_node
        group = groups.setdefault(key, len(groups))
        n = demand.gpus
        asked = (n, *(demand.elastic or (n, n)), demand.milli, first, len(alts), group, 0, demand.limited_queue)
        whole = fits_whole(n, demand.alternatives, demand.per_node)
        shape = (demand.nodes, demand.per_node, best_level(demand, pools, most), not whole)
        classes[c] = (*asked, *shape, -1, -1, 0, -1, 0, 0, 0, 0, 0.0)
    group_records = np.zeros(len(groups), GROUP)
    group_records["failed_pass"] = -1
    return classes, np.array(alts, ALT), group_records, np.array(lists, np.int64)


def _reaches(
    demands: list[Demand], classes: NDArray[np.void], offset: int
) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Records of the sets of pools on which jobs are eligible, noted in `classes`, and their lists of pools, which
    begin at `offset`.
    """
    reaches: dict[tuple[int, ...], int] = {}
    for c, demand in enumerate(demands):
        members = tuple(sorted({pool for pools in demand.alternatives for pool in pools}))
        classes["reach"][c] = reaches.setdefault(members, len(reaches))
    ends = offset + np.cumsum([len(members) for members in reaches])
    records = np.zeros(len(reaches), REACH)
    records["pool"], records["pool_end"] = [*([offset] if len(ends) else []), *ends[:-1]], ends
    records["blocked"] = -1
    return records, np.array([pool for members in reaches for pool in members], np.int64)
