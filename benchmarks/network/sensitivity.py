"""Part 3: timers that are wrong, and other parameters of Dally."""

from dataclasses import replace

from benchmarks.network.cells import BASE, VARIANTS, Entry
from benchmarks.network.dally import Found
from benchmarks.network.runs import measure
from benchmarks.network.scope import Scope
from benchmarks.network.tables import against
from pointsman.policies.dally.dally import Dally

DEFAULT = Dally()
CONSOLIDATED, NOWAIT, MANUAL, _ = VARIANTS


def _manual(factor: float) -> Entry:
    timers = {name: factor * getattr(DEFAULT, name) for name in ("node_timer_s", "rack_timer_s")}
    return Entry(f"manual × {factor:g}", "dally-manual", timers)


TIMERS = (BASE, NOWAIT, _manual(0.1), _manual(1), _manual(10), CONSOLIDATED)
KNOBS = (
    BASE,
    *(Entry(f"deviations = {value:g}", "dally", {"deviations": value}) for value in (0.0, 2.0)),
    *(Entry(f"epsilon = {value:g}", "dally", {"epsilon": value}) for value in (0.02, 0.1)),
    *(Entry(f"quantum = {value // 60} min", "dally", {"quantum_s": value}) for value in (300, 7200)),
)


def sensitivity(scope: Scope) -> Found:
    """What other timers and other parameters do."""
    opened = [cell for cell in scope.over_sizes() if cell.gpus == scope.gpus]
    cells = [each for cell in opened for each in (cell, replace(cell, load=None))]
    timers = measure("timers", cells, TIMERS, scope.seeds, scope.data)
    knobs = measure("knobs", cells, KNOBS, scope.seeds, scope.data)
    labels, others = ([entry.label for entry in entries[1:]] for entries in (TIMERS, KNOBS))
    tables = {
        "timers": against(timers, "jct_s", labels),
        "timers-communication": against(timers, "comm_s", labels),
        "knobs": against(knobs, "jct_s", others),
        "knobs-communication": against(knobs, "comm_s", others),
    }
    return tables, []
