"""Parts of sentences about wrong values."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_WORDS = (
    (r"^Value error, ", ""),
    (r"^Input should be|^Input must be", "must be"),
    (r"^Input should have|^(?:Tuple|List|Dictionary|String|Value) should have", "must have"),
    (r", unable to parse.*| after validation", ""),
    (r"a valid tuple", "a list"),
    (r"a valid (number|string|list|boolean)", r"a \1"),
    (r"a valid integer", "a whole number"),
    (r"a valid dictionary", "a mapping"),
)


def wording(message: str) -> str:
    """``must be a number`` of "Input should be a valid number, unable to parse string as a number"."""
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message[:1].lower() + message[1:]


def quoted(value: object, most: int = 60) -> str:
    """The value as Python writes it, cut where it is long: a cell may be a megabyte."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def described(value: object) -> str:
    """``the class Fifo``, ``list ['fifo', 'srtf']`` or ``None``: what was given in the place of something else."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind, said = type(value).__name__, quoted(value)
    return said if value is None or said.startswith(kind) else f"{kind} {said}"


def counted(number: int, one: str, several: str = "") -> str:
    """``1 job`` or ``2,500 jobs``; ``1 job has`` or ``2 jobs have``, where `several` is more than an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def fault_of(error: "ValidationError") -> tuple[str, str]:
    """The field that is wrong, the first of several, and what is wrong with it."""
    fault = error.errors()[0]
    at = [str(part) for part in fault["loc"] if part != "[key]"]
    said = wording(fault["msg"])
    ours = "error" in fault.get("ctx", {}) and not said.startswith("must")  # a sentence of ours names the value
    whole = ours or fault["type"] == "missing"
    return ".".join(at), said if whole else f"{said}, not {fault['input']!r:.60}"
