"""Section 10: a world in which several jobs may be on one GPU."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod
from typing import Any

from . import bsbf
from .model import Gpu, Job, Place
from .nodes import Slowing
from .placement import PLACEMENTS, alternatives, every_gpu, locality, place
from .policies import backfill, by_estimate, by_row, strict
from .simulator import OVERHEADS, refuse, run
from .speeds import ALONE, Felt, Speeds, rounded
from .uplinks import Contention, ring_of, shares, widened
from .world import Life, Rules, World, to_ms

Decide = Callable[["SharingWorld"], None]
SharedEntry = tuple[int, str, int, tuple[tuple[int, int], ...], int]
"""As `model.LogEntry`, and the steps of a START or REBATCH, how many GPUs a RESIZE gives; 0 of others."""

POLICIES: dict[str, Decide] = {
    "fifo": lambda world: strict(world, by_row),
    "sjf": lambda world: strict(world, by_estimate),
    "fifo-backfill": lambda world: backfill(world, by_row),
    "sjf-bsbf": bsbf.sjf_bsbf,
    "sjf-bsbf-consolidated": bsbf.sjf_bsbf_consolidated,
    "sjf-ffs": bsbf.sjf_ffs,
}
PAIRS = ("sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs")
"""Two jobs a GPU by default; they place by tightest."""

OTHERS = ("rebatch_s", "loses_since_checkpoint")


@dataclass
class SharedLife(Life):
    steps: int = 1
    xi: float = 1.0
    felt: Felt = ALONE
    waits: float = 0.0
    """The share of its time in which it waits for communication, since its rate was set."""
    comm_ms: float = 0.0
    """Waited so."""
    last_place: Place = frozenset()


@dataclass(frozen=True)
class SharedSchedule:
    """One list entry per row."""

    first_start_ms: list[int | None]
    end_ms: list[int | None]
    run_ms: list[int]
    preemptions: list[int]
    lost_ms: list[float]
    comm_ms: list[float]
    cancelled: list[bool]
    nodes: list[int]
    """Of the last place; 0 without one. So `locality`: 0 GPU .. 4 cluster, -1 without one."""
    locality: list[int]
    log: list[SharedEntry]


@dataclass
class SharingWorld(World):
    lives: list[SharedLife]
    speeds: Speeds = field(kw_only=True)
    sharing: int = field(kw_only=True)
    """Jobs that may be on a GPU at once."""
    gate: str = "pairwise"
    accumulation: str = "all"
    rebatch_ms: int = 0
    contention: Contention | None = None
    neighbours: Slowing | None = None
    args: list[int] = field(default_factory=list)
    """Of each log entry."""
    just_started: set[int] = field(default_factory=set)
    """Rows of those started or resized in this pass."""

    # -- what can be asked ------------------------------------------------------------------------------

    def on(self, gpu: Gpu) -> list[SharedLife]:
        return [life for life in self.lives if gpu in life.place]

    def is_fraction(self, life: Life) -> bool:
        return self.sharing > 1 and life.job.milli < 1000

    def free_bytes(self, gpu: Gpu) -> float:
        gpu_type = self.speeds.type_of(gpu)
        taken = (self.speeds.takes_bytes(life.job, life.steps, gpu_type) for life in self.on(gpu))
        return self.speeds.memory[gpu_type] - sum(taken)

    def free_milli(self, gpu: Gpu) -> int:
        """Of a GPU on which fractions are."""
        return 1000 - sum(life.job.milli for life in self.on(gpu))

    def has_room(self, life: SharedLife, chosen: Place) -> bool:
        return self.up(chosen) == chosen and all(self.gpu_has_room(life, gpu) for gpu in chosen)

    def gpu_has_room(self, life: SharedLife, gpu: Gpu) -> bool:
        there = self.on(gpu)
        if not there:
            return True
        if len(there) >= self.sharing:
            return False
        if any(self.is_fraction(other) for other in [*there, life]):
            return all(self.is_fraction(other) for other in [*there, life]) and self.free_milli(gpu) >= life.job.milli
        return self.speeds.takes_bytes(life.job, life.steps, self.speeds.type_of(gpu)) <= self.free_bytes(gpu)

    def find_place(self, life: Life, free: set[Gpu]) -> Place | None:
        if not self.is_fraction(life):
            return super().find_place(life, free)
        every = alternatives(self.nodes, life.job)
        begun = [gpu for gpu in self.up(every_gpu(self.nodes)) if self.has_left(life, gpu)]
        begun = [gpu for gpu in begun if any(gpu[0] in eligible for eligible in every)]
        if begun:
            return frozenset({min(begun, key=lambda gpu: (self.free_milli(gpu), gpu))})
        return super().find_place(life, free)

    def has_left(self, life: Life, gpu: Gpu) -> bool:
        """A GPU that only fractions hold, with room for one more."""
        there = self.on(gpu)
        fractions = bool(there) and all(self.is_fraction(other) for other in there)
        return fractions and len(there) < self.sharing and self.free_milli(gpu) >= life.job.milli

    def slowdown(self, life: SharedLife) -> float:
        """By the jobs that run on its GPUs now."""
        if self.is_fraction(life):
            return 1.0
        return max(self.slowdown_on(life, gpu) for gpu in life.place)

    def slowdown_on(self, life: SharedLife, gpu: Gpu) -> float:
        others = [other for other in self.on(gpu) if other is not life and other.state == "RUNNING"]
        return prod(self.speeds.xi(self.speeds.type_of(gpu), life.job.model, other.job.model) for other in others)

    def rate_on(self, life: Life, chosen: Place) -> float:
        assert isinstance(life, SharedLife)
        return rounded(self.speeds.rate(life.job, chosen, life.steps))

    # -- what happens -----------------------------------------------------------------------------------

    def start(self, life: Life, chosen: Place, steps: int = 1) -> None:
        assert isinstance(life, SharedLife) and steps in self.speeds.steps(life.job)
        life.steps, life.xi, life.last_place = steps, 1.0, chosen
        self.args.append(steps)
        self.just_started.add(life.row)
        super().start(life, chosen)

    def preempt(self, life: Life) -> None:
        self.args.append(0)
        super().preempt(life)

    def halt(self, life: Life) -> None:
        assert isinstance(life, SharedLife)
        life.comm_ms += self.elapsed(life) * life.waits
        super().halt(life)

    def end_of_instant(self) -> None:
        """Whose neighbours began or ceased to run gets another rate; a stretch ends only where the rate is another."""
        self.just_started.clear()
        self.share_links()
        self.share_nodes()
        for life in self.lives:
            if life.state == "RUNNING":
                life.xi = self.slowdown(life)
                rate = rounded(self.speeds.rate(life.job, life.place, life.steps, life.felt) / life.xi)
                if rate != life.rate:
                    self.halt(life)
                    life.rate = rate
                    life.finish_ms = self.now + ceil((life.job.work_ms - life.done) / rate)
                    self.have_other_rate(life)
                life.waits = self.speeds.exposed(life.job, life.place, life.steps, life.felt)

    def have_other_rate(self, life: Life) -> None:
        """What a policy counts anew for a running job with another rate."""

    def share_links(self) -> None:
        if self.contention:
            running = [life for life in self.lives if life.state == "RUNNING"]
            rings = [ring_of(life.job, life.place, life.steps, self.speeds, self.contention) for life in running]
            for life, felt in zip(running, shares(rings, self.speeds, self.contention), strict=True):
                life.felt = felt

    def share_nodes(self) -> None:
        if self.neighbours:
            for life in self.having("RUNNING"):
                life.felt = replace(life.felt, computing=self.psi(life))

    def psi(self, life: Life) -> float:
        assert self.neighbours is not None
        others = [(self.as_run(other), other.place) for other in self.having("RUNNING") if other is not life]
        return self.neighbours.psi(self.as_run(life), life.place, others)

    def as_run(self, life: Life) -> Job:
        """A fraction has a whole GPU where there is no sharing."""
        return life.job if self.is_fraction(life) else replace(life.job, milli=1000)

    # -- for policies -----------------------------------------------------------------------------------

    def solo_rate(self, life: SharedLife) -> float:
        """Of a partner (`sjf-bsbf`, step 1)."""
        if life.state == "STARTING" or life.row in self.just_started:
            gpu_type = self.speeds.type_of_gang([node for node, _ in life.place])
            return 1 / self.speeds.stretch(life.job, gpu_type, life.steps)
        return life.rate * life.xi


def simulate(
    speeds: Speeds,
    jobs: Sequence[Job],
    policy: str | Decide,
    *,
    sharing: int | None = None,
    gate: str = "pairwise",
    accumulation: str = "all",
    placement: str | None = None,
    overheads: Mapping[str, float] = {},
    queue_limits: Mapping[str, int] = {},
    script: Sequence[tuple[int, str, int]] = (),
    round_ms: int = 0,
    until_ms: int | None = None,
    contention: Contention | None = None,
    neighbours: Slowing | None = None,
    make: Callable[..., SharingWorld] | None = None,
) -> SharedSchedule:
    """As `simulator.simulate`, on the nodes of `speeds`; by default with the policy's own sharing and placement."""
    pairs = policy in PAIRS
    placement = placement or ("tightest" if pairs else "consolidated")
    refuse(placement not in PLACEMENTS or not set(overheads) <= {*OVERHEADS, *OTHERS}, "no such placement or overhead")
    refuse(pairs and placement != "tightest", f"{policy} places by tightest")
    refuse(gate not in ("pairwise", "joint"), f"no gate {gate}")
    refuse(accumulation not in ("all", "exact", "none"), f"no accumulation {accumulation}")
    for row, job in enumerate(jobs):
        refuse(place(speeds.nodes, job, every_gpu(speeds.nodes), placement) is None, f"job {row} fits no empty cluster")
    world = (make or SharingWorld)(
        speeds.nodes,
        [SharedLife(row, job) for row, job in enumerate(jobs)],
        list(script),
        rules_of(placement, queue_limits, overheads),
        node_state=["UP"] * len(speeds.nodes),
        speeds=widened(speeds, contention),
        sharing=sharing or (2 if pairs else 1),
        gate=gate,
        accumulation=accumulation,
        rebatch_ms=to_ms(overheads.get("rebatch_s", 0)),
        contention=contention,
        neighbours=neighbours,
    )
    decide: Any = POLICIES[policy] if isinstance(policy, str) else policy
    run(world, decide, round_ms, until_ms)
    return schedule_of(world)


