"""Microsoft Philly's `cluster_job_log` in JSON (`docs/formats/philly-json.md`)."""

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl

from pointsman.workload.readers.sdk import InputError, Quality, Source, TraceFormat, not_read, settle, status, text

_SCHEMA = {
    "job_id": pl.String(),
    "user": pl.String(),
    "queue": pl.String(),
    "status": pl.String(),
    "submit_s": pl.Float64(),
    "gpus": pl.Float64(),
    "duration_s": pl.Float64(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
    "dropped": pl.String(),
    "cut": pl.Boolean(),
}


_READ = ("jobid", "user", "vc", "status", "submitted_time", "attempts")


def _matches(source: Source) -> bool:
    head = source.data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") and b'"attempts"' in source.data[:1_000_000] and b'"jobid"' in source.data[:1_000_000]


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    listed = _jobs(source)
    frame = pl.DataFrame([_row(job) for job in listed], schema=_SCHEMA, orient="row")
    cut = int(frame.select((pl.col("cut") & pl.col("dropped").is_null()).sum()).item())
    jobs = frame.drop("cut").with_columns(
        status=status("status"), job_id=text("job_id"), user=text("user"), queue=text("queue")
    )
    notes = ["GPUs are those of the first attempt; the run time is the sum of all attempts"]
    keys = dict.fromkeys(str(key) for job in listed if isinstance(job, dict) for key in job)
    notes += not_read([key for key in keys if key not in _READ])
    changed = {"attempts without a start, or an end after it, left out of the run time": cut}
    zone = "the log names none; read as one clock without daylight saving (UTC)"
    return settle(source, jobs, records=len(listed), notes=notes, clamped=changed, zone=zone)


def _jobs(source: Source) -> list[Any]:
    try:
        jobs = json.loads(source.text)
    except json.JSONDecodeError as error:
        fix = "the file may be truncated: fetch it again"
        raise InputError(f"broken JSON: {error.msg}", path=source.path, line=error.lineno, fix=fix) from None
    except (RecursionError, ValueError) as error:
        fix = "give Philly's cluster_job_log"
        raise InputError(f"JSON that cannot be read: {error!s:.60}", path=source.path, fix=fix) from None
    if not isinstance(jobs, list):
        fix = "give Philly's cluster_job_log, a list of jobs"
        raise InputError("the JSON holds no list of jobs", path=source.path, line=1, fix=fix)
    return jobs


def _row(job: Any) -> tuple[Any, ...]:
    if not isinstance(job, dict):
        return (None,) * 9 + ("not a JSON object", False)
    listed = job.get("attempts")
    attempts = [a for a in listed if isinstance(a, dict)] if isinstance(listed, list) else []
    whole = [(start, end) for start, end in map(_span, attempts) if start is not None and end is not None]
    spans = [(start, end) for start, end in whole if end >= start] or whole  # all backwards: a negative run time
    runs = [end - start for start, end in spans]
    gpus = next((n for n in map(_gpus, attempts) if n), 0) if attempts else None
    dropped = "never ran" if not runs else None
    words = [value if isinstance(value := job.get(key), str) else None for key in ("jobid", "user", "vc", "status")]
    cut = len(runs) < len(attempts)
    logged = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (None, None)
    return (*words, _seconds(job.get("submitted_time")), gpus, sum(runs) if runs else None, *logged, dropped, cut)


def _span(attempt: dict[str, Any]) -> tuple[float | None, float | None]:
    return _seconds(attempt.get("start_time")), _seconds(attempt.get("end_time"))


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


FORMAT = TraceFormat("philly-json", "Microsoft Philly, cluster_job_log JSON", _matches, _read)
