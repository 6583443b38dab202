"""Section 7: jobs that have waited longer than their limits go first."""

import math
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .costs import cost_ms, surcharge
from .placement import alternatives
from .world import Life, World, to_ms


@dataclass(frozen=True)
class Options:
    """Of the policies that preempt."""

    cost_weight: float = 0
    patience_s: float = 0
    patience_growth: float = 15
    grant_s: float = 14_400
    grant_share: float = 0.25


OPTIONS = set(Options.__dataclass_fields__)


@dataclass
class PatientWorld(World):
    """With `settings` that have the fields of Options."""

    settings: Any = None
    pended_ms: dict[int, int] = field(default_factory=dict)
    """Before it waits now, by row."""
    crowding: dict[int, float] = field(default_factory=dict)
    calls_ms: dict[int, int] = field(default_factory=dict)
    """When a waiting job is looked at for the time that it has waited, by row."""
    patient_until_ms: dict[int, int] = field(default_factory=dict)
    """By row, until when it gets no grant."""
    lapses: dict[int, int] = field(default_factory=dict)
    """Grants in turn that were of no use, by row."""
    overdue: list[int] = field(default_factory=list)
    """Rows of waiting jobs."""
    granted: dict[int, float] = field(default_factory=dict)
    """How long a job has run when it does not go first any more, by row."""
    none_before_ms: float = 0
    """The next grant."""
    wake_ms: float = inf
    """When there is a cycle whatever happens."""

    @property
    def dearness(self) -> float:
        return 1

    @property
    def bounds_waits(self) -> bool:
        return self.settings.patience_s > 0

    @property
    def quantum_ms(self) -> int:
        return 0

    def progress(self, life: Life) -> float:
        """For limits and grants: how long it has run."""
        return life.run_ms + self.elapsed(life)

    def goes_first(self, life: Life) -> bool:
        return life.row in self.granted

    def turn(self, key: Any) -> Any:
        """The order of waiting jobs that is otherwise by `key`."""
        return lambda life: -inf if self.goes_first(life) else key(life)

    def end_grant_if_due(self, life: Life) -> bool:
        due = life.state == "RUNNING" and self.granted.get(life.row, inf) <= self.progress(life)
        if due:
            self.end_grant(life)
        return due

    def excess(self, life: Life) -> float:
        share = self.settings.grant_share * sum(node.gpus for node in self.nodes)
        return max(1.0, life.job.gpus / share)

    def grant_ms(self, life: Life) -> int:
        whole_ms = to_ms(self.settings.grant_s)
        least_ms = min(whole_ms, math.floor(2 * cost_ms(self.rules, inf)))
        return max(1, least_ms, math.floor(whole_ms / self.excess(life)))

    def end_grant(self, life: Life) -> None:
        gone_first_ms = max(0, self.progress(life) - self.granted.pop(life.row) + self.grant_ms(life))
        self.none_before_ms = self.now + math.floor(gone_first_ms * (self.excess(life) - 1))

    # -- waits --------------------------------------------------------------------------------------------

    def next_event_ms(self) -> int | None:
        due = [at for at in (super().next_event_ms(), self.wake_ms) if at is not None and at < inf]
        return min((int(at) for at in due), default=None)

    def apply_events(self) -> None:
        super().apply_events()
        if self.wake_ms <= self.now:
            self.wake_ms = inf

    def become_pending(self, life: Life) -> None:
        if life.row not in self.crowding:
            self.crowding[life.row] = self.crowding_of(life)
        super().become_pending(life)
        self.calls_ms.pop(life.row, None)
        self.bound_wait(life)

    def crowding_of(self, life: Life) -> float:
        """Of a job that is being submitted."""
        queued = sum(other.job.gpus for other in self.having("PENDING"))
        first = next(nodes for nodes in alternatives(self.nodes, life.job) if nodes)
        node_gpus = max(self.nodes[node].gpus for node in first)
        crowd = 1.0 + queued / sum(node.gpus for node in self.nodes)
        return crowd * math.sqrt(min(1.0, node_gpus / life.job.gpus))

    def overdue_from_ms(self, life: Life) -> int:
        patience = to_ms(self.settings.patience_s) + self.settings.patience_growth * self.progress(life)
        cost = 1.0 + cost_ms(self.rules, inf) / 1_800_000
        limit = min(math.floor(patience * self.crowding[life.row] * cost * self.dearness), 2**53)
        return life.pending_since_ms + limit - self.pended_ms.get(life.row, 0)

    def bound_wait(self, life: Life) -> None:
        """It waits in its index, and is to be looked at."""
        if life.row in self.granted:
            rules = self.rules
            whole_ms = self.quantum_ms + rules.start_ms + rules.restore_ms + rules.stop_ms
            self.calls_ms[life.row] = self.now + max(60_000, 2 * whole_ms)
        elif self.bounds_waits and life.row not in self.overdue:
            self.calls_ms[life.row] = max(self.overdue_from_ms(life), self.now + 1)

    def due(self, life: Life) -> Any:
        yield from super().due(life)
        if life.state == "PENDING" and life.row in self.calls_ms:
            yield self.calls_ms[life.row]

    def apply_timer(self) -> bool:
        for life in self.having("PENDING"):
            if self.calls_ms.get(life.row, inf) <= self.now:
                del self.calls_ms[life.row]
                self.look_at(life)
                return True
        return super().apply_timer()

    def look_at(self, life: Life) -> None:
        if life.row in self.granted and not self.has_claim(life):
            self.end_grant(life)
            lapses = self.lapses.get(life.row, 0)
            self.lapses[life.row] = lapses + 1
            self.patient_until_ms[life.row] = self.now + to_ms(self.settings.grant_s) * 2 ** min(lapses, 10)
            self.overdue.append(life.row)
        if life.row not in self.granted and life.row not in self.overdue and self.overdue_from_ms(life) <= self.now:
            self.overdue.append(life.row)
        self.bound_wait(life)

    def start(self, life: Life, chosen: Any) -> None:
        super().start(life, chosen)
        self.pended_ms[life.row] = self.pended_ms.get(life.row, 0) + self.now - life.pending_since_ms
        self.patient_until_ms.pop(life.row, None)
        self.lapses.pop(life.row, None)
        self.leave_overdue(life)

    def leave_overdue(self, life: Life) -> None:
        self.overdue = [row for row in self.overdue if row != life.row]
        self.calls_ms.pop(life.row, None)

    def finish(self, life: Life) -> None:
        super().finish(life)
        if life.row in self.granted:
            self.end_grant(life)

    def cancel(self, life: Life) -> None:
        super().cancel(life)
        self.leave_overdue(life)
        if life.row in self.granted:
            self.end_grant(life)

    def grant(self) -> None:
        """The first places to the first of the overdue jobs."""
        gpus = sum(node.gpus for node in self.nodes)
        while due := [row for row in self.overdue if self.patient_until_ms.get(row, 0) <= self.now]:
            life = self.lives[due[0]]
            if self.now < self.none_before_ms:
                self.wake_ms = min(self.wake_ms, self.none_before_ms)
                return
            held = sum(self.lives[row].job.gpus for row in self.granted)
            if held > 0 and held + life.job.gpus > self.settings.grant_share * gpus:
                return
            self.leave_overdue(life)
            self.granted[life.row] = self.progress(life) + self.grant_ms(life)
            self.bound_wait(life)


