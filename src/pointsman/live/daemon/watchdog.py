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
        while not self._closed.wait(_LOOK_S):
            began_s = self._began_s
            if began_s is not None and time.monotonic() - began_s > self._most_s:
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
