"""Section 7, `dally` and `gittins`: jobs that have waited longer than their limits go first."""

import math
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .dally import DallyWorld
from .model import Place
from .network import NETWORK
from .placement import alternatives
from .world import Life, to_ms


@dataclass
class PatientWorld(DallyWorld):
    pended_ms: dict[int, int] = field(default_factory=dict)
    """Before it waits now, by row."""
    crowding: dict[int, float] = field(default_factory=dict)
    calls_ms: dict[int, int] = field(default_factory=dict)
    """When a waiting job is looked at for the time that it has waited, by row."""
    patient_until_ms: dict[int, int] = field(default_factory=dict)
    """By row."""
    overdue: list[int] = field(default_factory=list)
    """Rows of waiting jobs."""
    granted: dict[int, float] = field(default_factory=dict)
    """Work until which a job goes first, by row."""

    def before_cycle(self) -> None:
        self.grant()

    @property
    def dearness(self) -> float:
        return 1

    def cost_ms(self, done: float) -> float:
        """Of a preemption, for each GPU."""
        rules = self.rules
        lost_ms = rules.lost_ms + (rules.checkpoint_every_ms / 2 if rules.loses_since_checkpoint else 0)
        return min(lost_ms, done) + rules.stop_ms + rules.start_ms + rules.restore_ms

    # -- in which order -----------------------------------------------------------------------------------

    def order_of(self, life: Life) -> float:
        return -inf if life.row in self.granted else super().order_of(life)

    def bar_of(self, life: Life) -> float:
        return -inf if life.row in self.granted else super().bar_of(life)

    def key_of(self, victim: Life) -> float:
        return -inf if victim.row in self.granted else super().key_of(victim)

    def sink(self, life: Life) -> None:
        self.end_grant_if_due(life)
        super().sink(life)

    def end_grant_if_due(self, life: Life) -> None:
        if life.state == "RUNNING" and self.granted.get(life.row, inf) <= self.work_done(life):
            del self.granted[life.row]
            self.changed = True

    def count_sinks(self, life: Life) -> None:
        super().count_sinks(life)
        if life.row in self.granted:
            grant_ends_ms = self.now + math.ceil((self.granted[life.row] - self.work_done(life)) / life.rate)
            self.of(life).sinks_ms = min(self.of(life).sinks_ms, grant_ends_ms)

    # -- waits --------------------------------------------------------------------------------------------

    def become_pending(self, life: Life) -> None:
        if life.row not in self.crowding:
            self.crowding[life.row] = self.crowding_of(life)
        super().become_pending(life)

    @property
    def bounds_waits(self) -> bool:
        return self.settings.patience_s > 0 and self.settings.preempts

    def crowding_of(self, life: Life) -> float:
        """Of a job that is being submitted."""
        queued = sum(other.job.gpus for other in self.having("PENDING"))
        first = next(nodes for nodes in alternatives(self.nodes, life.job) if nodes)
        node_gpus = max(self.nodes[node].gpus for node in first)
        crowd = 1.0 + queued / sum(node.gpus for node in self.nodes)
        return crowd * math.sqrt(min(1.0, node_gpus / life.job.gpus))

    def overdue_from_ms(self, life: Life) -> int:
        patience = to_ms(self.settings.patience_s) + self.settings.patience_growth * life.done
        cost = 1.0 + self.cost_ms(inf) / 1_800_000
        limit = min(math.floor(patience * self.crowding[life.row] * cost * self.dearness), 2**53)
        waited_ms = life.pending_since_ms + limit - self.pended_ms.get(life.row, 0)
        return max(self.patient_until_ms.get(life.row, 0), waited_ms)

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.sink(life)
        self.count_sinks(life)

    def goes_first(self, life: Life) -> bool:
        return life.row in self.granted

    def bound_wait(self, life: Life) -> None:
        """It waits in its index, and is to be looked at."""
        if life.row in self.granted:
            self.of(life).accepts = NETWORK
            rules = self.rules
            whole_ms = to_ms(self.settings.quantum_s) + rules.start_ms + rules.restore_ms + rules.stop_ms
            self.calls_ms[life.row] = self.now + max(60_000, 2 * whole_ms)
        elif self.bounds_waits and life.row not in self.overdue:
            self.calls_ms[life.row] = max(self.overdue_from_ms(life), self.now + 1)

    def begin_to_wait(self, life: Life) -> None:
        self.calls_ms.pop(life.row, None)
        super().begin_to_wait(life)
        self.bound_wait(life)

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
            del self.granted[life.row]
            self.patient_until_ms[life.row] = self.now + to_ms(self.settings.grant_s)
        if life.row not in self.granted and self.overdue_from_ms(life) <= self.now:
            self.overdue.append(life.row)
        self.bound_wait(life)

    def start(self, life: Life, chosen: Place) -> None:
        super().start(life, chosen)
        self.pended_ms[life.row] = self.pended_ms.get(life.row, 0) + self.now - life.pending_since_ms
        self.leave_overdue(life)

    def leave_overdue(self, life: Life) -> None:
        self.overdue = [row for row in self.overdue if row != life.row]
        self.calls_ms.pop(life.row, None)

    def finish(self, life: Life) -> None:
        super().finish(life)
        self.granted.pop(life.row, None)

    def cancel(self, life: Life) -> None:
        super().cancel(life)
        self.leave_overdue(life)
        self.granted.pop(life.row, None)

    def grant(self) -> None:
        """The first places to the first of the overdue jobs."""
        gpus = sum(node.gpus for node in self.nodes)
        while self.overdue:
            life = self.lives[self.overdue[0]]
            held = sum(self.lives[row].job.gpus for row in self.granted)
            if held > 0 and held + life.job.gpus > self.settings.grant_share * gpus:
                return
            self.leave_overdue(life)
            self.granted[life.row] = life.done + to_ms(self.settings.grant_s)
            self.bound_wait(life)
