"""Section 7, `dally` and `gittins`: jobs that have waited longer than their limits go first."""

from dataclasses import dataclass
from math import inf
from typing import Any

from .dally import DallyWorld
from .network import NETWORK
from .waiting import PatientWorld
from .world import Life, to_ms


@dataclass
class PatientDallyWorld(PatientWorld, DallyWorld):
    settings: Any = None

    def before_cycle(self) -> None:
        self.grant()

    @property
    def bounds_waits(self) -> bool:
        return super().bounds_waits and self.settings.preempts

    @property
    def quantum_ms(self) -> int:
        return to_ms(self.settings.quantum_s)

    # -- in which order -----------------------------------------------------------------------------------

    def order_of(self, life: Life) -> float:
        return -inf if life.row in self.granted else super().order_of(life)

    def bar_of(self, life: Life) -> float:
        return -inf if life.row in self.granted else super().bar_of(life)

    def key_of(self, victim: Life) -> float:
        return -inf if victim.row in self.granted else super().key_of(victim)

    def sink(self, life: Life) -> None:
        self.changed |= self.end_grant_if_due(life)
        super().sink(life)

    def count_sinks(self, life: Life) -> None:
        super().count_sinks(life)
        if life.row in self.granted:
            grant_ends_ms = self.now + self.granted[life.row] - self.progress(life)
            self.of(life).sinks_ms = min(self.of(life).sinks_ms, grant_ends_ms)

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.sink(life)
        self.count_sinks(life)

    # -- waits --------------------------------------------------------------------------------------------

    def begin_to_wait(self, life: Life) -> None:
        self.calls_ms.pop(life.row, None)
        super().begin_to_wait(life)
        self.bound_wait(life)

    def bound_wait(self, life: Life) -> None:
        if life.row in self.granted:
            self.of(life).accepts = NETWORK
        super().bound_wait(life)
