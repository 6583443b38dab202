"""One `scontrol` that takes one change after another: a process for each takes several times as long."""

import os
import re
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from pointsman.live.backends.facts import Unsure

_VERBS: Final = ("update", "release", "requeuehold")
_PLAIN_WORD: Final = re.compile(r"[\w.,:=\[\]-]+", re.ASCII)
"""`scontrol` reads such a word as one argument; none begins another command."""
_MOST_BYTES: Final = 4_000
"""The longest line, which a pipe takes at once."""
_UNKNOWN: Final = b"invalid keyword: "
"""So `scontrol` complains of a command that it does not have."""


class Console:
    """After each command, `scontrol` is given a word that it does not know. What it has printed on standard error
    before it complains of that word is about the command.

    Args:
        start: begins a process that reads commands.
        timeout_s: after which it is killed, if it has not answered a command.
    """

    def __init__(self, start: "Callable[[], subprocess.Popen[bytes]]", timeout_s: float) -> None:
        self._start, self._timeout_s = start, timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._takes_commands = True
        self.hung_at_first = False
        """Whether it has hung before it was given a command, as a script may that needs arguments."""
        self._word = f"pointsman-{secrets.token_hex(8)}-"
        self._lines = 0

    def change(self, command: Sequence[str]) -> bytes | None:
        """What a change printed on standard error; None if it was not made, and needs a process of its own.

        Raises:
            Unsure: `scontrol` has not answered, and may have made the change, or not.
        """
        if not can_be_typed(command) or not self._begin():
            return None
        said = self._exchange(" ".join(command[1:]))
        if said is None:
            self.close()
            raise Unsure(f"scontrol {command[1]} failed: scontrol has ended")
        return said.removesuffix(_UNKNOWN)

    def close(self) -> None:
        """End the process. It waits for a command, unless it hangs."""
        if self._process is not None:
            kill_group(self._process)
            self._process = None

    def _begin(self) -> bool:
        """Whether there is a process that takes commands: not a script, say, that needs arguments. What it prints when
        it begins, such as a warning of slurm.conf, is about no command.
        """
        if self._process is None and self._takes_commands:
            self._process = self._start()
            self.hung_at_first = True
            self._takes_commands = (self._exchange() or b"").endswith(_UNKNOWN)
            self.hung_at_first = False
            if not self._takes_commands:
                self.close()
        return self._takes_commands

    def _exchange(self, *line: str) -> bytes | None:
        """What a line, if any, printed on standard error, and the complaint of our word; None if the process has ended.

        Raises:
            Unsure: it takes too long.
        """
        assert self._process is not None and self._process.stdin is not None
        self._lines += 1
        word = f"{self._word}{self._lines}"
        try:
            self._process.stdin.write("\n".join((*line, word, "")).encode())
        except BrokenPipeError:
            return None
        return self._read_up_to(f"{word}\n".encode())

    def _read_up_to(self, end: bytes) -> bytes | None:
        assert self._process is not None and self._process.stderr is not None
        errors = self._process.stderr.fileno()
        poll = select.poll()
        poll.register(errors, select.POLLIN)
        until_s, said = time.monotonic() + self._timeout_s, b""
        while end not in said:
            left_s = until_s - time.monotonic()
            if left_s <= 0.0 or not poll.poll(1000 * left_s):
                self.close()
                raise Unsure(f"scontrol gave no answer in {self._timeout_s:g} s")
            if not (more := os.read(errors, 1 << 16)):
                return None
            said += more
        return said.removesuffix(end)


def can_be_typed(command: Sequence[str]) -> bool:
    """Whether a command is a change by `scontrol` that is read as it is meant."""
    program, verb, *words = command if len(command) > 1 else (*command, "")
    plain = all(_PLAIN_WORD.fullmatch(word) for word in words)
    return program == "scontrol" and verb in _VERBS and plain and sum(map(len, command)) + len(command) < _MOST_BYTES


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process that leads its group, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:  # closes its pipes, and waits
        pass
