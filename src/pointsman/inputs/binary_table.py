"""Parquet and Arrow files from elsewhere, read in a process of their own: a damaged one can abort the process that
reads it.
"""

import io
import subprocess
import sys
from typing import Final

import polars as pl

from pointsman.errors import InputError

_READER: Final = """
import sys, polars
frame = getattr(polars, sys.argv[1])(sys.stdin.buffer.read())
frame.write_ipc(sys.stdout.buffer, compat_level=polars.CompatLevel.newest())
"""
"""It writes a table that this same library has just made, so reading that one is safe."""


_KINDS: Final = (
    (b"PAR1", "Parquet file", "read_parquet"),
    (b"ARROW1", "Arrow file", "read_ipc"),
    (b"\xff\xff\xff\xff", "Arrow stream", "read_ipc_stream"),
)
"""First bytes, what they begin, and the function of Polars that reads it."""


def kind_of_table(data: bytes) -> str:
    """`Parquet file`, `Arrow file` or `Arrow stream`; empty: none of these."""
    return next((kind for magic, kind, _ in _KINDS if data.startswith(magic)), "")


def read_foreign_table(data: bytes, *, path: str) -> pl.DataFrame:
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
    reader = subprocess.run(
        [sys.executable, "-I", "-c", _READER, function], input=data, capture_output=True, check=False
    )
    if reader.returncode:
        cause = f"the {kind} is truncated or damaged: {_cause(reader):.200}"
        raise InputError(cause, path=path, fix="fetch or write the file again")
    return pl.read_ipc(io.BytesIO(reader.stdout))


def _cause(reader: subprocess.CompletedProcess[bytes]) -> str:
    """The error of its traceback, or that there was none."""
    said = reader.stderr.decode(errors="replace").strip().splitlines()
    if reader.returncode < 0:
        return f"reading it ends the process with signal {-reader.returncode}" + (f": {said[0]}" if said else "")
    errors = [line for line in said if line.startswith(("polars.", "pyo3_runtime.", "MemoryError", "OSError"))]
    return errors[-1].partition(": ")[2] if errors else "reading it fails"
