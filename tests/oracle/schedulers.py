"""Section 7, the placers: which scheduler a job belongs to, what is free for it there, and until when it is patient."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .model import Gpu, Node, Place
from .placement import alternatives, every_gpu, has_enough
from .reserving import ReservingWorld
from .world import Life

Free = dict[int, list[Gpu]]
"""The free GPUs of each eligible node."""


@dataclass
class PlacerWorld(ReservingWorld):
    """Of the placers, which are called when the patience of a waiting job ends. Nodes have two sockets here, and
    nothing on them slows jobs.
    """

    patience: float = 0.0
    schedulers: int = 1
    forward: bool = True
    order: str = "fifo"
    seed: int = 0
    random_seed: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of the features of a place (`scorer`)."""
    draws: int = 0
    """How often `random-place` has chosen."""
    belongs_to: dict[int, int] = field(default_factory=dict)
    """The scheduler of each job, by row."""
    forwarded: list[tuple[int, int, int]] = field(default_factory=list)
    """Rows, and from which scheduler to which."""

    hidden: Place = frozenset()
    """GPUs that are reserved."""

    def __post_init__(self) -> None:
        drawn = np.random.default_rng([self.seed, 0x686F6D65]).random(len(self.lives))
        for life, chance in zip(self.lives, drawn.tolist(), strict=True):
            able = [p for p in range(self.schedulers) if self.could_hold(p, life)]
            self.belongs_to[life.row] = able[math.floor(chance * len(able))]

    def could_hold(self, scheduler: int, life: Life) -> bool:
        mine = owned_nodes(tuple(self.nodes), scheduler, self.schedulers)
        sets = [[n for n in eligible if n in mine] for eligible in alternatives(self.nodes, life.job)]
        return any(has_enough(self.nodes, eligible, life.job, every_gpu(self.nodes)) for eligible in sets)

    def offered(self, life: Life, scheduler: int) -> Free | None:
        """Of the first alternative that has enough, on the scheduler's nodes."""
        mine = owned_nodes(tuple(self.nodes), scheduler, self.schedulers)
        everywhere = self.free()
        for eligible in alternatives(self.nodes, life.job):
            free: Free = {node: [] for node in eligible if node in mine}
            for gpu in sorted(gpu for gpu in everywhere if gpu[0] in free):
                free[gpu[0]].append(gpu)
            if has_enough(self.nodes, list(free), life.job, everywhere):
                return free
        return None

    # -- reservations -----------------------------------------------------------------------------------

    def free(self) -> set[Gpu]:
        return super().free() - self.hidden

    def alternatives_of(self, life: Life) -> list[list[int]]:
        mine = owned_nodes(tuple(self.nodes), self.belongs_to[life.row], self.schedulers)
        return [[node for node in nodes if node in mine] for nodes in super().alternatives_of(life)]

    def eligible_nodes(self, life: Life) -> set[int]:
        return {node for nodes in self.alternatives_of(life) for node in nodes}

    def find_place(self, life: Life, free: set[Gpu]) -> Place | None:
        mine = self.eligible_nodes(life)
        return super().find_place(life, {gpu for gpu in free if gpu[0] in mine})

    # -- patience ---------------------------------------------------------------------------------------

    def patient_until_ms(self, life: Life) -> int:
        patience = 0 if life.job.per_node else self.patience
        return life.job.submit_ms + math.ceil(patience * max(0, life.job.told_ms))

    def is_patient(self, life: Life) -> bool:
        return self.patient_until_ms(life) > self.now and life.row not in self.overdue

    def next_event_ms(self) -> int | None:
        ends = [self.patient_until_ms(life) for life in self.having("PENDING") if self.is_patient(life)]
        return min((at for at in (super().next_event_ms(), *ends) if at is not None), default=None)

    # -- what nodes are, and what jobs do to each other there -------------------------------------------

    def sockets(self, node: int) -> int:
        return 2

    def idle_share(self, node: int, life: Life, workers: int) -> float:
        """Of the node's cores, with so many workers of a job besides what runs."""
        return 1.0

    def slowed(self, life: Life, place: Place) -> float:
        """Psi of a waiting job, were it there."""
        return 1.0

    def overload(self, node: int) -> float:
        """Of its uplink or cards, at least 1."""
        return 1.0

    def forecast(self, trial: dict[int, Place]) -> dict[int, float]:
        """By row, the rates of running jobs and of those on trial."""
        places = {life.row: life.place for life in self.having("RUNNING")} | trial
        return {row: self.rate_on(self.lives[row], place) for row, place in places.items()}


@lru_cache(maxsize=64)
def owned_nodes(nodes: tuple[Node, ...], scheduler: int, schedulers: int) -> set[int]:
    """The nodes of a scheduler: whole racks."""
    names = list(dict.fromkeys((node.pod, node.rack) for node in nodes))
    racks = [names.index((node.pod, node.rack)) for node in nodes]
    gpus = [sum(node.gpus for node, of in zip(nodes, racks, strict=True) if of == r) for r in range(len(names))]
    owners = owners_of_racks(gpus, schedulers)
    return {n for n, rack in enumerate(racks) if owners[rack] == scheduler}


def owners_of_racks(gpus: list[int], schedulers: int) -> list[int]:
    """One cut after another, where the GPUs so far are nearest to their share, and a rack is left for each."""
    owners, cut = [], 0
    for k in range(1, schedulers + 1):
        possible = range(cut + 1, len(gpus) - (schedulers - k) + 1)
        share = Fraction(k * sum(gpus), schedulers)
        following = min(possible, key=lambda c: abs(sum(gpus[:c]) - share)) if k < schedulers else len(gpus)
        owners += [k - 1] * (following - cut)
        cut = following
    return owners
