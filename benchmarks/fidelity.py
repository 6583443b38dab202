"""How far `simulate` is from what happens: ``python -m benchmarks.fidelity -o DIR [--seed N] [--policy NAME]``.

Jobs that wait on a clock, or with ``--computing`` jobs that compute, run under a real daemon on 16 declared GPUs of one
machine. What happened is exported, with measured durations and measured times of starts and stops, and simulated under
the same policy. Nothing else is fitted. ``DIR/fidelity.csv`` has a row for each run, ``DIR/jobs.csv`` one for each job.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import polars as pl

import pointsman
from pointsman.report.result import Result
from pointsman.workload import Workload

JOBS: Final = 120
JITTER_S, DRAWS = 0.05, 40
"""The interval at which the daemon looks at its jobs."""
CLUSTER: Final = "4x4"
GPUS: Final = 16
POLICIES: Final[dict[str, dict[str, Any]]] = {
    "fifo-backfill": {},
    "sjf": {},
    "las": {"thresholds_gpu_s": [20.0]},
    "gittins": {"quantum_s": 2.0, "round_s": 1.0, "refit_s": 30.0, "least_ends": 10, "groups": 4},
}
"""The last two preempt; times are those of jobs of seconds."""
EXPECTED: Final = "start_s: 0.2\nstop_s: 0.1\nrestore_s: 0.0\n"
"""What the policy is told that starts and stops take."""
WAITING = """
import os, signal, sys, time
kept, seconds = os.path.join(os.environ["POINTSMAN_CHECKPOINT_DIR"], "done"), float(sys.argv[1])
done = float(open(kept).read()) if os.path.exists(kept) else 0.0
began = time.monotonic()
def stop(*_):
    with open(kept, "w") as file:
        file.write(str(done + time.monotonic() - began))
    os._exit(75)
signal.signal(signal.SIGTERM, stop)
while (left := seconds - done - (time.monotonic() - began)) > 0:
    time.sleep(left)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
