"""Ends a daemon whose turn never ends, so that the next one lets another policy decide."""

import os
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FILE: Final = "hung"
_LOOK_S: Final = 0.2
_ASLEEP_S: Final = 1.0
"""A look that is so late was not taken because the process was stopped, or its machine."""


class Watchdog:
    """A thread that looks how long a turn has taken. What a turn had not kept is lost with the process, and decided
    again: nothing of it had been done.
    """

    def __init__(self, folder: Path, most_s: float) -> None:
        self._path, self._most_s = folder / _FILE, most_s
        self._began_s: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def turn(self) -> Generator[None]:
        """A turn that may take so long, and no longer."""
        self._began_s = time.monotonic()
        try:
            yield
        finally:
            self._began_s = None

    def close(self) -> None:
        """There are no more turns."""
        self._closed.set()

    def _watch(self) -> None:
        looked_s, asleep_s, turn_s = time.monotonic(), 0.0, None
        while not self._closed.wait(_LOOK_S):
            now_s, began_s = time.monotonic(), self._began_s
            asleep_s = asleep_s if began_s == turn_s else 0.0
            asleep_s += max(0.0, now_s - looked_s - _ASLEEP_S)  # this thread did not run, so the turn may not have
            looked_s, turn_s = now_s, began_s
            if began_s is not None and now_s - began_s - asleep_s > self._most_s:
                with suppress(OSError):  # on a full disk it is only ended
                    self._path.write_text(f"{self._most_s:g}")
                os.kill(os.getpid(), signal.SIGKILL)


def was_hung(folder: Path) -> str | None:
    """Why the daemon before was ended, if it was; it is asked once."""
    path = folder / _FILE
    if not path.exists():
        return None
    after_s = path.read_text() or "?"
    path.unlink()
    return f"the policy had not decided after {after_s} s, and its daemon was killed"
