"""``make live-demo``: forty real trainings on eight declared GPUs, under a daemon that is killed once in the middle.

Needs no root, no GPUs and no network. What is shown at the end is what the trainings themselves have written down.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

JOBS, SEED = 40, 7
MOST_S = 300
POLICY = ("--policy", "las", "--set", "las.thresholds_gpu_s=[4]")
"""One that preempts within seconds: the job with the least GPU time received runs first."""
OVERHEADS = "start_s: 0.3\nstop_s: 0.2\nrestore_s: 0.2\n"
TRAINING = Path(__file__).with_name("training.py")


class Demo:
    """Everything is below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "records").mkdir(parents=True)
        (folder / "overheads.yaml").write_text(OVERHEADS)
        self.socket = folder.resolve() / "api.sock"
        self.daemon = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """A daemon that listens."""
        place = ("--state", str(self.folder / "state"), "--socket", str(self.socket))
        overheads = ("--overheads", str(self.folder / "overheads.yaml"))
        command = [sys.executable, "-m", "pointsman", "live", "start", "--cluster", "2x4", *POLICY, *overheads, *place]
        daemon = subprocess.Popen(command)
        while self.pointsman("live", "status", check=False).returncode:
            if daemon.poll() is not None:
                sys.exit("the daemon did not start")
            time.sleep(0.2)
        return daemon

    def pointsman(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """What a user types."""
        environment = {**os.environ, "POINTSMAN_SOCKET": str(self.socket)}
        command = [sys.executable, "-m", "pointsman", *words]
        return subprocess.run(command, env=environment, check=check, capture_output=True, text=True)

    def say(self, *words: str) -> None:
        """Type it, and show what comes."""
        print(f"\n$ pointsman {' '.join(words)}")
        print(self.pointsman(*words).stdout, end="", flush=True)

    def submit_all(self) -> None:
        draw = random.Random(SEED)
        for k in range(JOBS):
            gpus, steps = draw.choice([1, 1, 1, 2, 4]), draw.choice([20, 40, 80, 160, 320])
            record = str((self.folder / "records" / str(k)).resolve())
            options = ("-G", str(gpus), "-J", f"training-{k}", "--requeue", "--zero-is-done", "--parsable")
            output = ("-o", str((self.folder / "%j.out").resolve()))
            training = (sys.executable, str(TRAINING.resolve()), "--steps", str(steps), "--record", record)
            self.pointsman("submit", *options, *output, "--", *training)

    def ended(self) -> int:
        return len(self.pointsman("history", "--format", "csv").stdout.splitlines()) - 1

    def wait_for(self, many: int) -> None:
        until_s = time.monotonic() + MOST_S
        while self.ended() < many:
            if time.monotonic() > until_s:
                sys.exit(f"{many} trainings had not ended after {MOST_S} s:\n{self.pointsman('queue').stdout}")
            time.sleep(0.3)

    def kill(self) -> None:
        """As a crash would, while trainings run on."""
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()

    def counts(self) -> list[int]:
        """How often each training ran to its end, by its own record."""
        records = [self.folder / "records" / str(k) for k in range(JOBS)]
        return [len(record.read_text().splitlines()) if record.exists() else 0 for record in records]

    def report(self) -> Path:
        """What happened beside what a simulation of the same jobs says."""
        kept = self.folder / "log"
        self.pointsman("live", "export", "--state", str(self.folder / "state"), "-o", str(kept))
        words = ("compare", str(kept / "jobs.csv"), "--cluster", str(kept / "cluster.yaml"), *POLICY)
        page = self.folder / "report"
        done = self.pointsman(*words, "--overheads", str(kept / "overheads.yaml"), "-o", str(page))
        print(f"\n$ pointsman {' '.join(words)} ...\n{done.stdout}", end="")
        return page / "report.html"


def main() -> int:
    """Run the demo; 0 if each training ran to its end exactly once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    demo = Demo(parser.parse_args().folder)
    try:
        print(f"submitting {JOBS} trainings", flush=True)
        demo.submit_all()
        demo.say("queue")
        demo.wait_for(JOBS // 3)
        demo.kill()
        print(f"\nkilled the daemon with SIGKILL after {JOBS // 3} trainings had ended; starting another", flush=True)
        demo.daemon = demo.start()
        demo.say("queue")
        demo.wait_for(JOBS)
        demo.say("history", "-n", str(JOBS))
        page = demo.report()
    finally:
        demo.daemon.terminate()
        demo.daemon.wait()
    counts = demo.counts()
    print(f"\nreport: {page}")
    if counts == [1] * JOBS:
        print(f"each of the {JOBS} trainings ran to its end exactly once")
        return 0
    print(f"how often each training ran to its end: {counts}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
