"""A daemon beside a real Slurm, whose turns are timed: ``python -m benchmarks.slurm_daemon FILE live start ...``."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

from tests.live.slurm_cluster import SlurmCluster

_LAST: Final = "SELECT ifnull(max(seq), 0) FROM decisions"
_NEW: Final = "SELECT at_ms FROM decisions WHERE seq > ? AND job IS NOT NULL"
Figures = dict[str, Any]
Row = tuple[str, float]


@contextmanager
def timed_daemon(slurm: SlurmCluster, folder: Path, *options: str) -> Iterator[int]:
    """The process id of a daemon that keeps all in `folder`, and how long its turns took in ``turns.csv`` there."""
    command = [sys.executable, "-m", "benchmarks.slurm_daemon", str(folder / "turns.csv"), "live", "start"]
    places = ("--backend", "slurm", "--state", str(folder / "state"), "--socket", str(folder / "s"))
    more = {"PATH": slurm.path, "SLURM_CONF": slurm.environment["SLURM_CONF"]}
    daemon = subprocess.Popen([*command, *places, *options], env={**os.environ, **more})
    try:
        while not (folder / "s").exists():
            assert daemon.poll() is None, "the daemon has ended"
            time.sleep(0.2)
        yield daemon.pid
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(120)


def of_turns(path: Path) -> Figures:
    """How long turns took, and their parts, or how late starts were noted."""
    rows = [(name, float(ms)) for name, ms in csv.reader(path.open())]
    found: Figures = {"turns": sum(name == "turn" for name, _ in rows)}
    for what in dict.fromkeys(name for name, _ in rows):
        times = quantiles([ms for name, ms in rows if name == what], n=100, method="inclusive")
        found |= {f"{what} median, ms": times[49], f"{what} p99, ms": times[98]}
    return found


def main(path: Path, words: list[str]) -> int:
    """A daemon that writes down how long each turn took in which something was seen. If it observes, also how late
    starts are noted then; if it acts, also how long it looked, and how long it had Slurm start and stop jobs.
    """
    from pointsman.cli.run import run

    rows: list[Row] = []
    _time_acting(rows) if "--act" in words else _time_observing(rows)
    code = run(words)
    with path.open("w") as file:
        csv.writer(file).writerows(rows)
    return code


def _time_observing(rows: list[Row]) -> None:
    from pointsman.live.daemon.observing import ObservingDaemon

    turn = ObservingDaemon.turn

    def turn_timed(daemon: Any) -> None:
        last = daemon.store.connection.execute(_LAST).fetchone()[0]
        seen_ms, begun_s = daemon.loop.world.now_ms, time.perf_counter()
        turn(daemon)
        if daemon.loop.world.now_ms > seen_ms:
            rows.append(("turn", 1000 * (time.perf_counter() - begun_s)))
            noted = daemon.store.connection.execute(_NEW, (last,))
            rows.extend(("lag", daemon.clock.now_ms() - at_ms) for (at_ms,) in noted)

    ObservingDaemon.turn = turn_timed


def _time_acting(rows: list[Row]) -> None:
    from pointsman.live.backends.slurm.acting import SlurmBackend
    from pointsman.live.daemon.slurm.acting import ActingDaemon, ActingLoop

    parts: dict[str, float] = {}

    def timed(name: str, work: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def work_timed(self: Any) -> Any:
            begun_s = time.perf_counter()
            try:
                return work(self)
            finally:
                parts[name] = 1000 * (time.perf_counter() - begun_s)

        return work_timed

    SlurmBackend.look = timed("look", SlurmBackend.look)
    ActingLoop.carry_out = timed("act", ActingLoop.carry_out)
    take_turn = ActingDaemon.take_turn

    async def take_turn_timed(daemon: Any) -> None:
        parts.clear()
        seen_ms, begun_s = daemon.loop.world.now_ms, time.perf_counter()
        await take_turn(daemon)
        if daemon.loop.world.now_ms > seen_ms:
            rows.append(("turn", 1000 * (time.perf_counter() - begun_s)))
            rows.extend(parts.items())

    ActingDaemon.take_turn = take_turn_timed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
