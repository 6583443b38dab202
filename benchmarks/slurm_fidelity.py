"""How far `simulate` is from what Slurm's jobs do, and what its own backfill does with them.

``python -m benchmarks.slurm_fidelity -o DIR [--seed N] [--policy NAME]``, which needs root; six minutes a run.

Jobs that wait on a clock run on a real Slurm of 64 nodes with eight declared GPUs each, on this machine. A daemon says
which start (``--act``), or, as policy ``slurm``, Slurm does by its ``sched/backfill``. What happened is exported, and
simulated as in `benchmarks.fidelity`. ``DIR/fidelity.csv`` has a row for each run. A run that is in DIR is not made
again.
"""

import argparse
import csv
import json
import math
import random
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.compared import Compared, Row, write_rows
from benchmarks.fidelity import WAITING
from benchmarks.slurm_daemon import of_turns, timed_daemon
from benchmarks.slurm_observe import GPUS_EACH, LIMITS, NODES, Job, submit
from tests.live.slurm_cluster import SlurmCluster, slurm_cluster, why_not

JOBS: Final = 500
WIDTHS: Final = {1: 40, 2: 10, 4: 15, 8: 20, 16: 8, 32: 5, 64: 2}
"""How many of a hundred jobs ask for so many GPUs."""
USERS: Final = ("daemon", "bin", "sys", "games", "man", "lp", "mail", "news")
"""Whose jobs they are; these are on each Debian."""
SHORTEST_S, LONGEST_S = 15.0, 120.0
VARIES: Final = 1.5
"""By this factor jobs of one user differ from what is typical of it, both ways."""
LOOK_S: Final = 0.5
POLICIES: Final[dict[str, dict[str, Any]]] = {
    "fifo-backfill": {},
    "sjf": {},
    "las": {"thresholds_gpu_s": [250.0]},
    "gittins": {"quantum_s": 8.0, "round_s": 4.0, "refit_s": 120.0, "least_ends": 40, "groups": 4},
}
"""As in `benchmarks.fidelity`, with times of jobs that run four times as long on four times as many GPUs."""
SLURM: Final = "slurm"
EXPECTED: Final = "start_s: 0.7\nstop_s: 0.7\nrestore_s: 0.3\n"
"""What the policy is told that starts and stops take."""
PATIENCE_S: Final = 1_800.0
_TELLS: Final = """
import os, time
job, place = os.environ["SLURM_JOB_ID"], {place!r}
told = open(place + "/told", "a", buffering=1)
def tell(what):
    told.write(f"{{what}} {{job}} {{time.time():.3f}}\\n")
def leave(code):
    tell("stop")
    os._exit(code)
tell("begin")
os.environ["POINTSMAN_CHECKPOINT_DIR"] = own = f"{{place}}/{{job}}"
os.makedirs(own, exist_ok=True)
"""
PYTHON: Final = "/usr/bin/python3 -I -S"
"""One that each user may start."""
Told = dict[str, list[tuple[str, float]]]
"""By job, what it said, and when."""


def drawn(seed: int, jobs: int = JOBS, gpus: int = NODES * GPUS_EACH) -> list[Job]:
    """The jobs, at load 1; their names are their users."""
    draw = random.Random(seed)
    ratio, widths = LONGEST_S / SHORTEST_S, [*WIDTHS]
    typical_s = {user: SHORTEST_S * ratio ** (k / (len(USERS) - 1)) for k, user in enumerate(USERS)}
    found, at_s = [], 0.0
    for width in draw.choices(widths, [*WIDTHS.values()], k=jobs):
        user = draw.choice(USERS)
        runs_s = min(LONGEST_S, max(SHORTEST_S, typical_s[user] * VARIES ** draw.uniform(-1, 1)))
        found.append(Job(0.0, min(width, gpus), runs_s, math.ceil(runs_s * draw.choice(LIMITS) / 60), user))
    gap_s = sum(job.gpus * job.runs_s for job in found) / gpus / jobs
    for k, job in enumerate(found):
        found[k] = job._replace(at_s=at_s)
        at_s += draw.expovariate(1 / gap_s)
    return found


