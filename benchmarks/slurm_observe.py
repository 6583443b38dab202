"""What observing a real Slurm costs and foretells: ``python -m benchmarks.slurm_observe -o DIR``, which needs root.

Jobs that sleep run on a Slurm of 64 nodes with eight declared GPUs each, on this machine. A daemon observes it, with
``--alone`` none. With ``--after DIR`` it goes on from an earlier run, and the next jobs of the same users come; with
``--capped`` no time limit is longer than the longest job. ``DIR/figures.csv`` has the figures, a quarter of an hour
later. ``docs/results/data/live-slurm.csv`` has those of several runs; of predictions as they are made now, in the runs
*foretold*.
"""

import argparse
import csv
import math
import os
import random
import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Sequence
from itertools import count, pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import pointsman
from benchmarks.slurm_daemon import Figures, of_turns, timed_daemon
from tests.live.slurm_cluster import SlurmCluster, slurm_cluster, why_not

NODES, GPUS_EACH = 64, 8
JOBS: Final = 2_000
FASTER: Final = 50.0
"""So many times shorter than those of Philly's log are the jobs, before they are cut."""
SHORTEST_S, LONGEST_S = 5.0, 240.0
GAP_S: Final = 0.22
"""Mean time between two submissions, a Poisson process: a load of 1.35."""
LIMITS: Final = (1.5, 2.0, 4.0)
"""Time limits are so many times as long as the job, rounded up to minutes."""
SAMPLE_S: Final = 10.0
OBSERVES: Final = ("--observe", "--policy", "gittins", "--poll", "5")
LEADS_S: Final = (0.0, 30.0, 120.0, float("inf"))
ENDED: Final = (0, 500, 1_000, float("inf"))
"""Groups of promises, by the time from promise to expected start, and by how many jobs of this run had ended before."""
_RPC: Final = re.compile(r"(\w+)\s+\(\s*\d+\) count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)")
_FIGURE: Final = re.compile(r"^\s*([A-Z][\w ]*?):\s+(\d+)", re.MULTILINE)
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_PROMISES: Final = """
SELECT made_ms, early_ms, likely_ms, late_ms, started_ms,
  (SELECT count(*) FROM jobs WHERE end_ms > :since AND end_ms <= made_ms)
FROM promises JOIN attempts ON attempts.job = promises.job AND attempt = 1
WHERE started_ms IS NOT NULL AND late_ms IS NOT NULL AND made_ms > :since
"""
_DECISIONS: Final = "SELECT count(*), sum(agrees) FROM decisions WHERE job IS NOT NULL AND at_ms > ?"


class Job(NamedTuple):
    """One to submit."""

    at_s: float
    gpus: int
    runs_s: float
    limit_min: int
    name: str


