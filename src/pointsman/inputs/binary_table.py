"""Parquet and Arrow files from elsewhere, read in a process of their own: a damaged one can abort the process that
reads it.
"""

import io
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pointsman.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_READER: Final = """
import sys, polars
function = sys.stdin.buffer.readline().decode().strip()
if function:
    frame = getattr(polars, function)(sys.stdin.buffer.read())
    frame.write_ipc(sys.stdout.buffer, compat_level=polars.CompatLevel.newest())
"""
"""It writes a table that this same library has just made, so reading that one is safe. If it is told of no table, the
command ended early.
"""
_waiting: list[subprocess.Popen[bytes]] = []
"""Readers that were started and have nothing to read yet."""

_KINDS: Final = (
    (b"PAR1", "Parquet file", "read_parquet"),
    (b"ARROW1", "Arrow file", "read_ipc"),
    (b"\xff\xff\xff\xff", "Arrow stream", "read_ipc_stream"),
)
"""First bytes, what they begin, and the function of Polars that reads it."""


def kind_of_table(data: bytes) -> str:
    """`Parquet file`, `Arrow file` or `Arrow stream`; empty: none of these."""
    return next((kind for magic, kind, _ in _KINDS if data.startswith(magic)), "")


def expect_table(path: object) -> None:
    """If this is such a file, start what will read it: meanwhile a command imports what it needs itself."""
    file = Path(str(path))
    with suppress(OSError, ValueError):
        if file.is_file() and not _waiting:
            with file.open("rb") as opened:
                begins = opened.read(8)
            if kind_of_table(begins):
                _waiting.append(_start())


def _start() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-I", "-c", _READER], stdin=pipe, stdout=pipe, stderr=pipe)


def read_foreign_table(data: bytes, *, path: str) -> "pl.DataFrame":
    """The table in the bytes of a Parquet or Arrow file, which may be damaged or hostile.

    Args:
        data: the whole file.
        path: its name, for errors.

    Raises:
        InputError: it cannot be read, whatever reading it does to the process.
    """
    kind, function = next(
        ((kind, function) for magic, kind, function in _KINDS if data.startswith(magic)), _KINDS[0][1:]
    )
    import polars as pl

    with _waiting.pop() if _waiting else _start() as reader:
        if reader.stdin is not None:
            reader.stdin.write(f"{function}\n".encode())
        table, said = reader.communicate(data)
    if reader.returncode:
        cause = f"the {kind} is truncated or damaged: {_cause(reader.returncode, said):.200}"
        raise InputError(cause, path=path, fix="fetch or write the file again")
    return pl.read_ipc(io.BytesIO(table))


def _cause(code: int, stderr: bytes) -> str:
    """The error of its traceback, or that there was none."""
    said = stderr.decode(errors="replace").strip().splitlines()
    if code < 0:
        return f"reading it ends the process with signal {-code}" + (f": {said[0]}" if said else "")
    errors = [line for line in said if line.startswith(("polars.", "pyo3_runtime.", "MemoryError", "OSError"))]
    return errors[-1].partition(": ")[2] if errors else "reading it fails"
