"""What the readers of measured rows say of unsteady ones."""

from collections.abc import Sequence
from pathlib import Path

from pointsman.cli import screen
from pointsman.inputs.messages import counted
from pointsman.speed.measured_rows import SPREAD_LIMIT


def note_unsteady(path: Path, is_unsteady: Sequence[bool]) -> None:
    """Say how many of the rows that were taken from a file are unsteady, and how to repeat them."""
    if any(is_unsteady):
        has = counted(sum(is_unsteady), "row has", "rows have")
        screen.note(
            f"{path}: of {counted(len(is_unsteady), 'row')}, {has} a spread above {SPREAD_LIMIT:g}; "
            "the 'pointsman measure' that wrote the file measures them again "
            f"with --again unsteady --spread-limit {SPREAD_LIMIT:g}"
        )
