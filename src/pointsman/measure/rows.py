"""The file of a measurement: a row is on the disk as soon as it is measured, and a later run goes on after it."""

import csv
import fcntl
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.inputs.output_path import check_output_file, hidden
from pointsman.speed.measured_rows import ENVIRONMENT

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
        self._file = self._open(path)
        if not os.path.samestat(os.fstat(self._file), path.stat()):
            raise self._refuse_second(self._file)  # which has replaced the file meanwhile
        self._replacement.unlink(missing_ok=True)
        self.rows = self._begin(b"" if force else path.read_bytes())

    def _open(self, path: Path) -> int:
        """A descriptor of a file that no other process writes."""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise self._refuse_second(file) from None
        return file

    @property
    def _replacement(self) -> Path:
        """Where a new content is written, beside the file."""
        return hidden(self.path.resolve(), "partial")

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
            _write(self._file, [self.columns])
        return [dict(zip(self.columns, cells, strict=True)) for cells in lines[1:] if any(cells)]

    def _refuse(self, cause: str) -> UsageError:
        os.close(self._file)
        return UsageError(f"{cause} (name another file, or replace it with --force)")

    def _refuse_second(self, file: int) -> UsageError:
        os.close(file)
        return UsageError(f"{self.path}: another measurement writes to it (name another file)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.rows:
            self.path.unlink(missing_ok=True)  # a header alone is of no use
        os.close(self._file)

    def check_environment(self, gpu_type: str, about: Mapping[str, str]) -> None:
        """UsageError if rows of this GPU type were measured in another environment: they would be fitted as one."""
        for row in self.rows:
            for column in ENVIRONMENT:
                if row["gpu_type"] == gpu_type and row[column] != about[column]:
                    raise UsageError(
                        f"{self.path}: has rows whose {column} is {row[column]!r}, and now it is {about[column]!r} "
                        "(name another file, or replace it with --force)"
                    )

    def find(self, identity: Mapping[str, object]) -> Row | None:
        """The row with these cells."""
        wanted = {column: cell(value) for column, value in identity.items()}
        matching = (row for row in reversed(self.rows) if all(row[name] == text for name, text in wanted.items()))
        return next(matching, None)

    def add(self, rows: Sequence[Mapping[str, object]], instead_of: Sequence[Row] = ()) -> None:
        """Write rows, which are on the disk when this returns; the file has either them or those which they replace."""
        new = [{column: cell(row.get(column)) for column in self.columns} for row in rows]
        kept = [row for row in self.rows if not any(row is old for old in instead_of)]
        if len(kept) == len(self.rows):
            _write(self._file, [list(row.values()) for row in new])
        else:
            self._replace([*kept, *new])
        self.rows = [*kept, *new]

    def _replace(self, rows: Sequence[Row]) -> None:
        file = self._open(self._replacement)
        _write(file, [self.columns, *(list(row.values()) for row in rows)])
        self._replacement.replace(self.path.resolve())
        os.close(self._file)
        self._file = file


def _write(file: int, lines: Sequence[Sequence[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    left = text.getvalue().encode()
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


def cell(value: Any) -> str:
    """A value as text, on one line."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split())
