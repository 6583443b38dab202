"""Section 7: `kueue`, by sets of jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Job, Place
from .policies import Pass
from .reserving import PARAMS as RESERVING
from .reserving import ReservingWorld, reserved_for, serve_overdue
from .world import Life

PARAMS = RESERVING | {
    "nominal_quota", "borrowing_limit", "cohort", "queueing_strategy", "reclaim_within_cohort", "within_cluster_queue",
}  # fmt: skip


@dataclass
class KueueWorld(ReservingWorld):
    settings: Mapping[str, Any] = field(default_factory=dict)
    released: list[Life] = field(default_factory=list)
    """On paper."""

    def quota(self, queue: str) -> float:
        return self.settings["nominal_quota"][queue] if queue else float("inf")

    def cohort(self, queue: str) -> list[str]:
        """The queues of its cohort."""
        names, of = self.settings["nominal_quota"], self.settings["cohort"]
        if not queue or (of and queue not in of):
            return [queue]
        return [name for name in names if of.get(name) == of.get(queue)]

    def holds(self, queue: str) -> int:
        return self.queue_held(queue) - sum(life.job.gpus for life in self.released if life.job.queue == queue)

    def borrows(self, queue: str, more: int) -> bool:
        return self.holds(queue) + more > self.quota(queue)

    def has_quota(self, job: Job) -> bool:
        within = self.holds(job.queue) + job.gpus <= self.rules.queue_limits.get(job.queue, float("inf"))
        cohort = self.cohort(job.queue)
        needed = sum(map(self.holds, cohort)) + self.kept_from(job) + job.gpus
        return within and needed <= sum(map(self.quota, cohort))

    def heads(self) -> dict[str, Life]:
        """The first waiting job of each queue."""
        return {life.job.queue: life for life in sorted(self.having("PENDING"), key=rank, reverse=True)}

    def kept_from(self, job: Job) -> int:
        """What the heads of other queues, that come before it, keep of the quotas of its cohort."""
        if self.settings["queueing_strategy"] != "StrictFIFO" or self.settings["reclaim_within_cohort"] == "Any":
            return 0
        mine = next(self.turn(life) for life in self.lives if life.job is job)
        heads = [h for queue, h in self.heads().items() if queue != job.queue and queue in self.cohort(job.queue)]
        heads = [h for h in heads if h.job.gpus <= self.quota(h.job.queue) and self.turn(h) < mine]
        limit = self.rules.queue_limits
        return sum(max(0, min(h.job.gpus, limit[h.job.queue] - self.holds(h.job.queue))) for h in heads)

    def turn(self, life: Life) -> tuple[bool, tuple[int, int]]:
        """In the order of admission."""
        return self.borrows(life.job.queue, life.job.gpus), rank(life)


def rank(life: Life) -> tuple[int, int]:
    return -life.job.priority, life.row


def alike(job: Job) -> tuple[str | int, ...]:
    """What jobs have in common of which the wider cannot be placed if the narrower cannot."""
    return job.queue, job.gpu_type, job.partition, job.per_node


class Cycle(Pass):
    def __init__(self, world: KueueWorld) -> None:
        super().__init__(world)
        self.kueue = world
        self.skipped: dict[tuple[str | int, ...], int] = {}
        """By queue, type, partition and GPUs per node, the narrowest that could not be placed."""
        self.tried: set[str] = set()

    def have_turn(self) -> list[Life]:
        """The jobs that may be admitted before others of their queues."""
        heads, strict = self.kueue.heads().values(), self.kueue.settings["queueing_strategy"] == "StrictFIFO"
        return [life for life in self.world.having("PENDING") if not strict or life in heads]

    def try_overdue(self, life: Life) -> bool | None:
        """Whether it is admitted; None: it may not be, and gets no reservation."""
        if life not in self.have_turn():
            return None
        place = self.find_place(life)
        if self.kueue.has_quota(life.job):
            if place is not None:
                self.start_on(life, place)
            return place is not None
        limit = self.kueue.rules.queue_limits.get(life.job.queue, float("inf"))
        quotas = sum(map(self.kueue.quota, self.kueue.cohort(life.job.queue)))
        within = self.kueue.holds(life.job.queue) + life.job.gpus <= limit
        return False if within and quotas >= sum(node.gpus for node in self.kueue.nodes) else None

    def admit_around_heads(self) -> None:
        heads = serve_overdue(self, self.try_overdue) if self.world.free() else []
        reserved = reserved_for(heads)
        if reserved:
            self.admit(lambda life: self.kueue.ends_in_time(life, heads))
        self.admit(not_on=reserved)

    def admit(self, only: Callable[[Life], bool] = lambda life: True, not_on: Place = frozenset()) -> None:
        while True:
            may = [j for j in self.have_turn() if only(j)]
            may = [j for j in may if self.kueue.has_quota(j.job) and not self.is_skipped(j.job)]
            if not may:
                return
            life = min(may, key=self.kueue.turn)
            place = self.find_place(life, not_on)
            if place is None:
                key = alike(life.job)
                self.skipped[key] = min(life.job.gpus, self.skipped.get(key, life.job.gpus))
            else:
                self.start_on(life, place)

    def is_skipped(self, job: Job) -> bool:
        return job.gpus >= self.skipped.get(alike(job), job.gpus + 1)

    def fits(self, life: Life, borrow: bool) -> bool:
        if not self.kueue.has_quota(life.job) or (not borrow and self.kueue.borrows(life.job.queue, life.job.gpus)):
            return False
        free = self.world.free().union(*(self.world.up(victim.place) for victim in self.kueue.released))
        return self.world.find_place(life, free) is not None

    def is_candidate(self, victim: Life, life: Life, others: bool) -> bool:
        if victim.row in self.started_rows:
            return False
        mine, lower = victim.job.queue == life.job.queue, victim.job.priority < life.job.priority
        if others:
            how = self.kueue.settings["reclaim_within_cohort"]
            near = victim.job.queue in self.kueue.cohort(life.job.queue) and self.kueue.borrows(victim.job.queue, 0)
            return not mine and near and (how == "Any" or (how == "LowerPriority" and lower))
        how = self.kueue.settings["within_cluster_queue"]
        newer = victim.job.priority == life.job.priority and victim.row > life.row
        return mine and how != "Never" and (lower or (how == "LowerOrNewerEqualPriority" and newer))

    def targets(self, life: Life, kinds: tuple[bool, ...], borrow: bool) -> list[Life]:
        """The jobs that go for this one; none if it would not fit, or fits without."""
        running = sorted(self.world.having("RUNNING"), key=lambda v: (-v.job.priority, v.running_from_ms, v.row))
        released = self.kueue.released
        for others in kinds:
            for victim in reversed(running):
                if self.fits(life, borrow):
                    break
                if self.is_candidate(victim, life, others):
                    released.append(victim)
        found = self.fits(life, borrow)
        for victim in list(reversed(released)):
            at = released.index(victim)
            released.remove(victim)
            if found and not self.fits(life, borrow):
                released.insert(at, victim)
        chosen = list(released)
        released.clear()
        return chosen

    def make_room(self, life: Life) -> None:
        queue = life.job.queue
        if life.job.gpus > self.kueue.quota(queue):
            return
        chosen = self.targets(life, (True, False), False) if self.kueue.holds(queue) < self.kueue.quota(queue) else []
        chosen = chosen or self.targets(life, (False,), True)
        for victim in chosen:
            self.world.preempt(victim)
        if chosen and self.world.rules.stop_ms == 0:
            place = self.find_place(life)
            assert place is not None
            self.start_on(life, place)
            self.admit()


def kueue(world: KueueWorld) -> None:
    this = Cycle(world)
    this.admit_around_heads()
    if world.settings["reclaim_within_cohort"] == world.settings["within_cluster_queue"] == "Never":
        return
    while not world.having("STOPPING"):
        untried = [life for queue, life in world.heads().items() if queue and queue not in this.tried]
        if not untried:
            return
        life = min(untried, key=rank)
        this.tried.add(life.job.queue)
        this.make_room(life)
