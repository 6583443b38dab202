"""Parquet files from elsewhere, read in a process of their own: a damaged one can abort the process that reads it."""

import io
import subprocess
import sys
from typing import Final

import polars as pl

from pointsman.errors import InputError

_READER: Final = """
import sys, polars
frame = polars.read_parquet(sys.stdin.buffer.read())
frame.write_ipc(sys.stdout.buffer, compat_level=polars.CompatLevel.newest())
"""
"""It writes a table that this same library has just made, so reading that one is safe."""


def read_foreign_parquet(data: bytes, *, path: str) -> pl.DataFrame:
    """The table in the bytes of a Parquet file, which may be damaged or hostile.

    Args:
        data: the whole file.
        path: its name, for errors.

    Raises:
        InputError: it cannot be read, whatever reading it does to the process.
    """
    reader = subprocess.run([sys.executable, "-I", "-c", _READER], input=data, capture_output=True, check=False)
    if reader.returncode:
        cause = f"the Parquet file is truncated or damaged: {_cause(reader):.200}"
        raise InputError(cause, path=path, fix="fetch or write the file again")
    return pl.read_ipc(io.BytesIO(reader.stdout))


def _cause(reader: subprocess.CompletedProcess[bytes]) -> str:
    """The error of its traceback, or that there was none."""
    said = reader.stderr.decode(errors="replace").strip().splitlines()
    if reader.returncode < 0:
        return f"reading it ends the process with signal {-reader.returncode}" + (f": {said[0]}" if said else "")
    errors = [line for line in said if line.startswith(("polars.", "pyo3_runtime.", "MemoryError", "OSError"))]
    return errors[-1].partition(": ")[2] if errors else "reading it fails"
