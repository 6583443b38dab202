"""Directories of a daemon: what is in them is obeyed, so nobody else may write there."""

import os
import stat
from pathlib import Path

from pointsman.errors import UsageError


def own_directory(path: Path, mode: int) -> Path:
    """A directory of this user's, which is made with `mode` if it is not there.

    Raises:
        UsageError: it is another user's, or others may write in it.
    """
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    found = path.stat()
    others = stat.S_IWOTH | (stat.S_IWGRP if os.getuid() == 0 else 0)
    if found.st_uid != os.getuid() or found.st_mode & others:
        raise UsageError(f"{path}: others may write there, and what is there is obeyed; name another with --state")
    return path
