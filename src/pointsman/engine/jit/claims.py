"""Which of several processes compiles what: each claims a thing before it does, and a claim ends with its process."""

import contextlib
import errno
import fcntl
import functools
import hashlib
import os

from pointsman.engine.jit.loading import build_folder


def claim(what: str) -> bool:
    """Claim `what`; False if another process has. Where files cannot be locked, every process has what it claims."""
    try:
        fcntl.lockf(_file(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(what))
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def release(what: str) -> None:
    """Let others claim `what`."""
    with contextlib.suppress(OSError):
        fcntl.lockf(_file(), fcntl.LOCK_UN, 1, _byte(what))


def _byte(what: str) -> int:
    """The byte of the file of claims that stands for `what`, whether the file is that long or not."""
    return int(hashlib.sha256(what.encode()).hexdigest()[:7], 16)


@functools.cache
def _file() -> int:
    return os.open(build_folder() / "claims", os.O_RDWR | os.O_CREAT, 0o600)
