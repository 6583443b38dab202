"""What jobs on a node did to each other in a recorded run: read off the plan log and the log of speeds, which a real
cluster has, too, and never off what models are known to take of a node.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import exp, log
from typing import Any, Final, NamedTuple

import polars as pl

from pointsman.speed.interference.learned.combinations import Combination, Server, others_of

GIVES: Final = ("START", "RESIZE")
ENDS: Final = ("FINISH", "PREEMPT", "STOPPED", "FAIL", "CANCEL", "START_FAILED", "NODE_DOWN", "TIMEOUT")
PAUSES: Final = ("REBATCH",)
"""A job with GPUs runs on when its next speed is logged."""
SPEED: Final = "speed"

Place = Mapping[int, int]
"""The GPUs of each node, a bit each."""


class Recorded(NamedTuple):
    """The part of a run directory that counts here."""

    events: pl.DataFrame
    """``time_ms, seq, kind, row, node, gpu_mask``"""
    speeds: pl.DataFrame
    """``time_ms, row, computing_slowdown``"""
    models: Sequence[str | None]
    """By row of the job; None of one that is not known, or has a fraction of a GPU."""
    servers: Sequence[Server]
    """By node."""


@dataclass
class Seen:
    """How long a combination was seen, and how slow."""

    hours: float = 0.0
    log_hours: float = 0.0
    least: float = float("inf")
    most: float = 0.0

    def add(self, slow_down: float, hours: float) -> None:
        """It was so slow for so long."""
        self.hours += hours
        self.log_hours += hours * log(slow_down)
        self.least, self.most = min(self.least, slow_down), max(self.most, slow_down)

    @property
    def slow_down(self) -> float:
        """The geometric mean over the time; exactly what was seen, if that was always the same."""
        return self.least if self.least == self.most else exp(self.log_hours / self.hours)


Observations = dict[tuple[Server, Combination], Seen]


@dataclass
class _Replay:
    """The run up to an instant."""

    run: Recorded
    found: Observations
    placed: dict[int, Place] = field(default_factory=dict)
    running: dict[int, float] = field(default_factory=dict)
    """Slow-down by row."""
    on_node: dict[int, set[int]] = field(default_factory=dict)
    """Rows that run there."""
    open: dict[int, tuple[int, tuple[Server, Combination], float]] = field(default_factory=dict)
    """By row of the job: since when, what, and how slow."""
    changed: set[int] = field(default_factory=set)
    """Nodes, in this instant."""

    def halt(self, row: int) -> None:
        """The job runs no more."""
        if row in self.running:
            del self.running[row]
            for node in self.placed[row]:
                self.on_node[node].discard(row)
            self.changed.update(self.placed[row])

    def go_on(self, row: int, slow_down: float) -> None:
        """The job runs at this speed from now on."""
        if row in self.placed:  # else it was stopped in the instant in which it began
            self.running[row] = slow_down
            for node in self.placed[row]:
                self.on_node.setdefault(node, set()).add(row)
            self.changed.update(self.placed[row])

    def note(self, now_ms: int) -> None:
        """What has been seen up to now on the nodes that have changed, and what is seen there from now on."""
        rows = {row for node in self.changed for row in self.on_node.get(node, ())}
        ended = [row for row in self.open if row not in self.running]
        for row in sorted(rows.union(ended)):
            self.close(row, now_ms)
        for row in sorted(rows):
            key = self._combination(row)
            if key is not None:
                self.open[row] = (now_ms, key, self.running[row])
        self.changed.clear()

    def close(self, row: int, now_ms: int) -> None:
        """What this job saw ends now."""
        if row in self.open:
            since_ms, key, slow_down = self.open.pop(row)
            if now_ms > since_ms:
                self.found.setdefault(key, Seen()).add(slow_down, (now_ms - since_ms) / 3.6e6)

    def _combination(self, row: int) -> tuple[Server, Combination] | None:
        """None where it cannot be told: a gang on several nodes, shared GPUs, or a job of no known model there."""
        place, models = self.placed[row], self.run.models
        (node, mask), *more = place.items()
        others = sorted(self.on_node[node] - {row})
        own = models[row]
        if more or own is None:
            return None
        beside, taken = [], mask
        for other in others:
            model, theirs = models[other], self.placed[other][node]
            if model is None or taken & theirs:
                return None
            taken |= theirs
            beside.append((model, theirs.bit_count()))
        return self.run.servers[node], Combination(own, mask.bit_count(), others_of(beside))


def observe(run: Recorded, found: Observations) -> None:
    """Add what jobs on one node each did to each other in a run: combinations, and how slow they were for how long.

    The slow-down is that of computing, as logged: over the job's computing as its duration has it. Gangs on several
    nodes are as slow as their worst node, which the log does not tell, so they count as others only.
    """
    replay, now_ms = _Replay(run, found), 0
    for time_ms, steps in groupby(_steps(run), key=lambda step: step[0]):
        now_ms = time_ms
        for _, kind, row, what in steps:
            if kind == SPEED:
                replay.go_on(row, what)
                continue
            replay.halt(row)
            if kind in GIVES:
                replay.placed[row] = what
            elif kind in ENDS:
                replay.placed.pop(row, None)
        replay.note(now_ms)
    for row in sorted(replay.open):
        replay.close(row, now_ms)


def _steps(run: Recorded) -> list[tuple[int, str, int, Any]]:
    """Events of jobs in order, with the places that they give; of an instant, speeds after all of them."""
    kinds = [*GIVES, *ENDS, *PAUSES]
    events = run.events.with_columns(pl.col("kind").cast(pl.String)).filter(
        pl.col("kind").is_in(kinds), pl.col("row") >= 0
    )
    told: list[tuple[int, int, str, int, Any]] = []
    columns = events.select("time_ms", "seq", "kind", "row", "node", "gpu_mask").rows()
    for (time_ms, seq, kind, row), parts in groupby(columns, key=lambda event: event[:4]):
        place = {node: mask & (1 << 64) - 1 for *_, node, mask in parts if mask}
        told.append((time_ms, seq, kind, row, place))
    last = 1 << 62
    speeds = run.speeds.select("time_ms", "row", "computing_slowdown").rows()
    told += [(time_ms, last, SPEED, row, slow_down) for time_ms, row, slow_down in speeds]
    return [(time_ms, kind, row, what) for time_ms, _, kind, row, what in sorted(told, key=lambda step: step[:2])]
