"""Calls of Slurm's commands: no shell, a time limit each, and a count of what they ask of the controller."""

import os
import re
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE
from typing import Final

from pointsman.errors import BackendError, UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.console import Console, kill_group

KEPT: Final = ("PATH", "SLURM_CONF", "SLURM_JWT", "HOME", "TZ", "LD_LIBRARY_PATH")
"""What commands get of our environment: others, such as SQUEUE_STATES, change their answers."""
PLAIN: Final = {"LC_ALL": "C", "INPUTRC": os.devnull, "SLURM_TIME_FORMAT": "%s", "SLURM_BITSTR_LEN": "0"}
"""Times in seconds since 1970, lists of array tasks in full, and no keys of users that mean something else."""
RPCS: Final = {
    "squeue": 2, "squeue --json": 1, "sinfo": 2, "scontrol show config": 2, "scontrol show job": 2,
    "scontrol show node": 2, "scontrol show partition": 1, "sacct": 0,
}  # fmt: skip
"""Requests that a command makes of the controller, as `sdiag` of 22.05 counts them with ``--local``; of others 1.
`sacct` asks the daemon of the accounts instead.
"""
ALONE_S: Final = 600.0
"""After a `scontrol` without arguments has hung, so long none is started to make many changes."""
_MINUTE_S: Final = 60.0
_DENIED: Final = ("access/permission denied", "invalid user id", "user not permitted")
_OLD_OPTION: Final = re.compile(
    rb"^\w+: (?:error|warning): (?:Ignoring .*|.* is (?:obsolete|defunct|deprecated)\b.*)\n?", re.M | re.I
)
"""What commands say of options in slurm.conf that have no effect any more, each time: it is no error of a command."""
_ODD_CONF: Final = ("unable to process configuration file", "could not establish a configuration source")


@dataclass(frozen=True)
class Answer:
    """What a command printed."""

    code: int
    text: str
    """Bytes that are no UTF-8 are replaced."""
    errors: str
    """Standard error, on one line, but for what it says of options that have no effect."""
    took_s: float


@dataclass
class Load:
    """What one command has asked of the controller."""

    rpcs_a_minute: int
    """In the last 60 s."""
    last_s: float
    """How long its last answer took."""


class Commands:
    """Runs the commands of Slurm on this machine.

    Args:
        timeout_s: after which a command is killed with all that it started.
        environment: instead of this process's.
    """

    def __init__(self, timeout_s: float = 20.0, environment: Mapping[str, str] | None = None) -> None:
        given = os.environ if environment is None else environment
        self._timeout_s = timeout_s
        self._environment = {name: given[name] for name in KEPT if name in given} | PLAIN
        self._asked: dict[str, deque[float]] = {}
        self._took_s: dict[str, float] = {}
        self._console: Console | None = None
        self._alone_until_s = 0.0
        """Until then each change has a process of its own."""

    @property
    def token(self) -> str:
        """By which Slurm knows whose they are, if any: SLURM_JWT."""
        return self._environment.get("SLURM_JWT", "")

    def ask(self, *command: str) -> Answer:
        """The answer of a command that reads, and must succeed.

        Raises:
            Unsure: it failed, or took too long. UsageError: it is not installed, or may not be used.
        """
        answer = self.run(*command)
        if answer.code != 0:
            raise _failure(command, answer)
        return answer

    def run(self, *command: str) -> Answer:
        """What a command answers, whether or not it succeeds.

        Raises:
            Unsure: it took too long. UsageError: it is not installed.
        """
        kind = kind_of(command)
        begun_s = time.monotonic()
        self._asked.setdefault(kind, deque()).append(begun_s)
        try:
            code, out, errors = self._answer(command)
        finally:
            self._took_s[kind] = time.monotonic() - begun_s
        printed = " ".join(_OLD_OPTION.sub(b"", errors).decode("utf-8", "replace").split())
        return Answer(code, out.decode("utf-8", "replace"), printed, self._took_s[kind])

    def load(self) -> dict[str, Load]:
        """What each kind of command asks of the controller."""
        since_s = time.monotonic() - _MINUTE_S
        for times in self._asked.values():
            while times and times[0] < since_s:
                times.popleft()
        return {
            kind: Load(len(times) * RPCS.get(kind, 1), self._took_s.get(kind, 0.0))
            for kind, times in self._asked.items()
        }

    @contextmanager
    def together(self) -> Generator[None]:
        """Changes by `scontrol` share one process meanwhile, by one thread, unless it has hung lately."""
        if time.monotonic() < self._alone_until_s:
            yield
            return
        console = self._console = Console(lambda: self._start("scontrol", stdin=PIPE, stdout=DEVNULL), self._timeout_s)
        try:
            yield
        finally:
            self._console = None
            console.close()
            if console.hung_at_first:
                self._alone_until_s = time.monotonic() + ALONE_S

    def _answer(self, command: tuple[str, ...]) -> tuple[int, bytes, bytes]:
        if self._console is not None and (errors := self._console.change(command)) is not None:
            return int(errors != b""), b"", errors
        process = self._start(*command, stdin=DEVNULL, stdout=PIPE)
        try:
            out, errors = process.communicate(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            raise Unsure(f"{kind_of(command)} gave no answer in {self._timeout_s:g} s") from None
        finally:
            if process.returncode is None:
                kill_group(process)
        return process.returncode, out, errors

    def _start(self, *command: str, stdin: int, stdout: int) -> "subprocess.Popen[bytes]":
        """In a process group of its own, which is killed whole if it takes too long."""
        program = shutil.which(command[0], path=self._environment.get("PATH"))
        if program is None:
            raise UsageError(
                f"there is no command '{command[0]}' on this machine; install Slurm's client commands "
                "(Debian, Ubuntu: apt-get install slurm-client), or add their folder to PATH"
            )
        try:
            return subprocess.Popen(
                [program, *command[1:]], bufsize=0, env=self._environment, stdin=stdin, stdout=stdout, stderr=PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:  # half installed, no memory, no process to be had
            raise Unsure(f"{kind_of(command)} cannot be started: {error.strerror}") from None


def kind_of(command: tuple[str, ...]) -> str:
    """``scontrol show job`` of a command: what is counted as one kind."""
    program, *rest = command
    words = [word for word in rest if not word.startswith("-")]
    if program == "scontrol":
        return " ".join((program, *words[: 2 if words[:1] == ["show"] else 1]))
    return f"{program} --json" if "--json" in rest else program


def _failure(command: tuple[str, ...], answer: Answer) -> Exception:
    """Which error a failed command is: one that a person must mend, or one that may pass."""
    said, kind = answer.errors.casefold(), kind_of(command)
    if any(words in said for words in _DENIED):
        return UsageError(f"{kind}: {answer.errors:.200}; run the daemon as root or as SlurmUser")
    if any(words in said for words in _ODD_CONF):
        return BackendError(f"{kind}: {answer.errors:.200}; set SLURM_CONF to the cluster's slurm.conf")
    return Unsure(f"{kind} failed with {answer.code}: {answer.errors[:200] or 'it said nothing'}")
