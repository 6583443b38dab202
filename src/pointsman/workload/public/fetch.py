"""Fetch a public log into a folder: resumed where it broke off, checked, unpacked, with a record of its bytes."""

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pointsman.errors import BackendError, InputError
from pointsman.workload.public.catalogue import PublicTrace
from pointsman.workload.readers.source import most_unpacked_bytes

PIECE: Final = 1 << 18
TIMEOUT_S: Final = 60.0
"""Silence of the server after which a download ends."""
RECORD: Final = "record.json"
_PART, _STATE = "download.part", "download.json"
_POINTER: Final = b"version https://git-lfs"

Progress = Callable[[float], None]
Record = dict[str, Any]


def fetch(trace: PublicTrace, folder: Path, progress: Progress, *, force: bool = False) -> tuple[Record, bool]:
    """The record of the logs of `trace` in `folder`, and whether they were fetched now.

    The record has the address, the licence, SHA-256 and size of the bytes, and the names of the ``files``. A download
    that broke off goes on where it ended, if the file at the publisher's is still the same.

    Args:
        trace: what to fetch.
        folder: where to; made if there is none.
        progress: is called with the share that is there.
        force: fetch again what is there.

    Raises:
        BackendError: the publisher cannot be reached, or the connection broke off; what has come is kept.
        InputError: the bytes are not those that are expected.
    """
    known = read_record(folder)
    if known is not None and not force and all((folder / name).is_file() for name in known["files"]):
        return known, False
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / _PART
    _download(trace, folder, progress)
    digest = _check_digest(trace, part, known)
    size = part.stat().st_size
    files = [*_unpack(trace, part, folder)]
    record: Record = {"name": trace.name, "url": trace.url, "licence": trace.licence, "cite": trace.cite}
    record |= {"sha256": digest, "bytes": size, "files": files}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for left in (_PART, _STATE):
        (folder / left).unlink(missing_ok=True)
    return record, True


def read_record(folder: Path) -> Record | None:
    """What was fetched into `folder`; None if nothing was, or its record is damaged."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return record if isinstance(record["files"], list) and record["sha256"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _download(trace: PublicTrace, folder: Path, progress: Progress) -> None:
    part, state = folder / _PART, folder / _STATE
    request = Request(trace.url, headers={"User-Agent": "pointsman", **_resuming(trace, part, state)})
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:
            goes_on = answer.status == 206
            begun = part.stat().st_size if goes_on else 0
            left = answer.headers.get("Content-Length")
            whole = None if left is None else begun + int(left)
            validator = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
            state.write_text(json.dumps({"url": trace.url, "validator": validator}), encoding="utf-8")
            _receive(answer, part, begun, whole, progress)
    except HTTPError as error:
        if error.code == 416:  # nothing is left to come, or what is there is no beginning of it
            if error.headers.get("Content-Range") == f"bytes */{part.stat().st_size}":
                return
            part.unlink()
        raise BackendError(f"{trace.url}: the server answers {error.code} {error.reason}; try again later") from None
    except (URLError, HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise BackendError(f"{trace.url}: cannot be fetched: {why!s:.120}; run the command again to go on") from None
    if whole is not None and part.stat().st_size != whole:
        come = f"{part.stat().st_size:,} of {whole:,} bytes came"
        raise BackendError(f"{trace.url}: the connection broke off ({come}); run the command again to go on")


def _resuming(trace: PublicTrace, part: Path, state: Path) -> dict[str, str]:
    """Headers that ask for the rest, if the server can tell whether the file has changed."""
    try:
        told = json.loads(state.read_text(encoding="utf-8"))
        validator, size = str(told["validator"]), part.stat().st_size
        if told["url"] != trace.url or not validator or validator.startswith("W/") or not size:
            return {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {"Range": f"bytes={size}-", "If-Range": validator}


def _receive(answer: Any, part: Path, begun: int, whole: int | None, progress: Progress) -> None:
    done = begun
    with part.open("ab" if begun else "wb") as file:
        while piece := answer.read(PIECE):
            file.write(piece)
            done += len(piece)
            if whole:
                progress(done / whole)


def _check_digest(trace: PublicTrace, part: Path, known: Record | None) -> str:
    """The digest of what was fetched.

    Raises:
        InputError: it is not that of the catalogue, or of the first download; or it is no log but a pointer to one.
    """
    whole = hashlib.sha256()
    with part.open("rb") as file:
        first = file.read(PIECE)
        whole.update(first)
        while piece := file.read(PIECE):
            whole.update(piece)
    digest, expected = whole.hexdigest(), trace.sha256 or (known or {}).get("sha256")
    if first.startswith(_POINTER):
        part.unlink()
        fix = "fetch it by hand, with Git LFS"
        raise InputError("the publisher's server gave a Git LFS pointer, not the log", path=trace.url, fix=fix)
    if expected and digest != expected:
        part.unlink()
        cause = f"these are not the bytes that were expected: SHA-256 {digest}, not {expected}"
        fix = "if the publisher has changed the file, remove its folder and fetch it anew"
        raise InputError(cause, path=trace.url, fix=fix)
    return digest


def _unpack(trace: PublicTrace, part: Path, folder: Path) -> Iterator[str]:
    """Names of the logs, each of which is whole when it is there."""
    if not trace.members:
        name = trace.url.rsplit("/", 1)[-1]
        part.replace(folder / name)
        yield name
        return
    try:
        with tarfile.open(part) as archive:
            found = [one for one in archive if one.isfile() and fnmatch(one.name, trace.members)]
            for one in sorted(found, key=lambda one: one.name):
                yield _extract(archive, one, folder)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InputError(f"the archive is damaged: {error}", path=part, fix="remove it and fetch it again") from None
    if not found:
        raise InputError(f"the archive has no {trace.members}", path=part, fix="unpack it by hand")


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> str:
    name = Path(member.name).name
    if member.size > most_unpacked_bytes():
        raise InputError(f"{name} is larger than {most_unpacked_bytes() / 2**30:.4g} GiB", path=folder)
    source, half = archive.extractfile(member), folder / f".{name}.part"
    assert source is not None  # it is a file
    with half.open("wb") as file:
        while piece := source.read(PIECE):
            file.write(piece)
    half.replace(folder / name)
    return name
