"""Tables of ``squeue`` and ``sinfo`` whose cells may hold anything: each ends in a mark, new with every question.

No user can have put that mark into a job's name, so bars, quotes, line breaks and bytes of any kind do no harm. The
header is asked for, too: an answer without one is no answer, and not an empty cluster.
"""

import secrets
from collections.abc import Mapping
from typing import Final

from pointsman.live.backends.facts import Unsure

Row = dict[str, str]
_EDGE: Final = "|"
"""Before and behind the mark: Slurm reads digits there as a width."""


def new_mark() -> str:
    """What ends each cell of one question."""
    return f"{_EDGE}{secrets.token_hex(8)}{_EDGE}"


class Table:
    """Columns of a command of Slurm, by our names for them."""

    def __init__(self, command: str, columns: Mapping[str, str]) -> None:
        self._command, self._columns = command, dict(columns)

    def format(self, mark: str) -> str:
        """The option that asks for these columns, each as wide as it needs to be."""
        return "--Format=" + ",".join(f"{column}:{mark}" for column in self._columns.values())

    def rows(self, text: str, mark: str) -> list[Row]:
        """The rows of an answer.

        Raises:
            Unsure: it is not whole, or lacks a column.
        """
        *cells, end = text.split(mark)
        width = len(self._columns)
        if end.strip("\n") or not cells or len(cells) % width:
            raise Unsure(f"{self._command} gave half an answer: {len(cells)} cells of rows of {width}")
        lines = [cells[at : at + width] for at in range(0, len(cells), width)]
        self._check_header(lines[0])
        return [self._row(line) for line in lines[1:]]

    def _check_header(self, cells: list[str]) -> None:
        for column, title in zip(self._columns.values(), cells, strict=True):
            if not title or title != title.strip(" "):
                raise Unsure(f"{self._command} of this version does not print the column {column} whole")

    def _row(self, cells: list[str]) -> Row:
        if not cells[0].startswith("\n"):
            raise Unsure(f"{self._command} gave rows that do not begin in a new line")
        return dict(zip(self._columns, [cells[0][1:], *cells[1:]], strict=True))
