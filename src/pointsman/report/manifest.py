"""Who made a directory of results, from what, and with what."""

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pointsman.engine.run.result import RunData
from pointsman.errors import InputError
from pointsman.report.manifest_model import manifest_fault
from pointsman.report.staging import MARK
from pointsman.version import __version__

SCHEMA_VERSION = 1
"""The version of the run directory; raised when a reader of the old one would misread the new one."""

PACKAGES = ("numpy", "numba", "polars", "matplotlib")


def write_manifest(directory: Path, kind: str, results: Sequence[RunData], command: str | None, **more: Any) -> None:
    """Writes ``manifest.json``; `more` are further entries."""
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "command": command,
        "argv": sys.argv,
        "versions": _versions(),
        "git_sha": _git_sha(),
        "seeds": [result.info.get("seed") for result in results],
        "input_sha256": [(result.info.get("workload") or {}).get("sha256") for result in results],
        "wall_s": [result.info.get("wall_s") for result in results],
        "host": {"name": platform.node(), "system": platform.platform(), "machine": platform.machine()},
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "exit_status": 0,
        **more,
    }
    (directory / MARK).write_text(json.dumps(manifest, indent=1, default=list) + "\n", encoding="utf-8")


def read_manifest(directory: Path, *kinds: str) -> dict[str, Any]:
    """The manifest of a directory of one of these kinds.

    Raises:
        InputError: there is none, it cannot be read, or it is of another kind or schema.
    """
    path = directory / MARK
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"no run found ({error.strerror})", path=path, fix="give the directory of a run") from None
    except (ValueError, RecursionError):
        raise InputError("this is not JSON", path=path, fix="the run directory is damaged; run again") from None
    if not isinstance(manifest, dict) or manifest.get("kind") not in kinds:
        wanted = " or ".join(f"a {kind}" for kind in kinds)
        raise InputError(f"this is not the manifest of {wanted}", path=path, fix=f"give the directory of {wanted}")
    if manifest.get("schema_version") != SCHEMA_VERSION:
        found = manifest.get("schema_version")
        raise InputError(
            f"schema {found} is not {SCHEMA_VERSION}, which this version reads", path=path, fix="run again"
        )
    if fault := manifest_fault(manifest):
        raise InputError(fault, path=path, fix="the run directory is damaged; run again")
    return manifest


@cache
def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {"pointsman": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


@cache
def _git_sha() -> str | None:
    """Commit of the source tree, when Pointsman runs from one."""
    here = Path(__file__).parent
    if not (here.parents[2] / ".git").exists():
        return None
    asked = subprocess.run(["git", "-C", str(here), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None
