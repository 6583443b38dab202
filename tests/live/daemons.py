"""Real daemons on sockets of their own, and what users type."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

START_S = 120


class RunningDaemon:
    """A daemon of two declared nodes of four GPUs, whose jobs run on this machine."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.socket = folder / "s" / "api.sock"
        self.options = options
        self.process = self.begin()

    def begin(self) -> subprocess.Popen[str]:
        """Start it, and wait until it listens."""
        words = ["--cluster", "2x4", "--state", str(self.folder / "state"), "--socket", str(self.socket), *self.options]
        with (self.folder / "daemon.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pointsman", "live", "start", *words], stdout=log, stderr=log, text=True
            )
        until = time.monotonic() + START_S
        while not self.answers():
            assert process.poll() is None, self.log()
            assert time.monotonic() < until, self.log()
            time.sleep(0.05)
        self.process = process
        return process

    def answers(self) -> bool:
        return self.socket.exists() and self.type("live", "status").returncode == 0

    def log(self) -> str:
        return (self.folder / "daemon.log").read_text()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> "RunningDaemon":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()

    def end(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=60)

    def type(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """What a user types after ``pointsman``."""
        return subprocess.run(
            [sys.executable, "-m", "pointsman", *words],
            env={**os.environ, "POINTSMAN_SOCKET": str(self.socket), **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def submit(self, *words: str) -> int:
        """The id of a job."""
        done = self.type("submit", "--parsable", *words)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """What a command lists."""
        return json.loads(self.type(*words, "--format", "json").stdout)

    def job(self, number: int) -> dict[str, Any]:
        return json.loads(self.type("show", str(number), "--format", "json").stdout)

    def wait(self, number: int, *states: str) -> dict[str, Any]:
        """Until a job is in one of these states."""
        return wait_for(lambda: (job := self.job(number))["state"] in states and job)


def wait_for(found: Callable[[], Any], most_s: float = 30) -> Any:
    until = time.monotonic() + most_s
    while not (one := found()):
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.05)
    return one
