"""What is wrong with compiled code that a user wrote, in a sentence with file and line."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pointsman.errors import PointsmanError, UsageError

SAID = 3
"""How the process that compiles ends when all is said by what it has written, and nothing is wrong with the code."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CAUSE = re.compile(
    r"^(?:\w+\.)*(\w*(?:Error|Exception): .+|No implementation (?:.|\n)+?>>> .+|Unknown attribute .+|Cannot .+)$", re.M
)
_FAILED = re.compile(r"Failed in pointsman mode pipeline \(step: \)\n(?:Failed in .+\n)*")
"""After the last of these Numba says what failed innermost."""
_ALLOCATES = "NRT required but not enabled", "it allocates memory, as for a list, which compiled code must not"
_QUOTED = re.compile(r"'(\w+)'")


@contextmanager
def mistakes_in(hooks: str) -> Generator[None]:
    """Loading or compiling `hooks`, a file; anything else fails as it does.

    Raises:
        UsageError: `hooks` is a user's file, and something is wrong with it.
    """
    try:
        yield
    except PointsmanError:
        raise
    except Exception as error:
        if not hooks.endswith(".py"):
            raise
        text = _COLOUR.sub("", f"{type(error).__name__}: {error}")
        raise UsageError(f"{hooks}{_line(text, hooks)}: it cannot be compiled: {_cause(text)}") from error


def _cause(text: str) -> str:
    """What Numba says of where it failed innermost, else the last error that is named, else the first line."""
    within = _FAILED.split(text)[-1]
    if within != text:
        found = _CAUSE.match(within)
        return " ".join((found[0] if found else within.splitlines()[0]).split()).replace(*_ALLOCATES)
    named = _CAUSE.findall(text)
    return " ".join(named[-1].split()) if named else text.splitlines()[0]


def _line(text: str, path: str) -> str:
    """``:12``: where the error says it is, else where the name that it quotes first stands; empty if neither is."""
    within = _FAILED.split(text)[-1]
    if places := re.findall(rf'{re.escape(Path(path).name)}(?:", line | \()(\d+)', within):
        return f":{places[-1 if within == text else 0]}"
    names = _QUOTED.findall(_cause(text))
    for number, line in enumerate(Path(path).read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if names and re.search(rf"\b{names[0]}\b", line):
            return f":{number}"
    return ""
