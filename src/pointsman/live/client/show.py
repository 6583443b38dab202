"""Rows as tables, CSV or JSON, in the columns and words that users of Slurm know."""

import csv
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from pointsman.inputs.durations import duration

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str]]

_WEEK_S: Final = 7 * 86400.0
CODES: Final = {
    "PENDING": "PD", "STARTING": "CF", "RUNNING": "R", "STOPPING": "CG", "COMPLETED": "CD", "FAILED": "F",
    "CANCELLED": "CA", "TIMEOUT": "TO", "NODE_FAIL": "NF",
}  # fmt: skip
"""Slurm's short names of states."""


def clock(seconds: float | None) -> str:
    """``D-HH:MM:SS``, as Slurm writes durations."""
    if seconds is None:
        return "UNLIMITED"
    minutes, s = divmod(int(seconds), 60)
    hours, m = divmod(minutes, 60)
    d, h = divmod(hours, 24)
    return f"{d}-{h:02}:{m:02}:{s:02}" if d else f"{h}:{m:02}:{s:02}" if h else f"{m}:{s:02}"


def date(seconds: float | None) -> str:
    """On the clock of this machine."""
    return "N/A" if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))


def _where(row: Row) -> str:
    return row["node_list"] or (f"({row['reason']})" if row["reason"] else "")


def _exit(row: Row) -> str:
    unseen = row["state"] in ("FAILED", "NODE_FAIL") and row["exit_code"] is None and row["exit_signal"] is None
    return "?" if unseen else f"{row['exit_code'] or 0}:{row['exit_signal'] or 0}"


QUEUE: Final[Sequence[Column]] = (
    ("JOBID", lambda row: str(row["job_id"])),
    ("PARTITION", lambda row: row["partition"]),
    ("NAME", lambda row: row["name"]),
    ("USER", lambda row: row["user"]),
    ("ST", lambda row: CODES[row["state"]]),
    ("TIME", lambda row: clock(row["run_s"])),
    ("NODES", lambda row: str(row["nodes"])),
    ("GPUS", lambda row: str(row["gpus"])),
    ("NODELIST(REASON)", _where),
)
IN_QUEUE: Final = ("job_id", "partition", "name", "user", "state", "run_s", "nodes", "gpus", "node_list", "reason")
"""What these columns are made of."""
STARTS: Final[Sequence[Column]] = (
    *QUEUE[:4],
    ("GPUS", lambda row: str(row["gpus"])),
    ("START_TIME", lambda row: date(row["expected_s"])),
    ("EARLIEST", lambda row: date(row["early_s"])),
    ("LATEST", lambda row: date(row["late_s"])),
    ("(REASON)", _where),
)
"""Columns of `queue --start`: nine of ten jobs start between the earliest and the latest time."""
HISTORY: Final[Sequence[Column]] = (
    ("JOBID", lambda row: str(row["job_id"])),
    ("NAME", lambda row: row["name"]),
    ("USER", lambda row: row["user"]),
    ("GPUS", lambda row: str(row["gpus"])),
    ("STATE", lambda row: row["state"]),
    ("EXITCODE", _exit),
    ("WAIT", lambda row: clock(row["wait_s"])),
    ("ELAPSED", lambda row: clock(row["run_s"])),
    ("PREEMPTIONS", lambda row: str(row["preemptions"])),
    ("END", lambda row: date(row["ended_s"])),
)
NODES: Final[Sequence[Column]] = (
    ("NODE", lambda row: row["node"]),
    ("STATE", lambda row: row["state"].lower()),
    ("TYPE", lambda row: row["gpu_type"]),
    ("GPUS", lambda row: str(row["gpus"])),
    ("ALLOCATED", lambda row: str(row["gpus_allocated"])),
    ("PARTITIONS", lambda row: row["partitions"]),
    ("REASON", lambda row: row["reason"]),
)


def show(rows: Sequence[Row], columns: Sequence[Column], format: str) -> None:
    """Print rows; `format` is ``table``, ``csv`` or ``json``."""
    if format == "json":
        print(json.dumps(rows, indent=2))
    elif format == "csv":
        names = list(rows[0]) if rows else [name.lower() for name, _ in columns]
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row[name]) for name in names] for row in rows)
    else:
        _show_table(rows, columns)


def show_one(row: Row, format: str) -> None:
    """Print everything of one row, a line each."""
    if format == "json":
        print(json.dumps(row, indent=2))
        return
    width = max(map(len, row))
    for name, value in row.items():
        print(f"{name:<{width}}  {date(value) if name.endswith('ed_s') else _cell(value)}")


def show_answer(answer: Row, format: str) -> None:
    """Print what would change."""
    if format != "table":
        show_one(answer, "json")
        return
    means = [("time until pending jobs start", "until_start"), ("time until all jobs end", "until_end")]
    rows = [{"name": name, **answer[key]} for name, key in means if answer[key]]
    _show_table(rows, (("MEAN", lambda row: row["name"]), *_CHANGES))
    print(f"{answer['sooner']} jobs end at least a minute sooner, {answer['later']} later")
    if answer["jobs"]:
        print("most changed:")
        jobs = (("JOBID", lambda row: str(row["job_id"])), *QUEUE[2:4], ("GPUS", lambda row: str(row["gpus"])))
        _show_table(answer["jobs"], (*jobs, *_CHANGES))
    for one in answer["submitted"]:
        print(f"the job would start {_describe_start(one)}")
    if answer["decisions"]:
        print("first decisions that differ, in one of the futures:")
    for one in answer["decisions"]:
        whose = "as things are" if one["only"] == "now" else "if this were done"
        which = "the job asked about" if one["job_id"] is None else one["job_id"]
        print(f"in {duration(one['in_s'])}: {one['verb']} {which}, only {whose}")


_CHANGES: Final[Sequence[Column]] = (
    ("NOW", lambda row: _until(row["now_s"])),
    ("THEN", lambda row: _until(row["then_s"])),
    ("CHANGE", lambda row: _signed_duration(row["change_s"])),
    ("(90 %)", lambda row: f"({_signed_duration(row['low_s'])} to {_signed_duration(row['high_s'])})"),
)


def _until(seconds: float) -> str:
    """What is not foreseen within a week may never be."""
    return duration(seconds) if seconds < _WEEK_S else "a week or more"


def _signed_duration(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{duration(abs(seconds))}"


def _describe_start(row: Row) -> str:
    if row["expected_s"] is None:
        return "in more than a week"
    late = duration(row["late_s"]) if row["late_s"] is not None else "more than a week"
    return f"in {duration(row['expected_s'])} (90 %: {duration(row['early_s'])} to {late})"


def _show_table(rows: Sequence[Row], columns: Sequence[Column]) -> None:
    filled = [[name, *map(value, rows)] for name, value in columns]
    line = "  ".join(f"{{:<{max(map(len, cells))}}}" for cells in filled)
    print("\n".join(map(str.rstrip, map(line.format, *filled))))


def _cell(value: Any) -> str:
    """As text; what a spreadsheet would take for a formula is quoted."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@") else text
