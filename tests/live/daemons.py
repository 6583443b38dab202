"""Real daemons on sockets of their own, and what users type."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pointsman.cli.run import run
from pointsman.errors import BackendError
from pointsman.live.client import VERBS, verbs
from pointsman.live.client.connection import call

START_S = 120


class RunningDaemon:
    """A daemon, by default of two declared nodes of four GPUs, whose jobs run on this machine."""

    def __init__(self, folder: Path, *options: str, of: tuple[str, ...] = ("--cluster", "2x4"), **more: str) -> None:
        """`of`: which cluster. `more`: of the environment."""
        self.folder, self.of, self.more = folder, of, more
        self.socket = folder / "s" / "api.sock"
        self.options = options
        self.process = self.begin()

    def begin(self) -> subprocess.Popen[str]:
        """Start it, and wait until it listens."""
        words = [*self.of, "--state", str(self.folder / "state"), "--socket", str(self.socket), *self.options]
        with (self.folder / "daemon.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pointsman", "live", "start", *words],
                stdout=log,
                stderr=log,
                text=True,
                env={**os.environ, **self.more},
            )
        until = time.monotonic() + START_S
        while not self.answers():
            assert process.poll() is None, self.log()
            assert time.monotonic() < until, self.log()
            time.sleep(0.02)
        self.process = process
        return process

    def answers(self) -> bool:
        try:
            self.get("/status")
        except BackendError:
            return False
        return True

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
        """What a user types after ``pointsman``, done in this process: it is the daemon that is tried."""
        out, err = StringIO(), StringIO()
        main = verbs.main if words[0] in VERBS and "--run" not in words else run
        with self._asked(**environment), redirect_stdout(out), redirect_stderr(err):
            code = main([*words])
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def type_as_process(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The same in a process of its own."""
        with self._asked():
            command = [sys.executable, "-m", "pointsman", *words]
            return subprocess.run(command, capture_output=True, text=True, timeout=60)

    @contextmanager
    def _asked(self, **environment: str) -> Iterator[None]:
        """In the folder of a user, with the socket of this daemon."""
        with patch.dict(os.environ, {"POINTSMAN_SOCKET": str(self.socket), **environment}), chdir(self.folder):
            yield

    def get(self, path: str) -> Any:
        """What it answers, without a command."""
        with self._asked():
            return call("GET", path)

    def submit(self, *words: str) -> int:
        """The id of a job."""
        done = self.type("submit", "--parsable", *words)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """What a command lists."""
        return json.loads(self.type(*words, "--format", "json").stdout)

    def job(self, number: int) -> dict[str, Any]:
        """All that ``pointsman show`` has to show."""
        job = self.get(f"/jobs/{number}")
        job.pop("environment", None)
        return job

    def wait(self, number: int, *states: str) -> dict[str, Any]:
        """Until a job is in one of these states."""
        return wait_for(lambda: (job := self.job(number))["state"] in states and job)


def wait_for(found: Callable[[], Any], most_s: float = 30) -> Any:
    until = time.monotonic() + most_s
    while not (one := found()):
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)
    return one
