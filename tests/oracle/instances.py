"""Small random instances, full of ties, to run in the oracle and in the engine."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .dally import VARIANTS
from .gpu_pickers import PICKERS
from .model import Job, LogEntry, Node, Schedule
from .placement import PLACEMENTS, alternatives, every_gpu, has_enough, place
from .placers import PLACERS
from .schedulers import owned_nodes
from .scorer import FEATURES
from .simulator import BY_NETWORK, OWN_PLACEMENT, POLICIES, simulate

STEPS_MS = (1, 1, 1000, 20_000)
"""Lengths of a time step. Steps of 1 ms tie often; with 20 s, overruns of `easy` (60 s) come into play."""
LONG_STEPS_MS = (1000, 20_000, 20_000)
"""At which jobs come through several buckets of hazards, of which the first is 30 s long."""
BY_ESTIMATE = ("sjf", "sjf-backfill", "easy", "conservative", "srtf")
WITH_OPTIONS = ("srtf", "tiresias", "las", "tiresias-skew", *VARIANTS)
"""They can weigh what preemptions cost, and bound waits."""
NOTHING_LOST = ("start_s", "stop_s", "restore_s")
RESERVING = ("fifo-backfill", "sjf-backfill", *PLACERS)
"""They bound waits by reservations."""
FALLING_RATES = (
    (1.0, 1.0, 0.75, 0.5, 0.375),
    (1.0, 0.75, 0.25, 0.25, 0.125),
    (1.0, 1.0, 1.0, 0.5, 0.5),
    (1.0, 1.0, 0.5, 0.5, 0.5),
    (1.0, 1.0, 1.0, 1.0, 1.0),
    (0.9, 0.8, 0.7, 0.6, 0.3),
)
"""For policies that look at them. All but the last are sums of a few powers of two."""


@dataclass(frozen=True)
class Kind:
    """Which features an instance may have; each that may is drawn by chance."""

    policies: tuple[str, ...] = tuple(POLICIES)
    placements: tuple[str, ...] = PLACEMENTS
    most_nodes: int = 6
    most_jobs: int = 25
    mixed_sizes: bool = True
    types: bool = True
    partitions: bool = True
    queues: bool = True
    priorities: bool = True
    estimates: bool = True
    """Estimates that are not the truth."""
    overheads: bool = True
    failures: bool = True
    cancels: bool = True
    """Users cancel some jobs."""
    rates: bool = True
    rounds: bool = True
    promotion: bool = True
    mixed_scales: bool = True
    models: bool = True
    shapes: bool = True
    """Some jobs have a shape."""
    by_chance: bool = True
    """Pickers that leave something to chance, which the oracle can only follow."""


PLAIN = Kind(
    types=False,
    partitions=False,
    queues=False,
    priorities=False,
    estimates=False,
    overheads=False,
    failures=False,
    cancels=False,
    rates=False,
    rounds=False,
    promotion=False,
    mixed_scales=False,
    models=False,
    shapes=False,
)
"""Nodes, gangs, times and a policy; nothing else."""


@dataclass(frozen=True)
class Instance:
    """One problem. Jobs are in row order and the first is submitted at 0; ms of every field are exact in seconds."""

    seed: int
    nodes: tuple[Node, ...]
    jobs: tuple[Job, ...]
    policy: str
    params: dict[str, Any]
    placement: str
    overheads: dict[str, float]
    queue_limits: dict[str, int]
    script: tuple[tuple[int, str, int], ...]
    rate_by_locality: tuple[float, float, float, float, float]
    """Nominal ms of work per ms by locality GPU, NODE, RACK, POD, CLUSTER."""
    round_ms: int
    knows_work: bool = True
    """The policy is told an estimate of each job's work."""

    history: bool = False
    """It is told what the jobs that have finished say of it."""

    rates_of_other: tuple[float, float, float, float, float] = (1.0,) * 5
    """The same for jobs of the model "other"."""

    @property
    def rate(self) -> Callable[[Job, int], float]:
        return lambda job, locality: (self.rates_of_other if job.model else self.rate_by_locality)[locality]

    def run_oracle(self, until_ms: int | None = None, told: Sequence[LogEntry] = (), **other: Any) -> Schedule:
        return simulate(
            self.nodes,
            self.jobs,
            self.policy,
            params=self.params,
            placement=self.placement,
            overheads=self.overheads,
            queue_limits=self.queue_limits,
            script=self.script,
            rate=self.rate,
            round_ms=self.round_ms,
            until_ms=until_ms,
            knows_work=self.knows_work,
            history=self.history,
            told=told,
            seed=self.seed,
            **other,
        )


