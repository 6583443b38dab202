"""Objects of exported functions on disk: a file each, named by a digest of what it is compiled from.

So an object is never stale, nothing is locked, and whoever finds one uses it. A file begins with a line that says what
is in it and the digest of the rest, for a damaged object can end the process inside LLVM.
"""

import contextlib
import errno
import functools
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from pointsman.cache_folder import HOME, PRIVATE, discard, find_place
from pointsman.errors import RunError

_KEPT_S = 30 * 86_400


class Object(NamedTuple):
    """Machine code of an exported function, relocatable."""

    symbol: str
    calls: tuple[str, ...]
    """Symbols of other exported functions that it calls."""
    code: bytes


def object_file(digest: str) -> Path:
    """Where the object with this digest is, or will be."""
    return folder() / f"{digest}.o"


def folder() -> Path:
    """The folder of objects.

    Raises:
        UsageError, RunError: there is none that may be used.
    """
    return _folder(*(os.environ.get(name) for name in (HOME, PRIVATE, "XDG_CACHE_HOME", "HOME")))


@functools.cache
def _folder(*_: str | None) -> Path:
    return find_place().folder


def write_object(digest: str, made: Object) -> None:
    """Write an object, whole or not at all.

    Raises:
        RunError: there is no room.
    """
    write_checked(object_file(digest), made.code, symbol=made.symbol, calls=made.calls)


def read_object(digest: str) -> Object | None:
    """The object with this digest; None if it is not there. One that is not as it was written is removed: None."""
    found = read_checked(object_file(digest))
    return found and Object(found[0]["symbol"], tuple(found[0]["calls"]), found[1])


def take_object(digest: str) -> Object:
    """The object with this digest, which was there a moment ago.

    Raises:
        RunError: it is gone.
    """
    if found := read_object(digest):
        return found
    raise RunError("compiled code has just been removed: run the command again")


def write_checked(path: Path, content: bytes, **told: Any) -> None:
    """Write a file that begins with a line of what is told of it and the digest of its content.

    Raises:
        RunError: there is no room.
    """
    head = {**told, "name": path.name, "sha256": hashlib.sha256(content).hexdigest()}
    write_whole(path, json.dumps(head).encode() + b"\n" + content)


def read_checked(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """What is told of a file, and its content; None if it is not there. One that is damaged, or is another's under its
    name, is removed: None.
    """
    try:
        head, _, content = path.read_bytes().partition(b"\n")
        told = json.loads(head)
        if (told["name"], told["sha256"]) == (path.name, hashlib.sha256(content).hexdigest()):
            os.utime(path)
            return told, content
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):  # it is as it was
            raise
    except (ValueError, KeyError, TypeError):  # no JSON, or other JSON
        pass
    discard(path)
    return None


def prune() -> None:
    """Remove what was not used for long."""
    unused = time.time() - _KEPT_S
    for path in [each for kind in ("o", "ir", "json") for each in folder().glob(f"*.{kind}*")]:
        with contextlib.suppress(OSError):  # another process may be at it
            if path.stat().st_mtime < unused:
                path.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of the store, whole or not at all.

    Raises:
        RunError: there is no room.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        fix = "compiled code is kept there; POINTSMAN_HOME names another folder"
        raise RunError(f"{path.parent}: {error.strerror} ({fix})") from error
