"""Which files are compiled into which: what a module imports, and what that imports, in whatever way it is written."""

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*|[^\n]+)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#]+)", re.MULTILINE)
_INSTALLED = {"site-packages", "dist-packages"}
_FOLLOWED = ("policies/", "learn/environments/compiled/", "speed/laws/")
"""Rooms outside the engine whose functions are compiled; of a file elsewhere only the file itself can be compiled in,
for its constants.
"""
_IMPORTED: dict[str, tuple[int, bytes]] = {}
"""When a file was changed last, and its content, as its functions were imported."""
_real = functools.cache(os.path.realpath)


def remember(file: str) -> None:
    """The functions of `file` are being imported: compiled code of this process is of what it has now, even if it is
    edited before they are compiled.
    """
    if os.path.isfile(file):
        path, changed = _real(file), os.stat(file).st_mtime_ns
        if path not in _IMPORTED or _IMPORTED[path][0] != changed:
            _IMPORTED[path] = changed, Path(file).read_bytes()


def content_of(path: Path) -> bytes:
    """What a file had when its functions were imported; what it has now if none were."""
    imported = _IMPORTED.get(_real(str(path)))
    return imported[1] if imported else path.read_bytes()


def outside_the_engine(files: Iterable[Path]) -> list[Path]:
    """These files, and those outside the engine that they import, and that files of compiled code among them import."""
    found: set[Path] = set()
    ahead = list(files)
    while ahead:
        path = ahead.pop()
        if path not in found and not path.is_relative_to(PACKAGE / "engine"):
            found.add(path)
            ahead += imports(path) if _is_followed(path) else []
    return sorted(found)


def imports(path: Path) -> list[Path]:
    """The files that a file imports; without the standard library and what is installed."""
    return [file for name in _names(path) if (file := source_of(name))]


def _is_followed(path: Path) -> bool:
    return not path.is_relative_to(PACKAGE) or path.relative_to(PACKAGE).as_posix().startswith(_FOLLOWED)


def _names(path: Path) -> Iterator[str]:
    text = content_of(path).decode()
    for dots, module, names in _FROM.findall(text):
        base = _module_of(path).rsplit(".", len(dots))[0] if dots else ""
        whole = f"{base}.{module}".strip(".")
        yield whole
        for name in re.split(r"[,\n]", names.strip("(")):
            if words := name.partition("#")[0].split():
                yield f"{whole}.{words[0]}"
    for names in _IMPORT.findall(text):
        yield from (words[0] for name in names.split(",") if (words := name.split()))


def _module_of(path: Path) -> str:
    """Its dotted name; of a file outside the package just the file's."""
    if not path.is_relative_to(PACKAGE):
        return path.stem
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


@functools.cache
def source_of(module: str) -> Path | None:
    """The source of a module, if it is ours or the user's own."""
    top, *rest = module.split(".")
    if top == PACKAGE.name:
        return _source(PACKAGE.joinpath(*rest))
    if not top or top in sys.stdlib_module_names:
        return None
    for place in map(Path, dict.fromkeys(sys.path)):
        place = place.resolve()
        installed = place.is_relative_to(sys.prefix) or _INSTALLED & set(place.parts)
        if not installed and (found := _source(place / Path(top, *rest))):
            return found
    return None


def _source(stem: Path) -> Path | None:
    for path in (f"{stem}.py", f"{stem}/__init__.py"):
        if os.path.isfile(path):  # unlike a `Path` it takes what may not be looked at for not there
            return Path(path)
    return None
