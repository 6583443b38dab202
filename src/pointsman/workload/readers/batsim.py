"""Workloads of the Batsim simulator, JSON (`docs/formats/batsim.md`)."""

import json
from typing import Any, Final

import polars as pl

from pointsman.workload.readers.sdk import (
    LINE,
    InputError,
    Quality,
    Source,
    TraceFormat,
    json_records,
    settle,
    written,
)

_DELAYS: Final = ("delay", "runtime")
"""Fields of a profile that are its run time."""
_SEQUENCES: Final = ("seq", "sequence")
"""Fields of a profile that is made of others."""
_DEEPEST: Final = 20
_SCHEMA: Final = {
    "job_id": pl.String(), "submit_s": pl.Float64(), "gpus": pl.Float64(), "duration_s": pl.Float64(),
    "time_limit_s": pl.Float64(), "dropped": pl.String(), LINE: pl.Int64(), "stands_in": pl.Boolean(),
    written("submit_s"): pl.String(), written("gpus"): pl.String(),
}  # fmt: skip


def _matches(source: Source) -> bool:
    head = source.data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"{") and all(word in source.data for word in (b'"jobs"', b'"profiles"', b'"subtime"'))


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    profiles = _profiles(source)
    listed = list(json_records(source))
    frame = pl.DataFrame([_row(line, job, profiles) for line, job in listed], schema=_SCHEMA, orient="row")
    counted = frame.filter(pl.col("dropped").is_null() & (pl.col("gpus") > 0))
    stands_in = int(counted["stands_in"].sum())
    notes = ["resources are taken as GPUs, and the run time of a delay profile is its delay"]
    changed = {"run time not told by the profile: the wall time, its upper bound, stands in": stands_in}
    jobs = frame.drop("stands_in") if frame[LINE].min() else frame.drop("stands_in", LINE)
    return settle(source, jobs, records=len(listed), notes=notes, clamped=changed)


def _profiles(source: Source) -> dict[str, Any]:
    try:
        value = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        cause, line = getattr(error, "msg", "too deep"), getattr(error, "lineno", None)
        raise InputError(f"broken JSON: {cause}", path=source.path, line=line, fix="is it truncated?") from None
    profiles = value.get("profiles") if isinstance(value, dict) else None
    if not isinstance(profiles, dict) or not isinstance(value.get("jobs"), list):
        fix = "give a workload of Batsim, with jobs and profiles"
        raise InputError("no workload of Batsim: it has no jobs and profiles", path=source.path, line=1, fix=fix)
    return profiles


def _row(line: int, job: Any, profiles: dict[str, Any]) -> tuple[Any, ...]:
    if not isinstance(job, dict):
        return (None, None, None, None, None, "not a JSON object", line, False, None, None)
    told_s = _length_s(profiles, job.get("profile"), 0)
    wall_s = _positive(job.get("walltime"))
    name = job.get("id")
    submit, gpus = job.get("subtime"), job.get("res")
    return (
        None if name is None or isinstance(name, dict | list) else str(name),
        _number(submit),
        _number(gpus),
        wall_s if told_s is None else told_s,
        wall_s,
        None,
        line,
        told_s is None and wall_s is not None,
        None if submit is None or _number(submit) is not None else str(submit),
        None if gpus is None or _number(gpus) is not None else str(gpus),
    )


def _length_s(profiles: dict[str, Any], name: Any, depth: int) -> float | None:
    """The run time that a profile tells: of computations and messages it depends on the platform."""
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict) or depth > _DEEPEST:
        return None
    for key in _DELAYS:
        if (told := _number(profile.get(key))) is not None:
            return told
    parts = next((held for key in _SEQUENCES if isinstance(held := profile.get(key), list)), None)
    if not parts:
        return None
    lengths = [_length_s(profiles, part, depth + 1) for part in parts]
    times = _number(profile.get("repeat", profile.get("nb", 1)))
    known = [length for length in lengths if length is not None]
    return None if times is None or len(known) < len(lengths) else times * sum(known)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number > 0 else None


FORMAT = TraceFormat("batsim", "Batsim workload, JSON", _matches, _read)
