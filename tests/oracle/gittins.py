"""Section 7, `gittins`: hazards of the jobs that have ended, the index by them, and the rank of each job."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from math import inf
from typing import Any

from . import dally
from .costs import cost_ms
from .whole_nodes import ChoosingWorld
from .world import Life, to_ms

BUCKETS, CLASSES = 64, 128
LEFT = ("COMPLETED", "CANCELLED", "FUTURE")


def geometric(first: float, ratio: float, count: int) -> list[float]:
    begins = [0.0, first]
    while len(begins) < count:
        begins.append(begins[-1] * ratio)
    return begins


BUCKET_BEGINS = geometric(30_000.0, 1.25, BUCKETS)
CLASS_BEGINS = geometric(1000.0, 1.16, CLASSES)
FALLING = [0.5 / (1 + 0.2 * b) for b in range(BUCKETS)]


@dataclass(frozen=True)
class Settings(dally.Settings):
    quantum_s: float = 600
    predictor: str = "history"
    ageing: float = 0
    refit_s: float = 43_200
    least_ends: int = 200
    groups: int = 24
    strength: float = 5
    cost_weight: float = 8
    loss_budget: float = 0.02
    memory_jobs: float = 7000
    patience_s: float = 43_200


PARAMS = (dally.PARAMS - {"first_level_gpu_s", "levels"}) | {
    "predictor", "preempt", "ageing", "refit_s", "least_ends", "groups", "strength", "cost_weight", "loss_budget",
    "memory_jobs", "whole_nodes_loss", "whole_nodes_gpus",
}  # fmt: skip


def settings_of(params: Mapping[str, Any]) -> Settings:
    given = {("preempts" if name == "preempt" else name): value for name, value in params.items()}
    return Settings(**given)


def last_begun(begins: Sequence[float], value: float) -> int:
    return sum(begin <= value for begin in begins) - 1


def hazards_of(
    ended: Sequence[float], unfinished: Sequence[int], prior: Sequence[float], strength: float
) -> list[float]:
    """From what jobs that ended in each bucket count for, and the buckets of unfinished ones."""
    found, at_risk = [], 0.0
    for b in reversed(range(BUCKETS)):
        left = unfinished.count(b)
        at_risk += ended[b] + left
        found.append(min(1.0, (ended[b] + strength * prior[b]) / (at_risk - left / 2 + strength)))
    return found[::-1]


def chances(hazards: Sequence[float]) -> tuple[list[float], list[float]]:
    """To come to each bucket (and beyond the last), and to end in it."""
    survival = [1.0]
    for hazard in hazards:
        survival.append(survival[-1] * (1 - hazard))
    return survival, [alive * hazard for alive, hazard in zip(survival, hazards, strict=False)]


@cache
def indices(hazards: tuple[float, ...]) -> list[float]:
    """In ms, of each bucket."""
    survival, ends = chances(hazards)
    edges = [*BUCKET_BEGINS, BUCKET_BEGINS[-1] * 1.25]
    spent = [(edges[b + 1] - edges[b]) * (survival[b + 1] + ends[b] / 2) for b in range(BUCKETS)]
    found: list[float] = []
    for a in range(BUCKETS):
        if survival[a] <= 1e-9:
            found.append(1.25 * found[-1])
        else:
            sums = zip(accumulate(spent[a:]), accumulate(ends[a:]), strict=True)
            found.append(min(time / chance for time, chance in sums))
    return found


def predicted_better(scores: Sequence[float]) -> bool:
    """Beyond rounding."""
    return in_turn(scores) > 1e-9


def in_turn(numbers: Sequence[float]) -> float:
    """Their sum, one after another."""
    return [0.0, *accumulate(numbers)][-1]


@dataclass
class Ended:
    """What is remembered of the jobs of one class that have ended."""

    count: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    gpu_ms: float = 0
    score: float = 0


def summed(ended: Sequence[Ended]) -> list[float]:
    """By bucket."""
    counts = [0.0] * BUCKETS
    for each in ended:
        for b, count in enumerate(each.count):
            counts[b] += count
    return counts


@dataclass
class GittinsWorld(ChoosingWorld):
    settings: Settings = Settings()
    knows: bool = True
    """There are estimates."""
    protected_ms: dict[int, int] = field(default_factory=dict)
    """Until when a job is not preempted, as last counted, by row."""
    kinds: dict[int, int] = field(default_factory=dict)
    """Class of the estimate, by row."""
    ended: list[Ended] = field(default_factory=lambda: [Ended() for _ in range(CLASSES)])
    ends: int = 0
    ends_before: int = 0
    """At the last refit."""
    refitted_in: int = 0
    group_of: list[int] = field(default_factory=lambda: [0] * CLASSES)
    index_of: list[list[float]] = field(default_factory=list)
    own_chances: list[list[float]] = field(default_factory=list)
    pooled_chances: list[float] = field(default_factory=list)
    keys: dict[int, float] = field(default_factory=dict)
    """Of running jobs as victims, as last counted, by row."""
    scarcity: float = 1
    period: int = 0
    preempted_gpu_ms: float = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.index_of = self.index_of or [indices(tuple(FALLING))] * self.settings.groups

    # -- rank -------------------------------------------------------------------------------------------

    def become_pending(self, life: Life) -> None:
        if life.row not in self.kinds:
            told = self.estimate_of(life) if self.settings.predictor != "none" else None
            self.kinds[life.row] = 0 if told is None else last_begun(CLASS_BEGINS, told)
        super().become_pending(life)

    def estimate_of(self, life: Life) -> int | None:
        """Of a job that is being submitted."""
        self.foretell(life)
        there = self.knows if self.settings.predictor == "estimate" else self.history is not None
        return life.job.told_ms if there else None

    def sink(self, life: Life) -> None:
        """Count its rank."""
        done, reached = self.work_done(life), self.reached(life)
        self.end_grant_if_due(life)
        index = self.index_of[self.group_of[self.kinds[life.row]]][last_begun(BUCKET_BEGINS, reached)]
        index += reached - done
        rank = math.floor(life.job.gpus * index + self.settings.ageing * life.job.submit_ms + 0.5)
        standing = self.of(life)
        self.changed |= life.state == "RUNNING" and rank > standing.level
        standing.level = min(rank, 2**53)

    def count_sinks(self, life: Life) -> None:
        if life.row in self.granted:
            self.keys[life.row] = -inf
            self.of(life).sinks_ms = self.now + self.granted[life.row] - self.progress(life)
            return
        key = self.of(life).level - self.weight() * life.job.gpus * self.cost_now_ms(life)
        self.changed |= self.of(life).past_quantum and key > self.keys.get(life.row, inf)
        self.keys[life.row] = key
        bucket = last_begun(BUCKET_BEGINS, self.reached(life))
        edge = BUCKET_BEGINS[bucket + 1] if bucket + 1 < BUCKETS else inf
        ahead = min(edge, self.cost_changes_at(life)) - self.work_done(life)
        self.of(life).sinks_ms = self.now + math.ceil(ahead / life.rate) if ahead < inf else inf

    def levels_due(self, life: Life) -> list[float]:
        standing = self.of(life)
        return [standing.sinks_ms if standing.past_quantum else self.protected_ms[life.row]]

    def quantum_ends_ms(self, life: Life) -> int:
        """As counted now, unless it is past that."""
        if not self.of(life).past_quantum:
            quantum_ms = to_ms(self.settings.quantum_s)
            self.protected_ms[life.row] = self.protected_until_ms(life, life.running_from_ms, quantum_ms)
        return self.protected_ms[life.row]

    # -- what a preemption costs --------------------------------------------------------------------------

    def reached(self, life: Life) -> float:
        done = self.work_done(life)
        return max(done, life.reached) if self.settings.cost_weight > 0 else done

    @property
    def dearness(self) -> float:
        return self.scarcity

    def cost_now_ms(self, life: Life) -> float:
        """For each GPU of a running job: the most until it changes."""
        rules, done = self.rules, self.work_done(life)
        if not rules.loses_since_checkpoint:
            return cost_ms(rules, done)
        step = rules.checkpoint_every_ms / 4
        lost = rules.lost_ms + (math.floor(self.since_checkpoint(life) / step) + 1) * step
        return min(lost, done) + rules.stop_ms + rules.start_ms + rules.restore_ms

    def cost_changes_at(self, life: Life) -> float:
        if not self.rules.loses_since_checkpoint or self.settings.cost_weight == 0:
            return inf
        step = self.rules.checkpoint_every_ms / 4
        return life.restored + (math.floor((self.work_done(life) - life.restored) / step) + 1) * step

    def weight(self) -> float:
        return self.settings.cost_weight * self.scarcity

    def bar_of(self, life: Life) -> float:
        return self.order_of(life) + self.weight() * cost_ms(self.rules, inf) * life.job.gpus

    def key_of(self, victim: Life) -> float:
        return self.keys[victim.row]

    def preempt(self, life: Life) -> None:
        lost_ms = min(self.work_done(life), self.rules.lost_ms + self.lost_besides(life))
        self.preempted_gpu_ms += life.job.gpus * (lost_ms + self.rules.stop_ms + self.delay_ms(life))
        super().preempt(life)

    def review_budget(self) -> None:
        if self.settings.cost_weight == 0 or self.now // 600_000 == self.period:
            return
        self.period, before, self.scarcity = self.now // 600_000, self.scarcity, 1
        whole_ms = cost_ms(self.rules, inf)
        if whole_ms > 0:
            share = self.preempted_gpu_ms / (sum(node.gpus for node in self.nodes) * self.now)
            over = share / (self.settings.loss_budget * min(1, 3.6e6 / whole_ms))
            while self.scarcity < over * over and self.scarcity < 2**20:
                self.scarcity *= 2
        if self.scarcity != before:
            self.changed = True
            for life in self.having("RUNNING"):
                self.sink(life)
                self.count_sinks(life)
                self.quantum_ends_ms(life)
            for life in self.having("PENDING"):
                if life.row not in self.granted:
                    self.bound_wait(life)

    # -- what is learnt ---------------------------------------------------------------------------------

    def finish(self, life: Life) -> None:
        super().finish(life)
        kind, bucket = self.kinds[life.row], last_begun(BUCKET_BEGINS, life.job.work_ms)
        score = 0.0
        if self.refitted_in:
            own, pooled = self.own_chances[self.group_of[kind]][bucket], self.pooled_chances[bucket]
            score = math.log(max(own, 1e-12)) - math.log(max(pooled, 1e-12))
        self.ends += 1
        self.ended[kind].count[bucket] += 1
        self.ended[kind].gpu_ms += life.job.gpus * life.job.work_ms
        self.ended[kind].score += score

    def before_cycle(self) -> None:
        self.refit_if_due()
        self.review_budget()
        self.choose_places()
        self.grant()

    def refit_if_due(self) -> None:
        period = self.now // to_ms(self.settings.refit_s)
        if period <= self.refitted_in or self.ends < self.settings.least_ends:
            return
        self.refitted_in = period
        self.changed = True
        self.refit()
        for life in self.lives:
            if life.state not in LEFT:
                self.sink(life)
                if life.state == "RUNNING":
                    self.count_sinks(life)
                    self.quantum_ends_ms(life)

    def forget(self) -> None:
        since, self.ends_before = self.ends - self.ends_before, self.ends
        if self.settings.memory_jobs > 0:
            share = self.settings.memory_jobs / (self.settings.memory_jobs + since)
            for each in self.ended:
                each.count = [count * share for count in each.count]
                each.gpu_ms *= share
                each.score *= share

    def refit(self) -> None:
        self.forget()
        unfinished = [life for life in self.lives if life.state not in LEFT]
        buckets = {life.row: last_begun(BUCKET_BEGINS, self.work_done(life)) for life in unfinished}
        self.divide(unfinished)
        pooled = hazards_of(summed(self.ended), list(buckets.values()), FALLING, 2.0)
        self.pooled_chances = chances(pooled)[1]
        self.own_chances, self.index_of = [], []
        for group in range(self.settings.groups):
            ended = [each for kind, each in enumerate(self.ended) if self.group_of[kind] == group]
            theirs = [buckets[life.row] for life in unfinished if self.group_of[self.kinds[life.row]] == group]
            own = hazards_of(summed(ended), theirs, pooled, self.settings.strength)
            better = predicted_better([each.score for each in ended])
            self.own_chances.append(chances(own)[1])
            self.index_of.append(indices(tuple(own if better else pooled)))

    def divide(self, unfinished: Sequence[Life]) -> None:
        numbers, work = [0.0] * CLASSES, [0.0] * CLASSES
        for life in unfinished:
            numbers[self.kinds[life.row]] += 1
            work[self.kinds[life.row]] += life.job.gpus * self.work_done(life)
        for kind, each in enumerate(self.ended):
            work[kind] += each.gpu_ms
            numbers[kind] = in_turn([numbers[kind], *each.count])
        groups, group, weight = self.settings.groups, 0, 0.0
        for kind in range(CLASSES):
            self.group_of[kind] = min(group, groups - 1)
            share = numbers[kind] / in_turn(numbers)
            weight += share if in_turn(work) == 0 else 0.4 * share + 0.6 * work[kind] / in_turn(work)
            if weight >= 1 / groups:
                group, weight = group + 1, 0.0
        if group > 0 and weight < 0.5 / groups:
            self.group_of = [min(each, group - 1) for each in self.group_of]


def world_of(world: Any, params: Mapping[str, Any]) -> GittinsWorld:
    """Moves reckon with progress, whatever is estimated."""
    settings = settings_of(params)
    fields = vars(world) | {"rules": replace(world.rules, knows_work=False)}
    return GittinsWorld(**fields, settings=settings, knows=world.rules.knows_work)
