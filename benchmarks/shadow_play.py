"""A log that is run by a real daemon on a simulated cluster, as fast as it goes."""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.setup.overheads import load_overheads
from pointsman.live.backends.shadow import Delays, Program, Shadow, always
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.setting import Setting
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.types import NEVER_MS
from pointsman.workload import Workload, read_workload
from pointsman.workload.transforms.rescale import at_load

LOAD: Final = 1.0
BUSIER: Final = 1.3
CLUSTER, GPUS, WIDEST = "32x8", 256, 64


class SteppedClock:
    """It shows what it is set to."""

    at_ms = 0

    def now_ms(self) -> int:
        return self.at_ms

    def unix_ms(self, at_ms: int) -> int:
        return at_ms


class Logged(Mapping[int, Program]):
    """Jobs of a log do what it says; the first is 1."""

    def __init__(self, durations_s: list[float]) -> None:
        self._durations_s = durations_s

    def __getitem__(self, job: int) -> Program:
        return Program(1000.0 * self._durations_s[job - 1])

    def __len__(self) -> int:
        return len(self._durations_s)

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))


def logs(data: Path, jobs: int) -> Iterator[tuple[str, Workload]]:
    """Two clusters of ITP's log, Philly's, and a log like Helios': this many jobs of each, from its middle on."""
    for name in ("cluster01", "cluster10"):
        log = read_workload(data / "traces" / "ms_itp_2021.csv.gz", only={"vc": name})
        yield f"itp {name}", _fitted(log, jobs)
    yield "philly", _fitted(read_workload(data / "traces" / "philly_2017.csv.gz"), jobs)
    yield "helios-like", _fitted(pointsman.generate("helios", jobs=jobs, cluster_gpus=GPUS, load=LOAD, seed=1), jobs)


def busier_logs(data: Path, jobs: int) -> Iterator[tuple[str, Workload]]:
    """Logs on which nothing was tuned, with more load than the cluster can take."""
    itp = read_workload(data / "traces" / "ms_itp_2021.csv.gz", only={"vc": "cluster05"})
    yield f"itp cluster05, load {BUSIER}", _fitted(itp, jobs, BUSIER)
    yield f"philly, load {BUSIER}", _fitted(read_workload(data / "traces" / "philly_2017.csv.gz"), jobs, BUSIER)
    like_helios = pointsman.generate("helios", jobs=jobs, cluster_gpus=GPUS, load=BUSIER, seed=2)
    yield f"helios-like, load {BUSIER}", _fitted(like_helios, jobs, BUSIER)


def _fitted(log: Workload, jobs: int, load: float = LOAD) -> Workload:
    fitting = log.jobs.filter(log.jobs["gpus"] <= WIDEST).sort("submit_s")
    middle = fitting.slice(max(0, fitting.height // 2 - jobs // 2), jobs)
    return at_load(Workload.of(middle, source="a log"), GPUS, load)


class Play:
    """A log on a daemon."""

    def __init__(
        self,
        log: Workload,
        policy: str,
        folder: Path,
        delays: Delays | None = None,
        cluster: str = CLUSTER,
        shadow: Callable[..., Any] = Shadow,
    ) -> None:
        self.rows = log.jobs.sort("submit_s").to_dicts()
        costs = load_overheads("realistic").stated()
        assumed = Delays(*(always(round(1000 * float(costs[f"{name}_s"]))) for name in ("start", "restore", "stop")))
        self.clock = SteppedClock()

        self.shadow = shadow(load_cluster(cluster), Logged([row["duration_s"] for row in self.rows]), delays or assumed)
        backend, clock = (lambda *_: self.shadow), (lambda *_: self.clock)
        self.setting = Setting(folder, cluster, policy, backend=backend, clock=clock)  # ty: ignore
        self.daemon = Daemon(self.setting)
        self.users: dict[str, int] = {}
        self.submitted = 0

    def _job(self, row: dict[str, Any]) -> Job:
        roster, user = self.daemon.roster, row["user"] or ""
        kind = Kind(gpus=row["gpus"], user=user)
        number = roster.admit(kind)
        uid = self.users.setdefault(user, len(self.users))
        return Job(roster.ask(number), kind, number, name="job", requeues=True, uid=uid)

    def _due(self) -> list[Job]:
        jobs = []
        while self.submitted < len(self.rows) and 1000 * self.rows[self.submitted]["submit_s"] <= self.clock.at_ms:
            jobs.append(self._job(self.rows[self.submitted]))
            self.submitted += 1
        return jobs

    def _next_ms(self) -> int:
        loop = self.daemon.loop
        left = self.submitted < len(self.rows)
        submit_ms = math.ceil(1000 * self.rows[self.submitted]["submit_s"]) if left else NEVER_MS
        return min(submit_ms, self.shadow.next_ms(), loop.due_ms)

    def begin_again(self) -> None:
        """As after a death of the daemon: another takes over."""
        self.daemon.close()
        self.daemon = Daemon(self.setting)

    def turn(self, jobs: list[Job]) -> None:
        """All that has happened by now; these jobs are submitted."""
        if len(self.daemon.roster.numbers) > len(self.daemon.loop.world.prepared.trace):
            self.daemon.grow()
        self.daemon.loop.turn(self.clock.at_ms, jobs)

    async def run(self, after_turn: Callable[[], Awaitable[object]] | None = None) -> None:
        """To the end of the log, or until `after_turn` answers True."""
        while (at_ms := self._next_ms()) < NEVER_MS:
            self.clock.at_ms = max(self.clock.at_ms, at_ms)
            self.shadow.step(self.clock.at_ms)
            self.turn(self._due())
            if after_turn is not None and await after_turn() is True:
                return
