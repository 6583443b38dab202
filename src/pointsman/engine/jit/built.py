"""The core's machine code that came with the package: one library, and a table of what is in it."""

import ctypes
import functools
import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pointsman.engine.jit.target import runs_here
from pointsman.errors import RunError

FOLDER = Path(__file__).parents[2] / "built"
LIBRARY, TABLE = "core.so", "core.json"


@functools.cache
def table() -> dict[str, Any]:
    """``units``: functions by unit; ``target``, ``sha256`` of the library. Empty in a clone, which has none.

    Raises:
        RunError: it is damaged.
    """
    path = FOLDER / TABLE
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {"units": {}}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not {"units", "target", "sha256"} <= found.keys():
        raise RunError(f"{path} is damaged: install Pointsman again")
    return found


def maker() -> str:
    """What made the machine code that this process runs: a digest of the library, else the version of Numba."""
    if found := table().get("sha256"):
        return found
    try:
        return version("numba")
    except PackageNotFoundError:  # everything runs as Python, or nothing does
        return ""


def is_shipped(unit: str) -> bool:
    """Whether the package came with machine code of a unit."""
    return unit in table()["units"]


@functools.cache
def library() -> ctypes.CDLL:
    """The library.

    Raises:
        RunError: it is damaged, or this machine cannot run it.
    """
    path, again = FOLDER / LIBRARY, "install Pointsman again"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}: {again}") from None
    if hashlib.sha256(content).hexdigest() != table()["sha256"]:
        raise RunError(f"{path} is damaged, or of another version: {again}")
    if not runs_here(table()["target"]):
        raise RunError(
            f"this processor cannot run {path}, which is for {table()['target']}: "
            "one that is built on this machine from the source distribution is for it"
        )
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise RunError(f"{path} cannot be loaded ({error}): {again}") from None