def random_instance(seed: int, kind: Kind = Kind()) -> Instance:
    """The same seed and kind give the same instance. Every job fits the empty cluster and its queue's limit."""
    draw = random.Random(seed)
    policy = draw.choice(kind.policies)
    placement = OWN_PLACEMENT.get(policy) or draw.choice(kind.placements)
    step_ms = draw.choice(STEPS_MS if policy != "gittins" else LONG_STEPS_MS)
    nodes = draw_nodes(draw, kind)
    jobs = draw_jobs(draw, kind, nodes, placement, step_ms)
    params = draw_params(draw, kind, policy, step_ms)
    if policy in RESERVING:
        params |= draw_reserving_params(seed, step_ms)
    if policy in PLACERS:
        params |= draw_schedulers(draw, nodes)
        jobs = tuple(narrowed(nodes, job, params["schedulers"]) for job in jobs)
    if kind.shapes:
        jobs = with_shapes(seed, nodes, jobs, params.get("schedulers", 1))
    instance = Instance(
        seed=seed,
        nodes=nodes,
        jobs=jobs,
        policy=policy,
        params=params,
        placement=placement,
        overheads=draw_overheads(draw, kind, step_ms, may_lose="promote_knob" not in params),
        queue_limits=draw_queue_limits(draw, jobs),
        script=draw_script(draw, kind, len(nodes), step_ms),
        rate_by_locality=draw_rates(draw, kind) if policy not in BY_NETWORK else draw.choice(FALLING_RATES),
        round_ms=draw.choice((3, 10)) * step_ms if chance(draw, kind.rounds, 0.3) else 0,
        knows_work=policy not in BY_NETWORK or draw.random() < 0.5,
    )
    if not kind.by_chance:
        params |= {name: "nearest" if name == "gpus" else "drf" for name, value in params.items() if value == "random"}
    if policy in BY_NETWORK and chance(draw, kind.models, 0.5):
        instance = with_models(draw, instance)
    if policy == "multifactor":
        instance = replace(
            instance, jobs=tuple(replace(job, user=draw.choice(("", "u", "u", "v", "w"))) for job in jobs)
        )
    if policy == "kueue":
        instance = with_quotas(draw, instance)
        params = draw_reserving_params(seed, step_ms)
        if params:
            never = {"reclaim_within_cohort": "Never", "within_cluster_queue": "Never"}
            instance = replace(instance, params=instance.params | never | params)
    by_estimate = policy in BY_ESTIMATE or params.get("patience_s", 0) > 0 or params.get("order") == "sjf"
    if policy == "gittins" or (by_estimate and chance(draw, kind.estimates, 0.25)):
        instance = with_history(draw, instance)
    if policy in WITH_OPTIONS:
        instance = with_eviction_options(kind, instance, step_ms)
    if not chance(draw, kind.cancels, 0.3):
        return instance
    return replace(instance, script=with_cancels(draw, instance.script, jobs, step_ms))


def with_history(draw: random.Random, instance: Instance) -> Instance:
    """Users have several jobs; `gittins` sorts jobs by what is learnt, by what it is told, or not at all, as its
    predictor says and as far as that is there.
    """
    jobs = tuple(replace(job, user=draw.choice(("", "u", "u", "v"))) for job in instance.jobs)
    told = instance.policy != "gittins" or draw.random() < 0.6
    return replace(instance, jobs=jobs, history=told, knows_work=instance.knows_work or told)


