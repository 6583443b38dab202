"""Microsoft Philly's `cluster_job_log` in JSON (`docs/formats/philly-json.md`)."""

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import polars as pl

from pointsman.workload.readers.sdk import (
    LINE,
    Attempt,
    InputError,
    Quality,
    Ran,
    Source,
    TraceFormat,
    json_records,
    not_read,
    ran,
    settle,
    status,
    text,
    written,
)

_READ: Final = ("jobid", "user", "vc", "status", "submitted_time", "attempts")
_NOTHING: Final = ("", "none", "null", "nan", "nat", "n/a", "na", "unknown")


class _Row(NamedTuple):
    """A job, and what was changed of it."""

    job_id: str | None = None
    user: str | None = None
    queue: str | None = None
    status: str | None = None
    submit_s: float | None = None
    gpus: float | None = None
    duration_s: float | None = None
    start_s: float | None = None
    end_s: float | None = None
    dropped: str | None = None
    unread_submit: str | None = None
    unread_run: str | None = None
    line: int = 0
    cut: bool = False
    overlapping: bool = False
    resized: bool = False


_KINDS: Final = {"gpus": pl.Float64(), "line": pl.Int64()} | dict.fromkeys(
    ("cut", "overlapping", "resized"), pl.Boolean()
)
_SCHEMA: Final = {name: _KINDS.get(name, pl.Float64() if name.endswith("_s") else pl.String()) for name in _Row._fields}
_CHANGED: Final = {
    "cut": "attempts without a start, or an end after it, left out of the run time",
    "overlapping": "attempts that overlap: their common time is counted once",
    "resized": "attempts on different numbers of GPUs: run time as if on those of the longest, at the same GPU-hours",
}
"""What each mark of a row says of it, for the quality report."""


def _matches(source: Source) -> bool:
    head = source.data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") and b'"attempts"' in source.data[:1_000_000] and b'"jobid"' in source.data[:1_000_000]


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    if not source.text.lstrip().startswith("["):
        fix = "give Philly's cluster_job_log, a list of jobs"
        raise InputError("the JSON holds no list of jobs", path=source.path, line=1, fix=fix)
    listed = list(json_records(source))
    frame = pl.DataFrame([_row(line, job) for line, job in listed], schema=_SCHEMA, orient="row")
    kept = frame.filter(pl.col("dropped").is_null())
    changed = {said: int(kept[mark].sum()) for mark, said in _CHANGED.items()}
    jobs = frame.rename({"unread_submit": written("submit_s"), "unread_run": written("duration_s"), "line": LINE})
    jobs = jobs.drop(*_CHANGED).with_columns(
        status=status("status"), job_id=text("job_id"), user=text("user"), queue=text("queue")
    )
    notes = ["GPUs are those of the attempt with the most GPU time; the run time is that of all attempts"]
    keys = dict.fromkeys(str(key) for _, job in listed if isinstance(job, dict) for key in job)
    notes += not_read([key for key in keys if key not in _READ])
    zone = "the log names none; read as one clock without daylight saving (UTC)"
    return settle(source, jobs, records=len(listed), notes=notes, clamped=changed, zone=zone)


def _row(line: int, job: Any) -> _Row:
    if not isinstance(job, dict):
        return _Row(dropped="not a JSON object", line=line)
    listed = job.get("attempts")
    attempts = [a for a in listed if isinstance(a, dict)] if isinstance(listed, list) else []
    spans = [Attempt(_seconds(a.get("start_time")), _seconds(a.get("end_time")), _gpus(a)) for a in attempts]
    found = ran(spans)
    words = [value if isinstance(value := job.get(key), str) else None for key in ("jobid", "user", "vc", "status")]
    submitted = job.get("submitted_time")
    stamps = [attempt.get(key) for attempt in attempts for key in ("start_time", "end_time")]
    unread = next((said for stamp in stamps if (said := _unread(stamp)) is not None), None)
    return _Row(
        *words,
        submit_s=_seconds(submitted),
        dropped=None if found or unread or any(span.start_s is not None for span in spans) else "never ran",
        unread_submit=_unread(submitted),
        unread_run=unread if found is None else None,
        line=line,
        **(found or Ran(max((span.gpus for span in spans), default=None)))._asdict(),
    )


def _gpus(attempt: dict[str, Any]) -> int:
    detail = attempt.get("detail")
    parts = [part.get("gpus") for part in detail if isinstance(part, dict)] if isinstance(detail, list) else []
    return sum(len(part) for part in parts if isinstance(part, list))


def _seconds(stamp: Any) -> float | None:
    """Seconds since 1970, a time without a zone as UTC; None for null, "None" and whatever is no time."""
    if not isinstance(stamp, str):
        return None
    try:
        moment = datetime.fromisoformat(stamp.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _unread(stamp: Any) -> str | None:
    """A stamp that says something, and no time."""
    silent = stamp is None or (isinstance(stamp, str) and stamp.strip().casefold() in _NOTHING)
    return None if silent or _seconds(stamp) is not None else str(stamp)


FORMAT = TraceFormat("philly-json", "Microsoft Philly, cluster_job_log JSON", _matches, _read)
