"""The file of a measurement: a row is on the disk as soon as it is measured, and a later run goes on after it."""

import csv
import fcntl
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pointsman.errors import RunError, UsageError
from pointsman.inputs.messages import counted
from pointsman.inputs.output_path import check_output_file, hidden
from pointsman.measure.messages import one_line
from pointsman.speed.measured_rows import ENVIRONMENT

Row = dict[str, str]


class RowFile:
    """A CSV file with a row for each measurement that is finished."""

    def __init__(self, path: Path, columns: Sequence[str], *, force: bool) -> None:
        """Open it, and keep its rows; a row that was cut off is removed. With `force` the first new row replaces all.

        Raises:
            UsageError: it cannot be written, is of another kind or damaged, or another process writes it.
        """
        check_output_file(path, force=True)
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: not a regular file; choose another name")
        self.path, self.columns = path, tuple(columns)
        self._file = self._open(path)
        if not os.path.samestat(os.fstat(self._file), path.stat()):
            raise self._refuse_second(self._file)  # which has replaced the file meanwhile
        self._replacement.unlink(missing_ok=True)
        self._is_replaced = force and os.fstat(self._file).st_size > 0
        self.rows = [] if self._is_replaced else self._begin(path.read_bytes())

    def _open(self, path: Path) -> int:
        """A descriptor of a file that no other process writes."""
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except PermissionError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror} (name another file)") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._refuse_second(file) from None
        except OSError as error:
            os.close(file)
            cause = f"{path}: cannot be locked on this file system: {error.strerror}"
            raise UsageError(f"{cause} (name a file on another)") from None
        return file

    @property
    def _replacement(self) -> Path:
        """Where a new content is written, beside the file."""
        return hidden(self.path.resolve(), "partial")

    def _begin(self, content: bytes) -> list[Row]:
        whole = content[: content.rfind(b"\n") + 1]
        try:
            lines = list(csv.reader(io.StringIO(whole.decode("utf-8-sig"), newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise self._refuse(f"{self.path}: not a CSV file in UTF-8: {error}") from None
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
        if not self.rows and not self._is_replaced:
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
        """Write rows, which are on the disk when this returns; the file has either them or those which they replace.

        Raises:
            RunError: they cannot be written; the file is as before.
        """
        new = [{column: cell(row.get(column)) for column in self.columns} for row in rows]
        kept = [row for row in self.rows if not any(row is old for old in instead_of)]
        try:
            if self._is_replaced or len(kept) < len(self.rows):
                self._replace([*kept, *new])
            else:
                self._append(new)
        except OSError as error:
            cause = f"{self.path}: cannot be written: {error.strerror or error}"
            raise RunError(f"{cause} (rows that it has are kept; then the same command goes on)") from None
        self.rows = [*kept, *new]

    def _append(self, rows: Sequence[Row]) -> None:
        size = os.fstat(self._file).st_size
        try:
            _write(self._file, [list(row.values()) for row in rows])
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def _replace(self, rows: Sequence[Row]) -> None:
        file = self._open(self._replacement)
        try:
            _write(file, [self.columns, *(list(row.values()) for row in rows)])
            self._replacement.replace(self.path.resolve())
        except OSError:
            self._replacement.unlink(missing_ok=True)
            os.close(file)
            raise
        os.close(self._file)
        self._file, self._is_replaced = file, False


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
    return one_line(str(value))