class Run:
    """One policy, live, in `folder`."""

    def __init__(self, folder: Path, policy: str, seed: int, jobs: int, nodes: int) -> None:
        self.folder, self.policy, self.seed, self.nodes = folder.resolve(), policy, seed, nodes
        self.jobs = drawn(seed, jobs, nodes * GPUS_EACH)

    @property
    def is_done(self) -> bool:
        return (self.folder / "submitted.csv").exists()

    def live(self) -> None:
        """Let the jobs run, and write down what happened."""
        self.folder.mkdir(parents=True)
        with slurm_cluster(self.nodes, GPUS_EACH, "sched/backfill") as slurm:
            program = waiting_program(slurm)
            if self.policy == SLURM:
                submitted = self._run_all(slurm, program)
            else:
                with timed_daemon(slurm, self.folder, *self._options()):
                    submitted = self._run_all(slurm, program, "--partition=inbox")
                self._export()
            (self.folder / "told").write_text((program.parent / "told").read_text())
        write_rows(self.folder / "submitted.csv", submitted)

    def _options(self) -> list[str]:
        (self.folder / "expected.yaml").write_text(EXPECTED)
        return [*acts_by(self.policy, POLICIES[self.policy]), "--overheads", str(self.folder / "expected.yaml")]

    def _run_all(self, slurm: SlurmCluster, program: Path, *where: str) -> list[Row]:
        """Submit all, and wait for their ends."""
        began_s, rows = time.monotonic(), []
        for job in self.jobs:
            time.sleep(max(0.0, began_s + job.at_s - time.monotonic()))
            id_ = submit_waiting(slurm, program, job, *where)
            rows.append({"job": id_, "unix_s": time.time()})
        deadline_s = time.monotonic() + PATIENCE_S
        while left := slurm.call("squeue", "--noheader"):
            assert time.monotonic() < deadline_s, left
            time.sleep(1)
        time.sleep(3 * LOOK_S)  # the daemon has seen the last end
        return rows

    def _export(self) -> None:
        from pointsman.live.report.export import export

        (self.folder / "log").mkdir()
        export(self.folder / "state" / "store", self.folder / "log")

    def compare(self) -> Row:
        """What became of the jobs."""
        row: Row = {"policy": self.policy, "seed": self.seed, "jobs": len(self.jobs)}
        if self.policy == SLURM:
            return row | self._of_jobs()
        asked_s = {str(k + 1): job.runs_s for k, job in enumerate(self.jobs)}
        params = POLICIES[self.policy]
        compared, _ = Compared(self.folder / "log", self.policy, params, asked_s, LOOK_S).compare()
        turns = of_turns(self.folder / "turns.csv")
        return row | compared | self._of_jobs() | self._of_looks() | turns

    def _of_jobs(self) -> Row:
        """What users see, by the jobs' own words."""
        told, came_s = read_told(self.folder / "told"), self._came_s()
        by_job = dict(zip(came_s, self.jobs, strict=True))
        assert all(told[job][-1][0] == "end" for job in came_s)
        jct_s = {job: told[job][-1][1] - at_s for job, at_s in came_s.items()}
        waits_s = sorted(jct_s[job] - asked.runs_s for job, asked in by_job.items())
        first_s, last_s = min(came_s.values()), max(came_s.values())
        held = sum(
            by_job[job].gpus * max(0.0, min(until_s, last_s) - begun_s)
            for job, said in told.items()
            for begun_s, until_s in intervals(said)
        )
        begins, stops = (
            sorted(at_s for said in told.values() for what, at_s in said if what in words)
            for words in (("begin",), ("stop", "end"))
        )
        return {
            "jct_s": fmean(jct_s.values()), "wait_s": fmean(waits_s), "wait_p90_s": waits_s[round(0.9 * len(waits_s))],
            "busy_ratio": held / (self.nodes * GPUS_EACH * (last_s - first_s)),
            "begins": len(begins), "begins_a_second": most_a_second(begins), "stops_a_second": most_a_second(stops),
        }  # fmt: skip

    def _came_s(self) -> dict[str, float]:
        return {row["job"]: float(row["unix_s"]) for row in csv.DictReader((self.folder / "submitted.csv").open())}

    def _of_looks(self) -> Row:
        """How late the daemon saw that jobs came and ended."""
        connection = sqlite3.connect(f"file:{self.folder}/state/store?mode=ro", uri=True)
        (kept,) = connection.execute("SELECT value FROM meta WHERE key = 'clock'").fetchone()
        rows = connection.execute("SELECT submit_ms, end_ms FROM jobs ORDER BY id").fetchall()
        connection.close()
        origin_s = (json.loads(kept)["unix_ms"] - json.loads(kept)["at_ms"]) / 1000
        told, came_s = read_told(self.folder / "told"), self._came_s()
        seen_s = [origin_s + ms / 1000 - at_s for (ms, _), at_s in zip(rows, came_s.values(), strict=True)]
        noted_s = [origin_s + ms / 1000 - told[job][-1][1] for (_, ms), job in zip(rows, came_s, strict=True)]
        return {"seen_s": fmean(seen_s), "noted_s": fmean(noted_s)}