COMPUTING = """
import os, signal, sys, time
kept, seconds = os.path.join(os.environ["POINTSMAN_CHECKPOINT_DIR"], "done"), float(sys.argv[1]) / 5
done = float(open(kept).read()) if os.path.exists(kept) else 0.0
def stop(*_):
    with open(kept, "w") as file:
        file.write(str(done + time.process_time()))
    os._exit(75)
signal.signal(signal.SIGTERM, stop)
while done + time.process_time() < seconds:
    sum(range(100_000))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
"""For a fifth of its seconds of processor time: eight such jobs, of two GPUs on average, load two cores."""
PROGRAMS: Final = {WAITING: "waits", COMPUTING: "computes"}


def drawn(seed: int) -> list[tuple[float, int, float]]:
    """(submission in s, GPUs, seconds) of each job, at load 1."""
    draw = random.Random(seed)
    jobs = [(draw.choice([1, 1, 2, 4]), 3 * (40 / 3) ** draw.random()) for _ in range(JOBS)]
    gap_s = sum(gpus * seconds for gpus, seconds in jobs) / GPUS / JOBS
    at_s, rows = 0.0, []
    for gpus, seconds in jobs:
        rows.append((at_s, gpus, seconds))
        at_s += draw.expovariate(1 / gap_s)
    return rows


class Run:
    """One policy, live, in `folder`."""

    def __init__(self, folder: Path, policy: str, seed: int, program: str) -> None:
        self.folder, self.policy, self.seed, self.program = folder, policy, seed, program
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "expected.yaml").write_text(EXPECTED)
        self.environment = {**os.environ, "POINTSMAN_SOCKET": str(folder.resolve() / "s")}

    def pointsman(self, *words: str) -> str:
        command = [sys.executable, "-m", "pointsman", *words]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def live(self) -> None:
        """Let the jobs run, and write down what happened."""
        state = self.folder / "state"
        settings = [
            w for k, v in POLICIES[self.policy].items() for w in ("--set", f"{self.policy}.{k}={json.dumps(v)}")
        ]
        places = ["--state", str(state), "--socket", self.environment["POINTSMAN_SOCKET"], "--poll", "0.05"]
        assumed = ["--cluster", CLUSTER, "--overheads", str(self.folder / "expected.yaml")]
        command = [sys.executable, "-m", "pointsman", "live", "start", "--policy", self.policy, *settings]
        daemon = subprocess.Popen([*command, *assumed, *places])
        try:
            while subprocess.run(
                [sys.executable, "-m", "pointsman", "queue"], env=self.environment, capture_output=True
            ).returncode:
                time.sleep(0.2)
            self._submit_all()
            while json.loads(self.pointsman("queue", "--format", "json")):
                time.sleep(1)
            self.pointsman("live", "export", "--state", str(state), "-o", str(self.folder / "log"))
        finally:
            daemon.terminate()
            daemon.wait()

    def _submit_all(self) -> None:
        os.environ["POINTSMAN_SOCKET"] = self.environment["POINTSMAN_SOCKET"]
        from pointsman.live.client.connection import call

        began = time.monotonic()
        for at_s, gpus, seconds in drawn(self.seed):
            time.sleep(max(0.0, began + at_s - time.monotonic()))
            command = [sys.executable, "-I", "-S", "-c", self.program, str(seconds)]
            more = {"requeue": True, "zero_is_done": True, "output": "/dev/null", "folder": "/"}
            call("POST", "/jobs", {"command": command, "gpus": gpus, **more})

    def compare(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Mean completion times, live and simulated, and those of each job."""
        log = self.folder / "log"
        workload = pointsman.read_workload(log / "jobs.csv")
        jobs = workload.jobs
        overheads = dict(line.split(": ") for line in (log / "overheads.yaml").read_text().splitlines())
        measured = {name: float(value) for name, value in overheads.items()}
        result = self._simulated(workload, measured)
        attempts = list(csv.DictReader((log / "attempts.csv").open()))
        real_s = (jobs["end_s"] - jobs["submit_s"]).to_list()
        simulated_s = dict(zip(result.jobs["job_id"], result.jobs["jct_s"], strict=True))
        whose = {"program": PROGRAMS[self.program], "policy": self.policy, "seed": self.seed}
        each = [
            {**whose, "job_id": job, "gpus": gpus, "jct_live_s": real, "jct_simulated_s": simulated_s[job]}
            for job, gpus, real in zip(jobs["job_id"], jobs["gpus"], real_s, strict=True)
        ]
        starts_s = [float(a["started_s"]) - float(a["intended_s"]) for a in attempts if a["started_s"]]
        asked = {str(k + 1): seconds for k, (_, _, seconds) in enumerate(drawn(self.seed))}
        longer = [ran / asked[job] - 1 for job, ran in zip(jobs["job_id"], jobs["duration_s"], strict=True)]
        real, simulated = fmean(real_s), fmean(simulated_s.values())
        low, high = self._jitter(workload, measured, simulated)
        return {
            **whose, "jobs": len(jobs), "jct_live_s": real, "jct_simulated_s": simulated, "apart": simulated / real - 1,
            "jitter_low": low, "jitter_high": high,
            "preemptions_live": sum(a["cause"] == "preempt" for a in attempts),
            "preemptions_simulated": int(result.jobs["preemptions"].sum()), **measured,
            "start_p90_s": sorted(starts_s)[round(0.9 * (len(starts_s) - 1))], "longer_mean_ratio": fmean(longer),
        }, each  # fmt: skip

    def _simulated(self, workload: Workload, overheads: dict[str, float]) -> Result:
        options = {"estimate": "history"} if self.policy == "sjf" else {}
        cluster = str(self.folder / "log" / "cluster.yaml")
        given = {"params": POLICIES[self.policy], "overheads": overheads, **options}
        return pointsman.simulate(workload, cluster, self.policy, **given)

    def _jitter(self, workload: Workload, overheads: dict[str, float], mean_s: float) -> tuple[float, float]:
        """How far the simulated mean moves, as a ratio, if each duration is up to `JITTER_S` longer or shorter: 5 % of
        the draws are below the first, 5 % above the second.
        """
        means = []
        for seed in range(DRAWS):
            draw = random.Random(seed)
            others = [max(0.001, value + draw.uniform(-JITTER_S, JITTER_S)) for value in workload.jobs["duration_s"]]
            moved = Workload.of(workload.jobs.with_columns(duration_s=pl.Series(others)), source="jitter")
            means.append(float(self._simulated(moved, overheads).jobs["jct_s"].mean()) / mean_s - 1)  # ty: ignore
        means.sort()
        return means[round(0.05 * (DRAWS - 1))], means[round(0.95 * (DRAWS - 1))]


def main() -> None:
    """Run, compare and write ``fidelity.csv``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--policy", action="append")
    parser.add_argument("--computing", action="store_true", help="jobs compute, and share the cores of this machine")
    options = parser.parse_args()
    program, rows, jobs = COMPUTING if options.computing else WAITING, [], []
    for seed in options.seed or [1, 2, 3]:
        for policy in options.policy or POLICIES:
            run = Run(options.output / f"{policy}-{seed}", policy, seed, program)
            if not (run.folder / "log").exists():  # else it was made before
                run.live()
            row, each = run.compare()
            rows.append(row)
            jobs += each
            print(row, flush=True)
    _write(options.output / "fidelity.csv", rows)
    _write(options.output / "jobs.csv", jobs)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
