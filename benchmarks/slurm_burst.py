"""How many starts and stops a second a daemon holds that acts on Slurm: ``python -m benchmarks.slurm_burst -o DIR``.

It needs root, and takes a minute. 256 jobs of two GPUs wait at the gate at once, and fill 64 nodes; later eight gangs
of 64 GPUs preempt all of them in one decision. Jobs say themselves when they begin and stop. ``DIR/figures.csv`` has
the figures, and ``docs/results/data/live-slurm.csv`` too, as run ``burst``.
"""

import argparse
import csv
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.slurm_daemon import Figures, of_turns, timed_daemon
from benchmarks.slurm_fidelity import USERS, acts_by, most_a_second, read_told, submit_waiting, waiting_program
from benchmarks.slurm_observe import GPUS_EACH, NODES, Job
from tests.live.slurm_cluster import SlurmCluster, slurm_cluster, wait_until, why_not

SMALL, WIDE = 2, 64
LONG_S: Final = 600.0
SERVED_S: Final = 15.0
"""After so long, jobs of two GPUs may be preempted."""
WITHIN_S: Final = 300.0


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--nodes", type=int, default=NODES)
    options = parser.parse_args()
    if reason := why_not():
        parser.error(reason)
    folder = options.folder.resolve()
    folder.mkdir(parents=True)
    las = acts_by("las", {"thresholds_gpu_s": [SMALL * SERVED_S]})
    with (
        slurm_cluster(options.nodes, GPUS_EACH, "sched/backfill") as slurm,
        timed_daemon(slurm, folder, *las, "--overheads", "none") as daemon,
    ):
        found = burst(slurm, daemon, options.nodes * GPUS_EACH)
    found |= of_turns(folder / "turns.csv")
    with (folder / "figures.csv").open("w") as file:
        csv.writer(file, lineterminator="\n").writerows(("burst", *figure) for figure in found.items())
    print((folder / "figures.csv").read_text())


def burst(slurm: SlurmCluster, daemon: int, gpus: int) -> Figures:
    """Fill all GPUs, and preempt all jobs."""
    program = waiting_program(slurm)
    told = program.parent / "told"
    small, wide = gpus // SMALL, gpus // WIDE
    with paused(daemon):
        submit_all(slurm, program, SMALL, small)
    found = rates("starts", told, "begin", small)
    time.sleep(SERVED_S)
    with paused(daemon):
        submit_all(slurm, program, WIDE, wide)
    found |= rates("stops", told, "stop", small)
    wait_until(lambda: len(times_s(told, "begin")), small + wide, within_s=WITHIN_S)
    found["from last stop to last gang, s"] = times_s(told, "begin")[-1] - times_s(told, "stop")[-1]
    return found


@contextmanager
def paused(daemon: int) -> Iterator[None]:
    """It sees at once what came meanwhile."""
    os.kill(daemon, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(daemon, signal.SIGCONT)


def submit_all(slurm: SlurmCluster, program: Path, gpus: int, jobs: int) -> None:
    for k in range(jobs):
        job = Job(0.0, gpus, LONG_S, 60, USERS[k % len(USERS)])
        submit_waiting(slurm, program, job, "--partition=inbox")


def rates(title: str, told: Path, what: str, jobs: int) -> Figures:
    """How soon jobs say so from now on, once all have."""
    now_s = time.time()
    wait_until(lambda: len(times_s(told, what)) >= jobs, True, within_s=WITHIN_S)
    each_s = times_s(told, what)
    return {
        title: jobs,
        f"{title}: first, s": each_s[0] - now_s,
        f"{title}: last, s": each_s[-1] - now_s,
        f"{title} a second": (jobs - 1) / (each_s[-1] - each_s[0]),
        f"{title} a second, best second": most_a_second(each_s, 1.0),
    }


def times_s(told: Path, what: str) -> list[float]:
    return sorted(at_s for said in read_told(told).values() for word, at_s in said if word == what)


if __name__ == "__main__":
    main()
