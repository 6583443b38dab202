"""A drawn figure, or the sentence that stands in its place."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pointsman.errors import FigureWarning, PointsmanError

LONGEST_REASON = 200
"""Characters of what an error says."""


@dataclass(frozen=True)
class Drawing:
    """A drawn figure: its SVG, and the sentence that says what it shows."""

    name: str
    title: str
    svg: str | None
    """None: it could not be drawn, and the sentence says why."""
    sentence: str
    section: str = "figures"
    """The section of the page."""


Made = TypeVar("Made", bound=Drawing | None)


def attempted(name: str, title: str, make: Callable[[], Made]) -> Made | Drawing:
    """What `make` draws; if that fails for whatever reason, a sentence in its place, and a `FigureWarning`."""
    try:
        return make()
    except Exception as error:
        return Drawing(name, title, None, failure(name, error))


def failure(name: str, error: Exception) -> str:
    """Why a figure is missing, in a sentence for its place; also given as a `FigureWarning`."""
    bug = not isinstance(error, PointsmanError | OSError | MemoryError)
    why = f"{type(error).__name__}: {error}" if bug else str(error) or "out of memory"
    why = why if len(why) <= LONGEST_REASON else f"{why[:LONGEST_REASON]}…"
    more = " This is a bug in Pointsman." if bug else ""
    missing = FigureWarning(f"figure {name} is missing ({why}); tables and data are complete")
    missing.__cause__ = error
    warnings.warn(missing, stacklevel=2)
    return f"This figure could not be drawn ({why}). Tables and data are complete.{more}"


def save_drawing(directory: Path, drawing: Drawing) -> None:
    """Writes ``NAME.svg``, or ``NAME.txt`` with the sentence in its place."""
    ending, text = ("svg", drawing.svg) if drawing.svg is not None else ("txt", drawing.sentence + "\n")
    (directory / f"{drawing.name}.{ending}").write_text(text, encoding="utf-8")
