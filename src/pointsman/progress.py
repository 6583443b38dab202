"""How far something long is: a bar on a terminal or in a notebook, and nothing where nobody looks."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Tell = Callable[[float], None]
"""It is told a share, from 0 to 1."""
DELAY_S: Final = 0.3
"""What is over sooner has no bar."""
EVERY_S: Final = 0.1
"""Time between two drawings."""

_open: "Bar | None" = None
"""There is one at most: what runs within something longer is part of it."""
_is_automatic = True


class Progress:
    """How far something is, from 0 to 1; nobody sees it."""

    def update(self, share: float, label: str = "") -> None:
        """Be at `share`; `label` says what is going on."""


class Bar(Progress):
    """A bar. A thread draws it, so that it moves while code is compiled."""

    def __init__(self, name: str) -> None:
        self._name, self._said = name, ""
        self._share: float | None = None
        self._ended = Event()
        self._thread = Thread(target=copy_context().run, args=(self._draw,), daemon=True)
        self._thread.start()

    def update(self, share: float, label: str = "") -> None:
        self._share, self._said = share, label

    def say(self, label: str) -> None:
        """Say what is going on where its share is unknown."""
        self._said = label

    def close(self) -> None:
        """Remove it."""
        self._ended.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._ended.wait(DELAY_S):
            return
        with _open_bars() as (bars, refresh):
            task = bars.add_task(self._name, total=None)
            is_over = False
            while not is_over:
                total, done = (None, 0.0) if self._share is None else (1.0, self._share)
                bars.update(task, total=total, completed=done, description=f"{self._name} {self._said}".rstrip())
                refresh()
                is_over = self._ended.wait(EVERY_S)


@contextmanager
def bar(name: str) -> Generator[Bar]:
    """A bar while something is going on."""
    global _open
    one = _open = Bar(name)
    try:
        yield one
    finally:
        _open = None
        one.close()


@contextmanager
def shown(name: str, tell: Tell | None = None) -> Generator[Callable[..., None]]:
    """What to tell the share of something, and a label: `tell` if it is given, else a bar where somebody looks.

    A process started by another one, and what runs within something that has a bar, show none.
    """
    if tell is not None:
        yield tell
    elif _open is None and _is_automatic and is_watched():
        with bar(name) as one:
            yield one.update
    else:
        yield Progress().update


def say(label: str) -> None:
    """If there is a bar, let it say this."""
    if _open is not None:
        _open.say(label)


def leave_to_command() -> None:
    """Show no bar that the command which is running does not ask for."""
    global _is_automatic
    _is_automatic = False


def is_watched() -> bool:
    """Whether this is a notebook, or a process whose standard error is a terminal."""
    from multiprocessing import current_process

    return current_process().name == "MainProcess" and (_in_notebook() or sys.stderr.isatty())


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def _open_bars() -> "Generator[tuple[Bars, Callable[[], Any]]]":
    """Bars, and what draws them anew. In a notebook IPython shows them: rich would need a widget."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    bars = Bars(
        *columns, TextColumn("left"), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True, auto_refresh=False,
    )  # fmt: skip
    if not _in_notebook():
        with bars:
            yield bars, bars.refresh
        return
    from IPython.display import HTML, display

    place = display(bars, display_id=True)
    try:
        yield bars, lambda: place.update(bars)
    finally:
        place.update(HTML(""))
