"""The header of an `sacct` export: found by its names, whatever is between them and before it."""

import re
from typing import Final, NamedTuple

from pointsman.workload.readers.rows import names_of
from pointsman.workload.readers.sacct_fields import TELLING, canonical

MOST_BEFORE: Final = 100
"""Lines before the header: warnings, and what a login shell prints."""
_FIRST: Final = re.compile(r"\W*?(?P<quote>\"?)[A-Za-z]\w*(?P=quote)(?P<between>[^\w\"]+?)(?=\"?[A-Za-z])")
_STATES: Final = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "RUNNING", "PENDING", "NODE_FAIL", "OUT_OF_MEMORY")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Header(NamedTuple):
    """A line with the names of columns."""

    names: list[str]
    """As Slurm's manual writes them; those after a trailing delimiter are not among them."""
    delimiter: str
    """Empty: columns of fixed width."""
    quoted: bool
    """Whether cells may be in quotes that are no part of them: the file was made by another program than sacct."""


def header_of(line: str) -> Header | None:
    """The header that a line is, if it is one of `sacct`."""
    folded = line.casefold()
    if "jobid" not in folded and "job_id" not in folded:
        return None
    found = _FIRST.match(line)
    if found is None:
        return None
    between = found["between"]
    if not between.strip(" "):
        return Header([], "", False) if _names_jobs(line.split()) else None
    delimiter = between.strip(" ") or between
    quoted = delimiter == "," or bool(found["quote"])
    names = names_of(line, delimiter) if quoted else line.split(delimiter)
    names = [canonical(name) for name in names]
    while names and not names[-1]:
        names.pop()
    return Header(_distinct(names), delimiter, quoted) if _names_jobs(names) else None


def _names_jobs(names: list[str]) -> bool:
    known = {canonical(name) for name in names}
    return bool(known & {"JobIDRaw", "JobID"}) and len(known & {*TELLING}) >= 2


def _distinct(names: list[str]) -> list[str]:
    """Renames fields that stand twice: only the first keeps its name."""
    return [name if name not in names[:i] else f"{name} ({i + 1})" for i, name in enumerate(names)]


def is_headless(line: str) -> bool:
    """Whether a line looks like a row of `sacct`: an id, a date and a state between delimiters."""
    for delimiter in ("|", "\t", ";", ",", "^"):
        cells = [cell.strip() for cell in line.split(delimiter)]
        has_id = any(re.fullmatch(r"\d+(?:[_+]\S*)?(?:\.\w+)?", cell) for cell in cells[:3])
        has_state = any(cell.split(" ")[0] in _STATES for cell in cells)
        if len(cells) >= 4 and has_id and has_state and any(_DATE.fullmatch(cell) for cell in cells):
            return True
    return False
