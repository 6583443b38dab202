"""Runs the command as people do: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


def pointsman(
    *args: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished process of ``python -m pointsman ARGS``."""
    plain = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "pointsman", *args],
        cwd=cwd,
        input=stdin,
        env=plain | {"COLUMNS": "200"} | (env or {}),
        capture_output=True,
        text=True,
        timeout=300,
    )
