"""How far `simulate` is from what happens: ``python -m benchmarks.fidelity -o DIR [--seed N] [--policy NAME]``.

Jobs that wait on a clock, or with ``--computing`` jobs that compute, run under a real daemon on 16 declared GPUs of one
machine. What happened is exported, with measured durations and measured times of starts and stops, and simulated under
the same policy. Nothing else is fitted. ``DIR/fidelity.csv`` has a row for each run, ``DIR/jobs.csv`` one for each job.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.compared import Compared, write_rows

JOBS: Final = 120
JITTER_S: Final = 0.05
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
        asked_s = {str(k + 1): seconds for k, (_, _, seconds) in enumerate(drawn(self.seed))}
        row, each = Compared(self.folder / "log", self.policy, POLICIES[self.policy], asked_s, JITTER_S).compare()
        whose = {"program": PROGRAMS[self.program], "policy": self.policy, "seed": self.seed}
        return whose | row, [whose | one for one in each]


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
    write_rows(options.output / "fidelity.csv", rows)
    write_rows(options.output / "jobs.csv", jobs)


if __name__ == "__main__":
    main()