def with_quotas(draw: random.Random, instance: Instance) -> Instance:
    """Most jobs are of two or three queues, whose quotas are what the cluster has, or less, or more."""
    jobs = tuple(replace(job, queue=draw.choice(("x", "x", "y", "y", "z", ""))) for job in instance.jobs)
    names = list(dict.fromkeys(job.queue for job in jobs if job.queue))
    if not names:
        return replace(instance, jobs=jobs, queue_limits={}, params=draw_kueue_params(draw, {}, {}, {}))
    widest = max(job.gpus for job in jobs)
    gpus = sum(node.gpus for node in instance.nodes)
    quotas = {name: draw.randint(0, max(1, 2 * gpus // len(names))) for name in names}
    quotas[names[0]] += max(0, widest - sum(quotas.values()))
    if draw.random() < 0.3:
        names.append("without jobs")
        quotas[names[-1]] = draw.randint(0, gpus)
    cohort = draw.choice(({}, {}, {name: "c" for name in names}))
    together = sum(quotas.values())
    borrow = {name: draw.randint(0, gpus) for name in names if draw.random() < 0.4}
    of = {name: max((job.gpus for job in jobs if job.queue == name), default=0) for name in names}
    borrow = {name: max(limit, of[name] - quotas[name]) for name, limit in borrow.items()}
    limits = {name: min(together, quotas[name] + borrow.get(name, together)) for name in names}
    return replace(instance, jobs=jobs, queue_limits=limits, params=draw_kueue_params(draw, quotas, borrow, cohort))


def draw_kueue_params(
    draw: random.Random, quotas: dict[str, int], borrow: dict[str, int], cohort: dict[str, str]
) -> dict[str, Any]:
    return {
        "nominal_quota": quotas,
        "borrowing_limit": borrow,
        "cohort": cohort,
        "queueing_strategy": draw.choice(("BestEffortFIFO", "BestEffortFIFO", "StrictFIFO")),
        "reclaim_within_cohort": draw.choice(("Never", "LowerPriority", "Any", "Any")),
        "within_cluster_queue": draw.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
    }


def with_models(draw: random.Random, instance: Instance) -> Instance:
    """Some jobs, of any demand, are of a model with other speeds."""
    jobs = tuple(replace(job, model=draw.choice(("", "other"))) for job in instance.jobs)
    return replace(instance, jobs=jobs, rates_of_other=draw.choice(FALLING_RATES))


def chance(draw: random.Random, allowed: bool, probability: float) -> bool:
    return allowed and draw.random() < probability


def draw_nodes(draw: random.Random, kind: Kind) -> tuple[Node, ...]:
    count = draw.randint(1, kind.most_nodes)
    mixed = chance(draw, kind.mixed_sizes, 0.5)
    size = draw.choice((1, 2, 4, 4, 8))
    types = ("a", "b") if chance(draw, kind.types, 0.4) else ("",)
    partitioned = chance(draw, kind.partitions, 0.3)
    racks = [0]
    for _ in range(count - 1):
        racks.append(racks[-1] + draw.choice((0, 1)))
    return tuple(
        Node(
            gpus=draw.randint(1, 8) if mixed else size,
            rack=racks[index],
            pod=racks[index] // 2,
            gpu_type=draw.choice(types),
            partitions=draw.choice(((), ("p",), ("q",), ("p", "q"))) if partitioned else (),
        )
        for index in range(count)
    )


def draw_jobs(
    draw: random.Random, kind: Kind, nodes: tuple[Node, ...], placement: str, step_ms: int
) -> tuple[Job, ...]:
    count = draw.randint(1, kind.most_jobs)
    span = draw.choice((1, 10, 40))
    steps = draw.choice((5, 20))
    with_queues = chance(draw, kind.queues, 0.4)
    with_priorities = chance(draw, kind.priorities, 0.3)
    with_estimates = chance(draw, kind.estimates, 0.4)
    mixed_scales = chance(draw, kind.mixed_scales, 0.2)
    submits = sorted(step_ms * draw.randrange(span) for _ in range(count))
    jobs = []
    for submit_ms in submits:
        unit_ms = step_ms * draw.choice((1, 1, 10, 100)) if mixed_scales else step_ms
        work_ms = unit_ms * draw.randrange(steps)
        jobs.append(
            draw_demand(
                draw,
                nodes,
                placement,
                submit_ms=submit_ms - submits[0],
                work_ms=work_ms,
                estimate_ms=draw_estimate(draw, work_ms, unit_ms) if with_estimates else None,
                priority=draw.choice((-1, 0, 0, 5)) if with_priorities else 0,
                queue=draw.choice(("", "x", "y")) if with_queues else "",
            )
        )
    return tuple(jobs)


def draw_estimate(draw: random.Random, work_ms: int, unit_ms: int) -> int:
    """The truth, too much, too little, or a constant that ties; at least 1 ms."""
    return max(1, draw.choice((work_ms, 2 * work_ms, work_ms // 3, 4 * unit_ms)))


def draw_demand(draw: random.Random, nodes: tuple[Node, ...], placement: str, **others: Any) -> Job:
    """A job whose gang fits the empty cluster: shapes that do not are drawn again."""
    type_names = {node.gpu_type for node in nodes}
    type_demands = ["", "a", "b", "a|b", "b|a", "a+b"] if type_names == {"a", "b"} else ["", *type_names]
    names = sorted({name for node in nodes for name in node.partitions})
    partitions = ["", "", *names, *([",".join(names)] if len(names) > 1 else [])]
    widest = sum(node.gpus for node in nodes)
    while True:
        job = Job(
            gpus=draw.choice((1, 1, 2, 3, 4, 8, draw.randint(1, widest))),
            partition=draw.choice(partitions),
            gpu_type=draw.choice(sorted(type_demands)),
            **others,
        )
        if place(nodes, job, every_gpu(nodes), placement) is not None:
            return job


def draw_params(draw: random.Random, kind: Kind, policy: str, step_ms: int) -> dict[str, Any]:
    if policy == "srtf" and draw.random() < 0.5:
        return {"margin_s": draw.choice((0, 1, 3)) * step_ms / 1000}
    if policy in VARIANTS:
        return draw_dally_params(draw, policy, step_ms)
    if policy == "gittins":
        return draw_gittins_params(draw, step_ms)
    if policy == "gandiva":
        return {name: draw.choice((1, 2, 5, 12)) * step_ms / 1000 for name in ("slice_s", "round_s")}
    if policy == "pick-place":
        pickers = {"picker": draw.choice(("fcfs", "fcfs", "tetris", "drf", "random"))}
        return pickers | {"gpus": draw_gpu_picker(draw), "strict": draw.choice(("fcfs", "fcfs", "always", "never"))}
    if policy == "packed-patience":
        return {"patience": draw.choice((0, 0.5, 0.5, 1.25, 4))}
    if policy == "random-place":
        return {"random_seed": draw.choice((0, 1, 2**32 + 5))}
    if policy == "scorer":
        return draw_scorer_params(draw)
    if policy == "conservative":
        return {"depth": draw.choice((1, 2, 5, 100))}
    if policy == "multifactor":
        return draw_multifactor_params(draw, step_ms)
    if policy == "pick-place-sjf":
        return {"gpus": draw_gpu_picker(draw), "strict": draw.choice(("always", "never"))}
    if policy not in ("tiresias", "las", "tiresias-skew"):
        return {}
    levels = 1 if policy == "las" else 2
    params: dict[str, Any] = {"thresholds_gpu_s": sorted(s * step_ms / 1000 for s in draw.sample(range(2, 40), levels))}
    if chance(draw, kind.promotion, 0.4):
        params["promote_knob"] = draw.choice((0.5, 1, 2.25))
    if policy == "tiresias-skew":
        params["skew"] = draw.choice((0, 0.1, 0.4))
    return params


def draw_reserving_params(seed: int, step_ms: int) -> dict[str, Any]:
    """Mostly waits are bounded."""
    draw = random.Random(f"reservations {seed}")
    if draw.random() < 0.4:
        return {}
    return {
        "patience_s": draw.choice((1, 1, 3, 10)) * step_ms / 1000,
        "run_time_quantile": draw.choice((0.07, 0.5, 0.75, 0.9)),
    }


def draw_multifactor_params(draw: random.Random, step_ms: int) -> dict[str, Any]:
    """Weights at which no sum is whole but by chance: the two programs add up usage in another order."""
    return {
        "weight_age": draw.choice((0, 1000.37)),
        "weight_fair_share": draw.choice((0, 10_000.71, 10_000.71)),
        "weight_job_size": draw.choice((0, 1000.13)),
        "weight_partition": draw.choice((0, 1000.59)),
        "max_age_s": draw.choice((5, 50)) * step_ms / 1000,
        "favor_small": draw.random() < 0.5,
        "decay_half_life_s": draw.choice((0, 4, 30)) * step_ms / 1000,
        "calc_period_s": draw.choice((1, 3, 10)) * step_ms / 1000,
        "dampening": draw.choice((1, 1, 2.5)),
        "partition_priority": draw.choice(({}, {"p": 5}, {"p": 2, "q": 5})),
        "backfill": draw.choice(("conservative", "conservative", "easy", "none")),
        "bf_max_job_test": draw.choice((1, 3, 500)),
    }


def draw_scorer_params(draw: random.Random) -> dict[str, Any]:
    weights = {name: draw.choice((0.0, 0.25, 1.0, 3.0)) for name in FEATURES}
    return weights | {"patience": draw.choice((0, 0.5, 1.25, 4))}


def draw_schedulers(draw: random.Random, nodes: tuple[Node, ...]) -> dict[str, Any]:
    racks = len({(node.pod, node.rack) for node in nodes})
    shared = {"schedulers": min(racks, draw.choice((1, 2, 2, 3))), "forward": draw.random() < 0.6}
    return shared | {"order": draw.choice(("fifo", "sjf"))}


def narrowed(nodes: tuple[Node, ...], job: Job, schedulers: int) -> Job:
    """The same, no wider than what some scheduler's part has of one of its alternatives."""
    parts = [owned_nodes(nodes, scheduler, schedulers) for scheduler in range(schedulers)]
    found = [
        sum(nodes[node].gpus for node in eligible if node in part)
        for eligible in alternatives(nodes, job)
        for part in parts
    ]
    return replace(job, gpus=min(job.gpus, max(found)))


def with_shapes(seed: int, nodes: tuple[Node, ...], jobs: tuple[Job, ...], schedulers: int = 1) -> tuple[Job, ...]:
    """In a third of the instances, half of the jobs of several GPUs have a shape that fits some scheduler's part."""
    draw = random.Random(f"shapes {seed}")
    if draw.random() < 2 / 3:
        return jobs
    parts = [owned_nodes(nodes, scheduler, schedulers) for scheduler in range(schedulers)]
    shaped = []
    for job in jobs:
        divisors = [g for g in range(1, job.gpus + 1) if job.gpus % g == 0]
        other = replace(job, per_node=draw.choice(divisors) if job.gpus > 1 and draw.random() < 0.5 else 0)
        free = [{gpu for gpu in every_gpu(nodes) if gpu[0] in part} for part in parts]
        fits = any(has_enough(nodes, some, other, gpus) for gpus in free for some in alternatives(nodes, job))
        shaped.append(other if fits else job)
    return tuple(shaped)


def draw_gpu_picker(draw: random.Random) -> str:
    return draw.choice((*PICKERS, "nearest", "random"))


def draw_dally_params(draw: random.Random, policy: str, step_ms: int) -> dict[str, Any]:
    """Small enough that timers pass, jobs sink, quanta end and moves are looked for while the instance lasts."""

    def some(*steps: int) -> float:
        return draw.choice(steps) * step_ms / 1000

    params: dict[str, Any] = {
        "history_s": some(24, 50, 240, 2400),
        "least_entries": draw.choice((1, 2, 3)),
        "deviations": draw.choice((0, 1, 1.5)),
        "shortest_timer_s": some(0, 0, 2),
        "longest_timer_s": some(3, 10, 1000),
        "epsilon": draw.choice((0, 0, 0.4)),
        "first_level_gpu_s": some(2, 5, 10, 40),
        "levels": draw.choice((0, 1, 3, 12)),
        "quantum_s": some(0, 1, 3, 10),
        "round_s": some(1, 2, 5, 7),
        **draw_patience(draw, step_ms),
    }
    params["sensitive"] = draw.random() < 0.5
    if policy not in ("dally-nowait", "dally-whole-nodes"):
        params |= {"node_timer_s": some(0, 1, 4, 10), "rack_timer_s": some(0, 3, 8, 20)}
    if policy == "dally-nopreempt":
        params["patience_s"] = 0
    return params


def draw_patience(draw: random.Random, step_ms: int) -> dict[str, Any]:
    return {
        "patience_s": draw.choice((0, 1, 4, 20)) * step_ms / 1000,
        "patience_growth": draw.choice((0.3, 2, 15)),
        "grant_s": draw.choice((1, 3, 20)) * step_ms / 1000,
        "grant_share": draw.choice((0.1, 0.25, 1)),
    }


def with_eviction_options(kind: Kind, instance: Instance, step_ms: int) -> Instance:
    """Half of the instances weigh what preemptions cost, half bound waits, with grants for more work than one loses."""
    draw = random.Random(f"options {instance.seed}")
    more: dict[str, Any] = {}
    if draw.random() < 0.5 and instance.policy != "dally-nopreempt":
        more["cost_weight"] = draw.choice((0.05, 0.7, 3))
        if kind.overheads and not instance.overheads:
            costs = {name: draw.choice((1, 2, 5)) * step_ms / 1000 for name in draw.sample(NOTHING_LOST, 2)}
            instance = replace(instance, overheads=costs)
    if draw.random() < 0.5 and instance.policy not in VARIANTS:
        more |= draw_patience(draw, step_ms)
    params = instance.params | more
    if "grant_s" in params:
        params["grant_s"] = max(params["grant_s"], 8 * most_lost_s(instance.overheads))
    return replace(instance, params=params)


def most_lost_s(overheads: dict[str, float]) -> float:
    """By a preemption."""
    since = overheads["checkpoint_every_s"] if "loses_since_checkpoint" in overheads else 0
    return overheads.get("lost_s", 0) + since


def draw_gittins_params(draw: random.Random, step_ms: int) -> dict[str, Any]:
    """Refits happen, and groups tell better, while the instance lasts."""
    params = draw_dally_params(draw, "gittins", step_ms)
    del params["first_level_gpu_s"], params["levels"], params["sensitive"]
    params |= {
        "predictor": draw.choice(("history", "estimate", "estimate", "none")),
        "preempt": draw.random() < 0.8,
        "ageing": draw.choice((0, 0, 0.37, 3.1)),
        "refit_s": draw.choice((3, 10, 30)) * step_ms / 1000,
        "least_ends": draw.choice((1, 2, 5)),
        "groups": draw.choice((1, 3, 8)),
        "strength": draw.choice((0.51, 3.3, 30)),
        "cost_weight": draw.choice((0, 0.05, 0.7, 8)),
        "loss_budget": draw.choice((0.00001, 0.001, 0.02)),
        "memory_jobs": draw.choice((0, 0, 1.5, 7, 100)),
        "whole_nodes_loss": draw.choice((0, 0.0001, 0.01, 0.05)),
        "whole_nodes_gpus": draw.choice((1, 8, 30)),
    }
    if not params["preempt"]:  # which then has nothing to weigh
        del params["cost_weight"]
        params.pop("patience_s", None)
    return params


def draw_overheads(draw: random.Random, kind: Kind, step_ms: int, may_lose: bool) -> dict[str, float]:
    """`lost_s` is left out where promotion is on: two jobs could then undo each other's work for ever."""
    if not chance(draw, kind.overheads, 0.4):
        return {}
    names = ["start_s", "stop_s", "restore_s", "checkpoint_every_s"] + ["lost_s"] * may_lose
    chosen = [name for name in names if draw.random() < 0.5]
    costs = {name: draw.choice((1, 2, 5)) * step_ms / 1000 for name in chosen}
    if may_lose and "checkpoint_every_s" in costs and draw.random() < 0.5:
        costs["loses_since_checkpoint"] = True
    return costs


def draw_queue_limits(draw: random.Random, jobs: tuple[Job, ...]) -> dict[str, int]:
    """Named queues may have a limit, never below their widest job."""
    limits = {}
    for queue in sorted({job.queue for job in jobs} - {""}):
        if draw.random() < 0.7:
            limits[queue] = max(job.gpus for job in jobs if job.queue == queue) + draw.choice((0, 1, 3))
    return limits


def draw_script(draw: random.Random, kind: Kind, node_count: int, step_ms: int) -> tuple[tuple[int, str, int], ...]:
    """Nodes go down or drain and come back, so that every job ends at last. In time order, and no node has two
    events at one instant."""
    if not chance(draw, kind.failures, 0.3):
        return ()
    script = []
    for node in range(node_count):
        time_ms = 0
        for _ in range(draw.choice((0, 1, 1, 3))):
            time_ms += step_ms * draw.randint(1, 20)
            script.append((time_ms, draw.choice(("NODE_DOWN", "NODE_DOWN", "NODE_DRAIN")), node))
            time_ms += step_ms * draw.randint(1, 10)
            script.append((time_ms, "NODE_UP", node))
    return tuple(sorted(script, key=lambda entry: (entry[0], entry[2])))


def with_cancels(
    draw: random.Random, script: tuple[tuple[int, str, int], ...], jobs: tuple[Job, ...], step_ms: int
) -> tuple[tuple[int, str, int], ...]:
    """Users cancel some of the jobs, soon after their submit or while others have long run; a few do it twice."""
    cancels = []
    for row, job in enumerate(jobs):
        if draw.random() < 0.25:
            for _ in range(draw.choice((1, 1, 1, 2))):
                cancels.append((job.submit_ms + step_ms * draw.randint(1, draw.choice((3, 10, 60))), "CANCEL", row))
    return tuple(sorted([*script, *cancels]))


def draw_rates(draw: random.Random, kind: Kind) -> tuple[float, float, float, float, float]:
    """Sums of a few powers of two, so that work done is exact in floating point."""
    return (1.0, 1.0, 0.75, 0.5, 0.375) if chance(draw, kind.rates, 0.3) else (1.0, 1.0, 1.0, 1.0, 1.0)
