"""Files that calls read, sent with them to machines that may not have them."""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

_BETWEEN = re.compile(r"[(),]")
SETTINGS: Final = (".yaml", ".json", ".safetensors")
"""What a policy reads from the folder of a training or a run."""


@dataclass(frozen=True)
class FileBundle:
    """Files by their absolute paths, and where calls that name them by relative ones are made from.

    There they lie as they do here, below a folder of their own, so that a relative name means the same. An absolute one
    is made relative on the way, and made absolute again in what comes back.
    """

    origin: str = field(default_factory=os.getcwd)
    contents: Mapping[str, bytes] = field(default_factory=dict)
    relative: Mapping[str, str] = field(default_factory=dict)
    """Absolute names as they were given, and what they are called there."""

    def there(self, data: T) -> T:
        """Plain data with the names of files as they are called there."""
        return _rename(data, self.relative)

    def back(self, data: T) -> T:
        """Plain data from there, with the names that were given here."""
        return _rename(data, {there: here for here, there in self.relative.items()})

    def unpacked(self, root: Path) -> Path:
        """The folder below `root` that stands for `origin`. It is kept: others on this machine may use it too."""
        digest = hashlib.sha256(repr((self.origin, sorted(self.contents.items()))).encode()).hexdigest()[:16]
        whole = root / digest
        if not whole.exists():
            root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=root) as draft:
                inner = Path(draft) / digest
                (inner / self.origin.lstrip("/")).mkdir(parents=True)
                write_files(inner, {path.lstrip("/"): content for path, content in self.contents.items()})
                _put(inner, whole)
        return whole / self.origin.lstrip("/")


def pack(data: Any) -> FileBundle:
    """The files that strings in plain data name: whole ones, and parts between brackets, commas and colons.

    A folder is taken, with all it holds, where it follows a colon, as a checkpoint does.
    """
    contents: dict[str, bytes] = {}
    relative: dict[str, str] = {}
    for name in dict.fromkeys(_names_of_files(data)):
        path = Path(name)
        files = {"": path.read_bytes()} if path.is_file() else read_files(path)
        contents |= {os.path.abspath(path / file): content for file, content in files.items()}
        if path.is_absolute():
            relative[name] = f".//{os.path.relpath(name)}"  # as no user writes a name, so that it is known again
    return FileBundle(contents=contents, relative=relative)


def digests(data: Any) -> list[dict[str, str]]:
    """SHA-256 of files that strings in plain data name, as of `pack`, and of the settings and weights in folders."""
    found: list[dict[str, str]] = []
    for name in dict.fromkeys(_names_of_files(data)):
        path = Path(name)
        inside = [] if path.is_file() else sorted(path.iterdir())
        files = [path] if path.is_file() else [file for file in inside if file.suffix in SETTINGS and file.is_file()]
        found += [{"path": str(file), "sha256": _sha256(file)} for file in files]
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed(files: Iterable[Mapping[str, str]]) -> str | None:
    """The first of the files of `digests` that is gone or holds something else; None: none."""
    for file in files:
        path = Path(file["path"])
        if not path.is_file() or _sha256(path) != file["sha256"]:
            return file["path"]
    return None


def read_files(folder: Path) -> dict[str, bytes]:
    """What all files in a folder hold, by their names there."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Files of these names in a folder."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _names_of_files(data: Any) -> Iterable[str]:
    if isinstance(data, str):
        if os.path.isfile(data):
            yield data
            return
        for part in _BETWEEN.split(data):
            first, *later = (name.strip() for name in part.split(":"))
            yield from (name for name in (first, *later) if os.path.isfile(name))
            yield from (name for name in later if os.path.isdir(name))
    elif isinstance(data, Mapping):
        yield from _names_of_files(list(data.values()))
    elif isinstance(data, list | tuple):
        for each in data:
            yield from _names_of_files(each)


def _rename(data: Any, names: Mapping[str, str]) -> Any:
    if isinstance(data, str):
        for old in sorted(names, key=len, reverse=True):  # of /a and /a/b the longer goes first
            data = data.replace(old, names[old])
    elif isinstance(data, Mapping):
        return {key: _rename(value, names) for key, value in data.items()}
    elif isinstance(data, list | tuple):
        return type(data)(_rename(each, names) for each in data)
    return data


def _put(inner: Path, whole: Path) -> None:
    try:
        inner.rename(whole)
    except OSError:
        if not whole.is_dir():  # else another worker of this machine was quicker
            raise
