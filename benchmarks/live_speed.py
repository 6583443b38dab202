"""How fast a daemon is: ``python -m benchmarks.live_speed -o FILE``, about six minutes.

Turns, recovery and forecasts are of a daemon's own objects on a simulated cluster of 800 nodes; submissions and
commands are of a real daemon and its socket. Times are of the wall clock, on this machine's disk.
"""

import argparse
import asyncio
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

import pointsman
from benchmarks.shadow_play import Play
from pointsman.live.backends.facts import Observation
from pointsman.live.backends.shadow import Shadow
from pointsman.live.client.connection import SOCKET, call
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.records.job import Job
from pointsman.workload import Workload

CLUSTER, GPUS = "800x8", 6_400
POLICIES: Final = ("fifo-backfill", "las", "tiresias", "gittins")
PENDING: Final = 14_000
WARM, TURNS = 50, 600
LOOK_S: Final = 0.1
FEW, MANY = 960, 9_600
"""Jobs that wait as commands are timed."""
CLIENTS: Final = 16
COMMANDS: Final = (("queue",), ("show", "1"), ("nodes",), ("live", "status"))


@dataclass(frozen=True)
class Took:
    """How long something took, again and again."""

    what: str
    policy: str
    times_ms: list[float]

    def row(self) -> dict[str, Any]:
        """Its figures."""
        times = sorted(self.times_ms)
        return {
            "what": self.what,
            "policy": self.policy,
            "times": len(times),
            "median_ms": round(times[len(times) // 2], 2),
            "p99_ms": round(times[min(len(times) - 1, len(times) * 99 // 100)], 2),
            "greatest_ms": round(times[-1], 2),
        }


def took_ms(work: Callable[[], object]) -> float:
    """Of one call."""
    began_s = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began_s)


def crowded() -> Workload:
    """Jobs like Philly's: a cluster's fill and `PENDING` more at once, and then more at load 1."""
    log = pointsman.generate("philly", jobs=40_000, cluster_gpus=GPUS, load=1.0, seed=1)
    jobs = log.jobs.filter(pl.col("gpus") <= 64).sort("submit_s")
    running = int((jobs["gpus"].cum_sum() <= GPUS).sum())
    at_once = running + PENDING
    return Workload.of(
        jobs.with_columns(submit_s=(pl.col("submit_s") - jobs["submit_s"][at_once]).clip(lower_bound=0.0)),
        source="generated",
    )


class Watched(Shadow):
    """It notes how long it is looked at, which is a backend's own time."""

    looked_ms = 0.0

    def observe(self) -> Observation:
        began_s = time.perf_counter()
        found = super().observe()
        self.looked_ms += 1000 * (time.perf_counter() - began_s)
        return found


class Crowded(Play):
    """A cluster with many pending jobs, whose turns are timed."""

    def __init__(self, policy: str, folder: Path) -> None:
        super().__init__(crowded(), policy, folder, cluster=CLUSTER, shadow=Watched)
        self.turns_ms: list[float] = []

    def turn(self, jobs: list[Job]) -> None:
        """Without what the simulated cluster takes to be looked at."""
        looked_ms = self.shadow.looked_ms
        whole_ms = took_ms(lambda: super(Crowded, self).turn(jobs))
        self.turns_ms.append(whole_ms - self.shadow.looked_ms + looked_ms)

    async def play(self, turns: int) -> None:
        """So many."""
        until = len(self.turns_ms) + turns

        async def enough() -> bool:
            return len(self.turns_ms) >= until

        await self.run(enough)


async def foretell(crowd: Crowded, times: int) -> list[float]:
    """When pending jobs start, in another process; meanwhile there are turns, as often as a daemon looks."""
    forecaster, took = Forecaster(crowd.daemon), []
    for _ in range(times):
        began_s = time.perf_counter()
        forecast = asyncio.ensure_future(forecaster.foretell())
        while not forecast.done():
            await asyncio.sleep(LOOK_S)
            await crowd.play(1)
        took.append(1000 * (time.perf_counter() - began_s))
    forecaster.close()
    return took


async def turns(policy: str, folder: Path) -> list[Took]:
    """Of a crowded cluster, alone and beside forecasts; then another daemon takes over three times."""
    crowd = Crowded(policy, folder)
    await crowd.play(WARM)
    crowd.turns_ms.clear()
    await crowd.play(TURNS)
    alone_ms, crowd.turns_ms = crowd.turns_ms, []
    foretold_ms = await foretell(crowd, 3)
    loop = crowd.daemon.loop
    print(f"{policy}: {len(loop.jobs) - len(loop.attempts)} pending, {len(loop.attempts)} with GPUs", file=sys.stderr)
    recovered_ms = [took_ms(crowd.begin_again) for _ in range(3)]
    crowd.daemon.close()
    return [
        Took("turn", policy, alone_ms), Took("turn beside a forecast", policy, crowd.turns_ms),
        Took("forecast", policy, foretold_ms), Took("recovery", policy, recovered_ms),
    ]  # fmt: skip


def submit(jobs: int) -> Iterator[Took]:
    """To a real daemon, from several clients at once; each is answered once its job is on disk."""
    body = {"command": ["true"], "hold": True}
    with ThreadPoolExecutor(CLIENTS) as clients:
        began_s = time.perf_counter()
        answers = [*clients.map(lambda _: took_ms(lambda: call("POST", "/jobs", body)), range(jobs))]
        each_ms = 1000 * (time.perf_counter() - began_s) / jobs
    yield Took(f"submission, one of {jobs:,}, answered", "", answers)
    yield Took(f"submission, one of {jobs:,}", "", [each_ms])


def commands(jobs: int) -> Iterator[Took]:
    """Of users, by a real daemon with so many pending jobs."""
    for words in COMMANDS:
        command = [sys.executable, "-m", "pointsman", *words]
        times_ms = [took_ms(partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)) for _ in range(10)]
        yield Took(f"{' '.join(words)}, {jobs:,} jobs", "", times_ms)


def real(folder: Path) -> list[Took]:
    """Submissions and commands."""
    place = folder / "s" / "api.sock"
    os.environ[SOCKET] = str(place)
    words = ["--cluster", CLUSTER, "--state", str(folder / "state"), "--socket", str(place)]
    daemon = subprocess.Popen([sys.executable, "-m", "pointsman", "live", "start", *words], stdout=subprocess.DEVNULL)
    try:
        while not place.exists():
            time.sleep(0.1)
        time.sleep(1.0)
        return [*submit(FEW), *commands(FEW), *submit(MANY - FEW), *commands(MANY)]
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)


def main() -> None:
    """Write a row for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", type=Path, default=Path("docs/results/data/live-speed.csv"))
    parser.add_argument("--policy", action="append")
    options = parser.parse_args()
    found: list[Took] = []
    for policy in options.policy or POLICIES:
        with tempfile.TemporaryDirectory() as folder:
            found += asyncio.run(turns(policy, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        found += real(Path(folder))
    rows = [took.row() for took in found]
    with options.o.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