def drawn(jobs: int, *, later: bool = False, capped: bool = False) -> list[Job]:
    """Jobs like those of Philly's log, in their order, or the next as many; with time limits up to the longest job's
    if `capped`. The name of a job tells its user: Slurm's are all of root.
    """
    rows = like_philly(jobs)
    order = dict.fromkeys(row["user"] for row in rows)
    if later:
        rows = like_philly(2 * jobs)[jobs:]
        order |= dict.fromkeys(row["user"] for row in rows)
    users = {user: chr(97 + k // 26) + chr(97 + k % 26) for k, user in enumerate(order)}
    draw, at_s, found = random.Random(1), 0.0, []
    for row in rows:
        runs_s = min(LONGEST_S, max(SHORTEST_S, row["duration_s"] / FASTER))
        limit_s = min(runs_s * draw.choice(LIMITS), LONGEST_S if capped else math.inf)
        limit_min = math.ceil(limit_s / 60)
        at_s += draw.expovariate(1 / GAP_S)
        found.append(Job(at_s, row["gpus"], runs_s, limit_min, f"train-{users[row['user']]}"))
    return found


def like_philly(jobs: int) -> list[Figures]:
    return pointsman.generate("philly", jobs=jobs, cluster_gpus=NODES * GPUS_EACH, load=1.0, seed=1).jobs.to_dicts()


def submit(slurm: SlurmCluster, job: Job, *more: str, does: str = "") -> str:
    """Its id; by default it sleeps."""
    nodes = -(-job.gpus // GPUS_EACH)
    wants = (f"--nodes={nodes}", f"--gpus-per-node={job.gpus // nodes}", f"--time={job.limit_min}")
    return slurm.submit(*wants, f"--job-name={job.name}", *more, does=does or f"sleep {job.runs_s:.1f}")


# -- what is measured from outside ------------------------------------------------------------------------


def cpu_s(pid: int) -> float:
    """Processor time of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * _TICK_S


def peak_mib(pid: int) -> float:
    """The most memory that a process had."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def children(pid: int) -> list[int]:
    """Those of all threads of a process."""
    return [int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]


def of_sdiag(text: str, minutes: float) -> Figures:
    """What the controller says of itself; times of cycles are the means and the longest."""
    main, _, backfill = text.partition("Backfilling stats")
    found: Figures = {}
    for title, part in (("scheduling", main), ("backfill", backfill.partition("Latency for")[0])):
        named = {name: int(value) for name, value in _FIGURE.findall(part)}
        found |= {
            f"{title} cycles": named.get("Total cycles", 0),
            f"{title} cycle mean, ms": named.get("Mean cycle", 0) / 1000,
            f"{title} cycle longest, ms": named.get("Max cycle", 0) / 1000,
        }
    by_type = text.partition("by message type")[2].partition("by user")[0]
    rpcs = {name: (int(many), int(took_us)) for name, many, took_us in _RPC.findall(by_type)}
    found["requests a minute"] = sum(many for many, _ in rpcs.values()) / minutes
    found["time in requests, ms a minute"] = sum(took for _, took in rpcs.values()) / 1000 / minutes
    for name, (many, took_us) in sorted(rpcs.items(), key=lambda item: -item[1][0]):
        found[f"{name} a minute"], found[f"{name} mean, ms"] = many / minutes, took_us / many / 1000
    return found


def run_all(slurm: SlurmCluster, jobs: Sequence[Job], daemon: int | None) -> Figures:
    """Submit the jobs, wait until all have ended, and say what that cost."""
    assert slurm.controller is not None
    slurm.call("sdiag", "--reset")
    controller = slurm.controller.pid
    begun_s, before_s = time.monotonic(), cpu_s(controller)
    own_before_s = cpu_s(daemon) if daemon else 0.0
    waiting: list[int] = []
    for k in count(1):
        sample_s = begun_s + k * SAMPLE_S
        while jobs and begun_s + jobs[0].at_s <= sample_s:
            time.sleep(max(0.0, begun_s + jobs[0].at_s - time.monotonic()))
            submit(slurm, jobs[0])
            jobs = jobs[1:]
        time.sleep(max(0.0, sample_s - time.monotonic()))
        text = slurm.call("sdiag")
        now = dict(_FIGURE.findall(text))
        waiting.append(int(now["Jobs pending"]))
        if not jobs and now["Jobs pending"] == now["Jobs running"] == "0":
            break
    minutes = (time.monotonic() - begun_s) / 60
    found = {"minutes": minutes, "most waiting": max(waiting), "controller CPU, s": cpu_s(controller) - before_s}
    found |= of_sdiag(text, minutes)
    if daemon:
        ahead = [pid for pid in children(daemon) if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]
        found |= {
            "daemon and commands CPU, s": cpu_s(daemon) - own_before_s,
            "forecasts CPU, s": sum(map(cpu_s, ahead)),
            "daemon memory, MiB": peak_mib(daemon),
            "forecasts memory, MiB": sum(map(peak_mib, ahead)),
        }
    return found


# -- what the daemon found --------------------------------------------------------------------------------


def of_store(store: Path, since_ms: int) -> Figures:
    """Agreement, and how many predicted starts came within their ranges, since a time of the store."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    starts, agreed = connection.execute(_DECISIONS, (since_ms,)).fetchone()
    promises = connection.execute(_PROMISES, {"since": since_ms}).fetchall()
    (slowest_s,) = connection.execute("SELECT max(longest_s) FROM looks").fetchone()
    connection.close()
    found = {"starts judged": starts, "agreement, %": 100 * agreed / starts, "slowest answer, s": slowest_s}
    found |= of_promises("all", promises)
    for low, high in pairwise(LEADS_S):
        some = [one for one in promises if low <= (one[2] - one[0]) / 1000 < high]
        found |= of_promises(f"expected in {low:g} to {high:g} s", some)
    for low, high in pairwise(ENDED):
        some = [one for one in promises if low <= one[5] < high]
        found |= of_promises(f"after {low:g} to {high:g} ends", some)
    return found


def of_promises(title: str, promises: Sequence[Sequence[int]]) -> Figures:
    if not promises:
        return {}
    return {
        f"{title}: promised": len(promises),
        f"{title}: kept, %": 100 * sum(early <= at <= late for _, early, _, late, at, _ in promises) / len(promises),
        f"{title}: sooner, %": 100 * sum(at < early for _, early, _, _, at, _ in promises) / len(promises),
        f"{title}: wait median, s": median(at - made for made, _, _, _, at, _ in promises) / 1000,
        f"{title}: range median, s": median(late - early for _, early, _, late, _, _ in promises) / 1000,
        f"{title}: error median, s": median(abs(at - likely) for _, _, likely, _, at, _ in promises) / 1000,
    }


def last_ms(store: Path) -> int:
    """When the last job of a store ended."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    (end_ms,) = connection.execute("SELECT max(end_ms) FROM jobs").fetchone()
    connection.close()
    return end_ms


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--after", type=Path)
    parser.add_argument("--capped", action="store_true")
    options = parser.parse_args()
    if reason := why_not():
        parser.error(reason)
    options.folder.mkdir(parents=True)
    jobs = drawn(options.jobs, later=options.after is not None, capped=options.capped)
    state, since_ms = options.folder / "state", 0
    if options.after:
        shutil.copytree(options.after / "state", state)
        since_ms = last_ms(state / "store")
    with slurm_cluster(NODES, GPUS_EACH, "sched/backfill") as slurm:
        if options.alone:
            found = run_all(slurm, jobs, None)
        else:
            with timed_daemon(slurm, options.folder, *OBSERVES) as daemon:
                found = run_all(slurm, jobs, daemon)
    if not options.alone:
        found |= of_turns(options.folder / "turns.csv") | of_store(state / "store", since_ms)
    run = "alone" if options.alone else "later" if options.after else "first"
    run = "capped" if options.capped else run
    with (options.folder / "figures.csv").open("w") as file:
        csv.writer(file).writerows([("run", "figure", "value"), *((run, *figure) for figure in found.items())])
    print((options.folder / "figures.csv").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
