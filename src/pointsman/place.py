"""Whether something can be written at a place, asked before the work."""

import os
from pathlib import Path

from pointsman.errors import UsageError


def check_folder(folder: Path) -> None:
    """UsageError unless `folder` can be written to, or made."""
    there = folder
    while not (there.exists() or there.is_symlink()) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise UsageError(f"{folder}: {there} is no folder, so nothing can be written there; choose another place")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: {there} may not be written to; choose another place, or change its rights")
