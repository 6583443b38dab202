"""The version, for modules that may not import the package's public names, and the digest of the source."""

import time
from functools import cache

__version__ = "0.1.0"
BEGAN_NS = time.time_ns()
"""When the package's first module was imported: what its files say later need not be what is in memory."""


@cache
def source_digest() -> str:
    """The SHA-256 of all of Pointsman's files: equal on two machines that give equal results."""
    import hashlib  # here, as this module must load at once
    from pathlib import Path

    package = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.is_file() and path.parent.name != "__pycache__"):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
