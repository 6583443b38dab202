"""What is wrong with compiled code that a user wrote, in a sentence with file and line."""

import re
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pointsman.errors import PointsmanError, UsageError

SAID = 3
"""How the process that compiles ends when all is said by what it has written, and nothing is wrong with the code."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CAUSE = re.compile(
    r"^(?:[\w.]+\.)?"
    r"(\w*(?:Error|Exception): .+|No implementation (?:.|\n)+?>>> .+|Unknown attribute .+|Cannot unify .+)$",
    re.M,
)
_FAILED = "mode pipeline (step: "
"""What Numba says of each function on the way, before the cause."""
_STEP = re.compile(rf"^.*{re.escape(_FAILED)}.*\)\n(?!.*{re.escape(_FAILED)})(.+)$", re.M)
_IN_OTHER_WORDS = [
    (re.compile(numba_says), words)
    for numba_says, words in (
        (r"Untyped global name '(\w+?)_?': Cannot determine Numba type of <class 'function'>", r"'\1' lacks @core"),
        (r"Literal\[Expr\]\(make_function\(.*?code object (\S+) at .*?\)\)", r"the inner function \1"),
        (r"Rows\(Record\([^()]*\), \d\)", "an array of records"),
        (r"Record\([^()]*\)", "a record"),
        (r"NRT required but not enabled", "it allocates memory, as lists and arrays do"),
        (r"it needs numba_gil_ensure, and compiled code has no Python objects", "it calls Python, as print does"),
        (r"\.? Raised from .*", ""),
    )
]
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


def line_of_user(error: Exception, hooks: str) -> int:
    """The line of `hooks`, a user's file, in which an error arose while they ran as Python; 0 if it did not."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == hooks]
    return lines[-1] or 0 if lines else 0


def _cause(text: str) -> str:
    """The last cause that Numba names, else the last that it gives without a kind, else the error's own words."""
    named = [cause for cause in _CAUSE.findall(text) if _FAILED not in cause and not cause.startswith("CompileError:")]
    found = named or _STEP.findall(text) or text.splitlines()[:1]
    cause = " ".join(found[-1].split())
    for numba_says, words in _IN_OTHER_WORDS:
        cause = numba_says.sub(words, cause)
    return cause


def _line(text: str, path: str) -> str:
    """``:12``: where the error says it is, else where the name that it quotes first stands; empty if neither is."""
    name = re.escape(Path(path).name)
    if places := re.findall(rf'{name}(?:", line | \()(\d+)[:)]', text):  # as Numba says it: the innermost first
        return f":{places[0]}"
    if places := re.findall(rf'{name}", line (\d+)', text):
        return f":{places[-1]}"
    names = _QUOTED.findall(_cause(text))
    for number, line in enumerate(Path(path).read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if names and re.search(rf"\b{names[0]}\b", line):
            return f":{number}"
    return ""
