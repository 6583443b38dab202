"""A cluster on which another scheduler decides, played from a simulation of it, and what observes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pointsman.api import open_simulation
from pointsman.live.control.recovery import recovered
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.observe.loop import ObservingLoop
from pointsman.live.observe.sight import Run, SeenJob, Sight
from pointsman.live.records.store import Store
from pointsman.live.world.kind import Kind
from pointsman.live.world.plan import actions_of
from pointsman.live.world.roster import Deciding, Roster
from pointsman.types import Event, JobState, NodeState, Verb

from .toy import Case

BEGAN_UNIX_MS = 1_764_000_000_000


class Life(NamedTuple):
    """What happened to a job; times are ms."""

    submit_ms: int
    runs: list[Run]
    end_ms: int


def lives_of(case: Case) -> list[Life]:
    """Of all jobs of a case, as `simulate` has it."""
    simulation, _ = open_simulation(*case._whole(case.policy()))
    simulation.run()
    log, names = simulation.log(), case.prepared.layout.node_names
    ends = {int(row["row"]): int(row["time"]) for row in log[log["kind"] == Event.FINISH]}
    runs: dict[int, list[Run]] = {}
    for action in actions_of(log):
        mine = runs.setdefault(action.row, [])
        if action.verb == Verb.START:
            gpus = tuple((names[node], mask.bit_count()) for node, mask in action.parts)
            mine.append(Run(action.at_ms, gpus))
        else:
            mine[-1] = mine[-1]._replace(end_unix_ms=action.at_ms)
    submits = case.prepared.trace["submit"].tolist()
    return [Life(submit, runs[row], ends[row]) for row, submit in enumerate(submits)]


class Played:
    """What looks at it."""

    title = "Slurm"

    def __init__(self, case: Case) -> None:
        self.lives, self.now_ms, self.last_ms = lives_of(case), 0, -1
        self.kinds = [Kind(*(row[name] for name in Kind._fields)) for row in _rows(case)]
        self.held: dict[int, tuple[int, int]] = {}
        """By job, from when until when it is held."""
        self.nodes = dict.fromkeys(case.prepared.layout.node_names, NodeState.UP)

    def instants(self) -> list[int]:
        """When something happens."""
        times = {time for life in self.lives for time in (life.submit_ms, life.end_ms)}
        times |= {time for life in self.lives for run in life.runs for time in run[::2] if time is not None}
        return sorted(times)

    def latest(self) -> Sight | None:
        if self.now_ms == self.last_ms:
            return None
        jobs = [self._seen(row, life) for row, life in enumerate(self.lives) if self._is_shown(life)]
        self.last_ms = self.now_ms
        return Sight({job.key: job for job in jobs}, dict(self.nodes), BEGAN_UNIX_MS + self.now_ms)

    def _is_shown(self, life: Life) -> bool:
        return life.submit_ms <= self.now_ms and life.end_ms > self.last_ms

    def _seen(self, row: int, life: Life) -> SeenJob:
        begun = [run for run in life.runs if run.begin_unix_ms <= self.now_ms]
        last, ended = begun[-1] if begun else None, life.end_ms <= self.now_ms
        if last is not None:
            end_ms = life.end_ms if ended else last.end_unix_ms
            over = end_ms is not None and end_ms <= self.now_ms
            end_ms = BEGAN_UNIX_MS + end_ms if over else None  # ty: ignore
            last = Run(BEGAN_UNIX_MS + last.begin_unix_ms, last.gpus, end_ms, len(begun) - 1)
        return SeenJob(
            f"{row}@{life.submit_ms}",
            str(8000 + row),
            BEGAN_UNIX_MS + life.submit_ms,
            self.kinds[row],
            uid=1000,
            name=f"train{row % 3}",
            requeues=True,
            held="JobHeldUser" if row in self.held and self.held[row][0] <= self.now_ms < self.held[row][1] else "",
            run=last,
            ended=JobState.COMPLETED if ended else None,
            end_unix_ms=BEGAN_UNIX_MS + life.end_ms if ended else None,
        )


def _rows(case: Case) -> Iterator[dict[str, Any]]:
    for row in case.prepared.jobs.iter_rows(named=True):
        yield {name: row.get(name) for name in Kind._fields}


class Observed:
    """A daemon's loop that looks at what is played."""

    def __init__(self, played: Played, case: Case, policy: str, path: Path) -> None:
        self.played, self.path, self.cluster = played, path, case.cluster
        self.deciding = Deciding(policy, {}, {"overheads": "none"}, observes="fifo-backfill")
        self.names = case.prepared.layout.node_names
        self.loop = self.begin()

    def begin(self) -> ObservingLoop:
        self.store = Store(self.path)
        self.store.connection.execute("PRAGMA synchronous = OFF")
        self.roster = Roster(self.cluster, self.deciding, self.store.kinds() or [Kind()])
        world = self.roster.first(self.store.kinds_at_checkpoint() or 1).world()
        loop = recovered(world, self.store, self.played, self.names, self.roster, ObservingLoop)  # ty: ignore
        assert isinstance(loop, ObservingLoop)
        loop.owner = self
        return loop

    def grow(self) -> None:
        Daemon.grow(self)  # ty: ignore

    def _go_on_by(self, roster: Roster, settings: Any) -> None:
        Daemon._go_on_by(self, roster, settings)  # ty: ignore

    @property
    def clock(self) -> Any:
        return self

    def now_ms(self) -> int:
        return self.played.now_ms

    def die(self) -> None:
        self.loop.store.close()
        self.loop = self.begin()

    def look(self, now_ms: int) -> None:
        self.played.now_ms = now_ms
        self.loop.turn(now_ms)

    def decisions(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self.store.connection.execute("SELECT * FROM decisions ORDER BY seq")]

    def starts(self) -> list[tuple[int, int]]:
        """(job, ms) of all starts in the book."""
        rows = self.store.connection.execute("SELECT job, started_ms FROM attempts ORDER BY started_ms, job")
        return [tuple(row) for row in rows]
