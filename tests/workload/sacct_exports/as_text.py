"""Prints the records of a site as `sacct --parsable` does."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from .site import FREE_TEXT, Record, Site, records
from .tres import tres_text


@dataclass(frozen=True)
class Layout:
    """How an export is written."""

    fields: tuple[str, ...]
    delimiter: str = "|"
    case: Callable[[str], str] = str
    trailing: bool = False
    """`--parsable`, not `--parsable2`: a delimiter ends each line."""
    junk: str = ""
    """What stands before the header."""
    headers: int = 0
    """The header stands before every so many rows; 0: once."""
    tail: str = ""
    line_end: str = "\n"
    epochs: bool = False
    """`SLURM_TIME_FORMAT=%s`"""
    order: str = "submitted"

    @property
    def free_text(self) -> list[str]:
        return [name for name in self.fields if name in FREE_TEXT]


class Export:
    """A file, and where its records are."""

    def __init__(self, site: Site, layout: Layout) -> None:
        self.records = ordered(records(site), layout)
        self.lines: list[int] = []
        """On which line the record begins, from 1."""
        self._end, self._text, self._line = layout.line_end, "", 1
        header = self._row([layout.case(name) for name in layout.fields], layout)
        self._write(layout.junk)
        for place, record in enumerate(self.records):
            if place == 0 or (layout.headers and place % layout.headers == 0):
                self._write(header)
            self.lines.append(self._line)
            self._write(self._row([cell(name, record, site, layout) for name in layout.fields], layout))
        self._write(layout.tail)
        self.data = self._text.encode("utf-8", "surrogateescape")

    @property
    def most_rows(self) -> int:
        """Lines of which a reader may count each as a row, but for the header."""
        return len([line for line in re.split("[\r\n]", self._text) if line]) - 1

    def _row(self, cells: list[str], layout: Layout) -> str:
        return layout.delimiter.join(cells) + layout.delimiter * layout.trailing + self._end

    def _write(self, text: str) -> None:
        self._text += text
        self._line += text.count("\n")


def ordered(rows: list[Record], layout: Layout) -> list[Record]:
    """In the order of submission, of ids, or the last first."""
    if layout.order == "ids":
        return sorted(rows, key=lambda row: row.number)
    return rows[::-1] if layout.order == "reversed" else rows


def cell(name: str, record: Record, site: Site, layout: Layout) -> str:
    """The cell of a field."""
    if name in FREE_TEXT:
        return _free_text(name, record)
    if name in _DATES:
        return _date(_DATES[name](record), layout.epochs)
    write = _OF_JOB.get(name) if record.step else None
    return "" if write else _CELLS.get(name, lambda record, site: "")(record, site)


def _free_text(name: str, record: Record) -> str:
    if record.step and (name != "JobName" or not record.step.isdigit()):
        return record.step if name == "JobName" else ""
    return record.job.texts.get(name, "")


def job_id(record: Record) -> str:
    """`700`, `700_3`, `700_[4-10%2]`, `700+1`, and with a step `700.batch`."""
    job = record.job
    base = str(job.number) if job.array is None else f"{job.array}_{job.task}"
    base += f"_[{job.waiting_tasks}]" if job.waiting_tasks else ""
    base += f"+{record.part}" if record.is_het else ""
    return f"{base}.{record.step}" if record.step else base


def _raw_id(record: Record) -> str:
    return f"{record.number}.{record.step}" if record.step else str(record.number)


def _date(seconds: int | str | None, epochs: bool) -> str:
    if seconds is None or isinstance(seconds, str):
        return seconds or "Unknown"
    return str(seconds) if epochs else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _start(record: Record) -> int | str | None:
    """Newer Slurm writes None where a job was cancelled before it started."""
    return "None" if record.run.start is None and record.run.end is not None else record.run.start


_DATES: Final[dict[str, Callable[[Record], int | str | None]]] = {
    "Submit": lambda record: record.run.start if record.step else record.run.submit,
    "Eligible": lambda record: record.run.start if record.step else record.run.eligible,
    "Start": _start,
    "End": lambda record: record.run.end,
}


def _span(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


def _partition(record: Record, _: Site) -> str:
    return record.job.partition if record.run.ran else record.job.requested or record.job.partition


def _limit(record: Record, write: Callable[[int], str]) -> str:
    return "UNLIMITED" if record.job.limit_min is None else write(record.job.limit_min)


def _allocated(record: Record, site: Site) -> str:
    return tres_text(record.job.parts[record.part], site, True) if record.run.ran else ""


Write = Callable[[Record, Site], str]
_OF_JOB: Final[dict[str, Write]] = {
    "User": lambda record, _: record.job.user,
    "Partition": _partition,
    "QOS": lambda record, _: record.job.qos,
    "Timelimit": lambda record, _: _limit(record, lambda minutes: _span(60 * minutes)),
    "TimelimitRaw": lambda record, _: _limit(record, str),
    "ReqTRES": lambda record, site: tres_text(record.job.parts[record.part], site, False),
    "Priority": lambda record, _: "4294901757",
    "Group": lambda record, _: "users",
}  # fmt: skip
"""Fields that are empty in the rows of steps."""
_CELLS: Final[dict[str, Write]] = _OF_JOB | {
    "JobID": lambda record, _: job_id(record),
    "JobIDRaw": lambda record, _: _raw_id(record),
    "Cluster": lambda record, _: record.job.cluster,
    "Account": lambda record, _: record.job.account,
    "State": lambda record, _: record.run.state,
    "Elapsed": lambda record, _: _span(record.run.elapsed),
    "ElapsedRaw": lambda record, _: str(record.run.elapsed),
    "NNodes": lambda record, _: str(record.job.parts[record.part].nodes),
    "AllocNodes": lambda record, _: str(record.job.parts[record.part].nodes if record.run.ran else 0),
    "NodeList": lambda record, _: record.job.parts[record.part].node_list if record.run.ran else "None assigned",
    "AllocTRES": _allocated,
    "ExitCode": lambda record, _: "0:0",
    "DerivedExitCode": lambda record, _: "" if record.step else "0:0",
    "AllocCPUS": lambda record, _: "8" if record.run.ran else "0",
    "NCPUS": lambda record, _: "8",
    "ReqCPUS": lambda record, _: "8",
    "ReqMem": lambda record, _: "64G",
    "CPUTime": lambda record, _: _span(8 * record.run.elapsed),
    "CPUTimeRAW": lambda record, _: str(8 * record.run.elapsed),
    "Suspended": lambda record, _: "00:00:00",
    "Reason": lambda record, _: "None",
    "Layout": lambda record, _: "Block" if record.step else "",
}
