"""How jobs ended, as ``sacct`` prints it."""

from typing import Final

from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.answers import cells
from pointsman.live.backends.slurm.records import EndedRun

FIELDS: Final = ("JobID", "JobIDRaw", "State", "ExitCode", "Submit", "Start", "End", "NodeList")
"""None of them has words of users."""
OPTIONS: Final = ("--parsable2", "--allocations", "--duplicates", f"--format={','.join(FIELDS)}")


def read_runs(text: str) -> list[EndedRun]:
    """The runs of an answer to `OPTIONS`, a requeued job's each.

    Raises:
        Unsure: it is not whole, or cannot be read.
    """
    header, *lines = text.split("\n")
    if header.split("|") != [*FIELDS] or lines[-1:] != [""]:
        raise Unsure(f"sacct: no whole answer: {text!r:.80}")
    return [_run(line) for line in lines[:-1]]


def _run(line: str) -> EndedRun:
    try:
        id_, number, state, code, submit, start, end, nodes = line.split("|")
        return EndedRun(
            id_, int(number), state.split()[0].rstrip("+"), cells.ending(code),
            *map(cells.moment_s, (submit, start, end)), nodes=cells.names(nodes),
        )  # fmt: skip
    except (ValueError, IndexError) as error:
        raise Unsure(f"sacct: {line!r:.80}: {error}") from None
