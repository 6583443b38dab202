"""The file of a measurement: a row is on the disk as soon as it is measured, and a later run goes on after it."""

import csv
import fcntl
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.inputs.output_path import check_output_file

SAME: Final = ("device", "driver", "versions", "mode", "precision")
"""A row that differs in one of these from what is to be measured is of another measurement."""
ALIKE: Final = ("precision", "mode")
"""And rows that differ in one of these may not stand in one file: they would be fitted as one."""
Row = dict[str, str]


class RowFile:
    """A CSV file with a row for each measurement that is finished."""

    def __init__(self, path: Path, columns: Sequence[str], *, force: bool) -> None:
        """Open it, and keep its rows unless `force`; a row that was cut off is removed.

        Raises:
            UsageError: it cannot be written, is of another kind or damaged, or another process writes it.
        """
        check_output_file(path, force=True)
        self.path, self.columns = path, tuple(columns)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise UsageError(f"{path}: another measurement writes to it (name another file)") from None
        self.rows = self._begin(b"" if force else path.read_bytes())

    def _begin(self, content: bytes) -> list[Row]:
        whole = content[: content.rfind(b"\n") + 1]
        lines = list(csv.reader(io.StringIO(whole.decode(errors="replace"), newline="")))
        header = ",".join(self.columns).encode()
        if tuple(lines[0]) != self.columns if lines else not header.startswith(content):
            raise self._refuse(f"{self.path}: has other columns")
        for number, cells in enumerate(lines, 1):
            if any(cells) and len(cells) != len(self.columns):
                has = f"{counted(len(cells), 'cell')} under {counted(len(self.columns), 'column')}"
                raise self._refuse(f"{self.path}:{number}: {has}")
        os.ftruncate(self._file, len(whole))
        if not whole:
            self._write([list(self.columns)])
        return [dict(zip(self.columns, cells, strict=True)) for cells in lines[1:] if any(cells)]

    def _refuse(self, cause: str) -> UsageError:
        os.close(self._file)
        return UsageError(f"{cause} (name another file, or replace it with --force)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.rows:
            self.path.unlink(missing_ok=True)  # a header alone is of no use
        os.close(self._file)

    def check_alike(self, about: Mapping[str, str]) -> None:
        """UsageError if there are rows of another precision or sharing mode than `about` has."""
        for row in self.rows:
            for column in ALIKE:
                if row[column] != about[column]:
                    raise UsageError(
                        f"{self.path}: has rows whose {column} is {row[column]!r}, and now it is {about[column]!r} "
                        "(name another file)"
                    )

    def find(self, identity: Mapping[str, object]) -> Row | None:
        """The last row with these cells."""
        wanted = {column: cell(value) for column, value in identity.items()}
        matching = (row for row in reversed(self.rows) if all(row[name] == text for name, text in wanted.items()))
        return next(matching, None)

    def add(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Write rows, which are on the disk when this returns."""
        texts = [{column: cell(row.get(column)) for column in self.columns} for row in rows]
        self._write([list(row.values()) for row in texts])
        self.rows += texts

    def _write(self, lines: Sequence[Sequence[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(lines)
        os.write(self._file, text.getvalue().encode())
        os.fsync(self._file)


def cell(value: Any) -> str:
    """A value as text, on one line."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split())
