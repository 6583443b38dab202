"""How fast a daemon is: ``python -m benchmarks.live_speed [--policy NAME]``; a row for each figure, as CSV.

Turns and recovery: 12,500 jobs on a simulated cluster of 800 nodes of 8 GPUs, every turn kept on this disk. Submissions
and `queue`: a real daemon, asked by eight threads and by the command.
"""

import argparse
import asyncio
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, Final

import polars as pl

from benchmarks.shadow_play import Play
from benchmarks.workloads import mixture
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.workload import Workload

JOBS, LEAST_PENDING, TURNS = 12_500, 10_000, 2_000
CLUSTER: Final = "800x8"
SUBMISSIONS, THREADS, ASKED = 3_000, 8, 7


class Enough(Exception):
    """So many turns were measured."""


def _at_once() -> Workload:
    """Jobs that all come in the first second."""
    jobs = mixture(JOBS, 6_400, 1.0).jobs.with_columns(submit_s=pl.lit(0.0), user=pl.lit("ann"))
    return Workload.of(jobs, source="a mixture")


def turns(policy: str, folder: Path) -> dict[str, float]:
    """Times of turns with at least `LEAST_PENDING` pending jobs, and of the start of another daemon after that."""
    play = Play(_at_once(), policy, folder, cluster=CLUSTER)
    times_s: list[float] = []
    turn = play.daemon.loop.turn

    def timed(*arguments: Any) -> list[int]:
        began_s = time.perf_counter()
        found = turn(*arguments)
        loop = play.daemon.loop
        if len(loop.jobs) - len(loop.attempts) >= LEAST_PENDING:
            times_s.append(time.perf_counter() - began_s)
        return found

    async def after_turn() -> None:
        if len(times_s) > TURNS:
            raise Enough

    play.daemon.loop.turn = timed  # ty: ignore
    _until_enough(play, after_turn)
    ordered = sorted(times_s[1:])  # the first is that in which all come
    copied_s, foretold_s = _foretelling(play)
    play.daemon.close()
    began_s = time.perf_counter()
    again = Daemon(play.daemon.setting)
    recovered_s = time.perf_counter() - began_s
    pending = len(again.loop.jobs) - len(again.loop.attempts)
    again.close()
    names = {"turn_median_ms": median(ordered), "turn_p99_ms": ordered[round(0.99 * len(ordered)) - 1]}
    return {
        **{name: 1000 * value for name, value in names.items()},
        "turn_max_ms": 1000 * ordered[-1],
        "copy_ms": 1000 * copied_s,
        "forecast_s": foretold_s,
        "recovery_s": recovered_s,
        "pending": pending,
    }


def _foretelling(play: Play) -> tuple[float, float]:
    """Seconds that a copy of the world and a whole forecast take."""
    began_s = time.perf_counter()
    play.daemon.loop.world.copy()
    copied_s = time.perf_counter() - began_s
    forecaster = Forecaster(play.daemon)
    asyncio.run(forecaster.foretell())
    forecaster.close()
    return copied_s, time.perf_counter() - began_s - copied_s


def _until_enough(play: Play, after_turn: Callable[[], Awaitable[None]]) -> None:
    with suppress(Enough):
        asyncio.run(play.run(after_turn))


def answers(folder: Path) -> dict[str, float]:
    """Submissions a second that are acknowledged, and seconds of `pointsman queue` after them."""
    socket = folder / "s"
    os.environ["POINTSMAN_SOCKET"] = str(socket)
    command = [sys.executable, "-m", "pointsman"]
    places = ["--state", str(folder / "state"), "--socket", str(socket)]
    daemon = subprocess.Popen([*command, "live", "start", "--cluster", CLUSTER, *places])
    try:
        while subprocess.run([*command, "queue"], capture_output=True).returncode:
            time.sleep(0.2)
        began_s = time.perf_counter()
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(_submit, range(SUBMISSIONS)))
        rate = SUBMISSIONS / (time.perf_counter() - began_s)
        return {"submissions_per_s": rate, "queue_s": median(_asked([*command, "queue"]) for _ in range(ASKED))}
    finally:
        daemon.terminate()
        daemon.wait()


def _submit(_: int) -> None:
    from pointsman.live.client.connection import call

    call("POST", "/jobs", {"command": ["true"], "hold": True})


def _asked(command: list[str]) -> float:
    began_s = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began_s


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="gittins")
    policy = parser.parse_args().policy
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["figure", "value"])
    for measure in (lambda place: turns(policy, place), answers):
        with tempfile.TemporaryDirectory() as folder:
            for name, value in measure(Path(folder)).items():
                writer.writerow([name, f"{value:.4g}"])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