def rules_of(placement: str, queue_limits: Mapping[str, int], overheads: Mapping[str, float]) -> Rules:
    return Rules(
        placement=placement,
        rate=lambda job, locality: 1.0,
        queue_limits=dict(queue_limits),
        **{f"{name.removesuffix('_s')}_ms": to_ms(overheads.get(name, 0)) for name in OVERHEADS},  # ty: ignore
        loses_since_checkpoint=bool(overheads.get("loses_since_checkpoint", False)),
        reestimates=False,
        margin_ms=0,
        thresholds_gpu_ms=[],
        promote_knob=0,
    )


def schedule_of(world: SharingWorld) -> SharedSchedule:
    lives = world.lives
    for life in lives:
        if life.state == "RUNNING":
            world.halt(life)
    return SharedSchedule(
        first_start_ms=[life.first_start_ms for life in lives],
        end_ms=[life.end_ms for life in lives],
        run_ms=[life.run_ms for life in lives],
        preemptions=[life.preemptions for life in lives],
        lost_ms=[life.lost_ms for life in lives],
        comm_ms=[life.comm_ms for life in lives],
        cancelled=[life.state == "CANCELLED" for life in lives],
        nodes=[len({node for node, _ in life.last_place}) for life in lives],
        locality=[locality(world.nodes, life.last_place) if life.last_place else -1 for life in lives],
        log=[(*entry, arg) for entry, arg in zip(world.log, world.args, strict=True)],
    )
