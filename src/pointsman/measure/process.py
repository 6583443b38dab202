"""A job as its parent sees it: a process that is asked and answers, or fails for a reason."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from math import inf
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, NamedTuple

from pointsman.errors import UsageError
from pointsman.measure import messages

_LAST_WORDS, _LONGEST, _WAIT_FOR_END_S, _LOOK_S = 200, 500, 5.0, 0.5


class JobFailed(Exception):
    """A job is of no more use; the text says why."""


class TimeIsOver(Exception):
    """There is no time left to wait for a job."""


class Slot(NamedTuple):
    """Where a job runs."""

    device: str
    """``cpu``, ``cuda:0``, ..."""
    cores: tuple[int, ...] = ()
    """Cores that it may use; empty: all."""


class JobProcess:
    """A process for one job after another on the same slot."""

    def __init__(self, slot: Slot, deadline_s: float, until_s: float = inf) -> None:
        """Start it.

        Args:
            slot: where it runs.
            deadline_s: it has failed if it does not answer within this many seconds.
            until_s: nothing is waited for after that, on the monotonic clock; what waits raises TimeIsOver.
        """
        self.slot, self._deadline_s, self.until_s = slot, deadline_s, until_s
        self.setting: messages.Setting | None = None
        self._folder = ""
        self._pipe, theirs = Pipe()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        threads = {"OMP_NUM_THREADS": str(len(slot.cores))} if slot.cores else {}
        cores = ",".join(map(str, slot.cores))
        self.started_s = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pointsman.measure.job", str(theirs.fileno()), cores],
            stdin=subprocess.DEVNULL,
            stdout=self._words,
            stderr=self._words,
            env=os.environ | threads,
            pass_fds=[theirs.fileno()],
            process_group=0,  # Ctrl-C is for the parent, which ends the others
        )
        theirs.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether its process has not ended."""
        return self._process.poll() is None

    def prepare(self, setting: messages.Setting, warm_up_steps: int) -> messages.Prepared:
        """Build a training and warm it up.

        Raises:
            JobFailed: it could not.
        """
        self.setting = None
        self._folder = messages.folder_of(setting) or self._folder
        answer: messages.Prepared = self._ask(messages.Prepare(setting, self.slot.device, warm_up_steps))
        self.setting = setting
        return answer

    def can_serve(self, setting: messages.Setting) -> bool:
        """Whether it has imported nothing that another file of the user's would take for a module beside itself."""
        return messages.folder_of(setting) in ("", self._folder) or not self._folder

    def describe(self) -> messages.Device:
        """Its device; JobFailed as for `prepare`."""
        return self._ask(messages.Describe(self.slot.device))

    def release(self) -> bool:
        """Have it give its memory back; whether workers of its training run on. JobFailed as for `prepare`."""
        if self.setting is None:
            return False
        self.setting = None
        answer: messages.Released = self._ask(messages.RELEASE)
        return answer.has_workers

    def save(self, path: Path) -> messages.Saved:
        """Write a checkpoint and read it back; JobFailed as for `prepare`."""
        return self._ask(messages.Save(str(path.absolute())))

    def begin(self, run: messages.Run) -> None:
        """Have it run; `wait_until_enough` and `stop` follow."""
        self._send(run)

    def wait_until_enough(self, run: messages.Run) -> None:
        """Wait until it has run for as long as it was asked to; it runs on. JobFailed as for `prepare`."""
        answer = self._receive(run.seconds + self._deadline_s)
        assert answer == messages.ENOUGH, answer

    def stop(self) -> messages.Steps:
        """End the run, whether or not it was enough; JobFailed as for `prepare`."""
        self._send(messages.STOP)
        answer = self._receive(self._deadline_s)
        return answer if answer != messages.ENOUGH else self._receive(self._deadline_s)

    def terminate_after(self, seconds: float, path: Path) -> float:
        """Let it run for a while and terminate it: seconds until it has written a checkpoint and is gone.

        Raises:
            JobFailed: it does not end, or by an error.
        """
        answer = self._ask(messages.RunUntilTerminated(str(path.absolute())))
        assert answer == messages.ENOUGH, answer
        time.sleep(seconds)
        begin = time.monotonic()
        self._process.terminate()
        try:
            self._process.wait(self._patience_s(self._deadline_s))
        except subprocess.TimeoutExpired:
            raise self._hung(self._deadline_s) from None
        stop_s = time.monotonic() - begin
        if self._process.returncode:
            raise self._died()
        return stop_s

    def close(self) -> None:
        """End the process, whatever it is doing, and its workers, which outlive one that has ended itself."""
        self._pipe.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # one that waits for a device in the kernel does not end
            self._process.wait(_WAIT_FOR_END_S)
        self._words.close()

    def _ask(self, message: object) -> Any:
        self._send(message)
        return self._receive(self._deadline_s)

    def _send(self, message: object) -> None:
        with suppress(OSError):  # of a process that is gone, `_receive` says why
            self._pipe.send(message)

    def _receive(self, within_s: float) -> Any:
        try:
            self._wait_for_answer(within_s)
            answer = self._pipe.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if not isinstance(answer, messages.Failed):
            return answer
        if answer.cause == "usage":
            raise UsageError(answer.text)
        at = f" ({messages.one_line(answer.at)})" if answer.at else ""
        raise JobFailed(f"{answer.cause}: {messages.one_line(answer.text)[:_LONGEST]}{at}")

    def _wait_for_answer(self, within_s: float) -> None:
        """JobFailed if none comes. A process that has ended gives none, even if its children hold the pipe open."""
        until_s = time.monotonic() + within_s
        while not self._pipe.poll(self._patience_s(min(_LOOK_S, until_s - time.monotonic()))):
            if not self.is_alive and not self._pipe.poll():
                raise self._died()
            if time.monotonic() >= min(until_s, self.until_s):
                raise self._hung(within_s)

    def _patience_s(self, within_s: float) -> float:
        return max(0.0, min(within_s, self.until_s - time.monotonic()))

    def _hung(self, within_s: float) -> JobFailed | TimeIsOver:
        if time.monotonic() >= self.until_s:
            return TimeIsOver()
        return JobFailed(f"hang: no answer within {within_s:g} s")

    def _died(self) -> JobFailed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT_FOR_END_S)
        code = self._process.poll()
        if code is None:
            return JobFailed("crash: it hung up")
        if code < 0:
            return JobFailed(f"killed: by {signal.Signals(-code).name}")
        return JobFailed(f"crash: exit code {code}: {self._last_words()}".removesuffix(": "))

    def _last_words(self) -> str:
        """The last line that it has printed."""
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - 10 * _LAST_WORDS))
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return messages.one_line(lines[-1])[:_LAST_WORDS] if lines else ""