def acts_by(policy: str, params: dict[str, Any]) -> list[str]:
    """The options of a daemon that acts by a policy."""
    settings = [word for k, v in params.items() for word in ("--set", f"{policy}.{k}={json.dumps(v)}")]
    return ["--act", "--policy", policy, *settings, "--preempt-qos", "*", "--poll", f"{LOOK_S:g}"]


def waiting_program(slurm: SlurmCluster) -> Path:
    """What the jobs run; beside it they tell when they begin, stop and end, and keep how long they have waited."""
    place = slurm.folder / "waits"
    place.mkdir()
    place.chmod(0o777)
    (place / "told").touch()
    (place / "told").chmod(0o666)
    program = place / "waits.py"
    program.write_text(_TELLS.format(place=str(place)) + WAITING.replace("os._exit", "leave") + 'tell("end")\n')
    return program


def submit_waiting(slurm: SlurmCluster, program: Path, job: Job, *where: str) -> str:
    """The id of a job that runs it."""
    return submit(slurm, job, f"--uid={job.name}", "--chdir=/", *where, does=f"{PYTHON} {program} {job.runs_s:.3f}")


def read_told(path: Path) -> Told:
    """What jobs told, in order."""
    found: Told = {}
    for what, job, at_s in map(str.split, path.read_text().splitlines()):
        found.setdefault(job, []).append((what, float(at_s)))
    return found


def intervals(said: Sequence[tuple[str, float]]) -> list[tuple[float, float]]:
    """When a job ran; it that is stopped before it listens says so by its next beginning at the latest."""
    ends = [*said[1:], said[-1]]
    return [(at_s, until_s) for (what, at_s), (_, until_s) in zip(said, ends, strict=True) if what == "begin"]


def most_a_second(times_s: Sequence[float], within_s: float = 10.0) -> float:
    """The most events within so long, as a rate; `times_s` are in order."""
    return max((bisect_right(times_s, at_s + within_s) - k for k, at_s in enumerate(times_s)), default=0) / within_s


def main() -> None:
    """Run, compare and write ``fidelity.csv``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--policy", action="append", choices=[*POLICIES, SLURM])
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--nodes", type=int, default=NODES)
    options = parser.parse_args()
    if reason := why_not():
        parser.error(reason)
    rows = []
    for seed in options.seed or [1, 2, 3]:
        for policy in options.policy or [*POLICIES, SLURM]:
            run = Run(options.output / f"{policy}-{seed}", policy, seed, options.jobs, options.nodes)
            if not run.is_done:
                run.live()
            rows.append(run.compare())
            print(rows[-1], flush=True)
            write_rows(options.output / "fidelity.csv", rows)


if __name__ == "__main__":
    main()