@dataclass
class TurnsWorld(PatientWorld):
    """`srtf`, `las` and `tiresias`."""

    settings: Options = Options()

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.end_grant_if_due(life)

    def due(self, life: Life) -> Any:
        yield from super().due(life)
        if life.state == "RUNNING" and life.row in self.granted:
            yield self.now + int(self.granted[life.row] - self.progress(life))

    def apply_level(self) -> bool:
        return any(self.end_grant_if_due(life) for life in self.having("RUNNING")) or super().apply_level()

    def can_be_promoted(self, life: Life) -> bool:
        return super().can_be_promoted(life) and not self.goes_first(life)

    # -- what a preemption costs --------------------------------------------------------------------------

    def surcharge(self, life: Life) -> int:
        return surcharge(self.rules, self.settings.cost_weight, life.job.gpus)

    def bar_left(self, life: Life) -> float:
        """Of `srtf`: what must be left of a victim of this job."""
        more = math.floor(2 * self.settings.cost_weight * cost_ms(self.rules, inf))
        return self.remaining(life) + self.rules.margin_ms + more

    def level_as_victim(self, life: Life) -> int:
        more = self.surcharge(life)
        return sum(threshold + more <= self.attained(life) for threshold in self.rules.thresholds_gpu_ms)

    def bar_level(self, life: Life) -> int:
        """What the level of a victim of this job must exceed."""
        level, thresholds = self.level(life), self.rules.thresholds_gpu_ms
        service = (thresholds[level - 1] if level > 0 else 0) + self.surcharge(life)
        return sum(threshold <= service for threshold in thresholds)

    def demotions_ms(self, life: Life) -> list[int]:
        attained = self.attained(life) - self.surcharge(life)
        ahead = [threshold - attained for threshold in self.rules.thresholds_gpu_ms if threshold > attained]
        return [self.now + -(-gpu_ms // life.job.gpus) for gpu_ms in ahead]
