"""`sacct --json` (Slurm 21.08 on) and slurmrestd's list of jobs as rows of the same cells as the text form.

Both have objects for jobs, whose fields changed their place and type from version to version: a number may be
``{"set": true, "infinite": false, "number": 7}``, a state a list.
"""

import gc
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.readers.rows import Rows
from pointsman.workload.readers.sacct_fields import ASKED
from pointsman.workload.readers.source import Source
from pointsman.workload.rules.clean import LINE

_HEAD: Final = 1 << 20
_OF_JOBS: Final = (b'"association"', b'"submit_time"', b'"tres_alloc_str"', b'"allocation_nodes"', b'"submission"')
_FIELDS: Final = ("JobName", *(name for name in ASKED if name not in ("Elapsed", "Timelimit", "AllocGRES", "ReqGRES")))
_UNENDED: Final = ("RUNNING", "SUSPENDED", "COMPLETING", "PENDING", "CONFIGURING", "STOPPED", "SIGNALING", "RESIZING")
"""States of a job whose end, where there is one, is slurmctld's estimate."""
_NO_GPUS: Final = ("cpu", "mem", "energy", "billing", "vmem", "pages", "fs", "bb", "license")
Job = dict[str, Any]


def is_sacct_json(source: Source) -> bool:
    """Whether the first megabyte looks like a list of Slurm's jobs."""
    head = source.data[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] not in (b"{", b"["):
        return False
    empty = b'"jobs"' in head and b"slurm" in head.lower() and b'"job_id"' not in head and b'"nodes"' not in head
    return empty or (b'"job_id"' in head and any(word in head for word in _OF_JOBS))


def read_json(source: Source) -> Rows:
    """A row of text cells for each job.

    Raises:
        InputError: broken JSON, or no list of jobs.
    """
    with _pause_collection():
        documents = _documents(source)
        listed = [_list_jobs(document, source) for document in documents]
        cells = [
            _of_slurmctld(job, now) if "job_state" in job else _of_slurmdbd(job)
            for document, jobs in zip(documents, listed, strict=True)
            for now in (_now(document),)
            for job in jobs
        ]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(_FIELDS, pl.String), orient="row")
    frame = frame.with_columns(pl.all().replace("", None)).with_columns(pl.int_range(1, pl.len() + 1).alias(LINE))
    return Rows(frame, read={LINE}, records=sum(map(len, listed)))


@contextmanager
def _pause_collection() -> Generator[None]:
    """Millions of small objects, none of which is in a circle, are looked through for circles again and again."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def _documents(source: Source) -> list[Any]:
    """One, or several that were joined."""
    try:
        return [json.loads(source.text)]
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):
            fix = "the file may be truncated: export it again"
            raise InputError(f"broken JSON: {error.msg}", path=source.path, line=error.lineno, fix=fix) from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"JSON that cannot be read: {error!s:.60}", path=source.path, fix="export it again") from None
    return _read_documents(source)


def _read_documents(source: Source) -> list[Any]:
    text, found, at = source.text, [], 0
    decoder = json.JSONDecoder()
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            document, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, at) + 1
            raise InputError(
                f"broken JSON: {error!s:.60}", path=source.path, line=line, fix="export it again"
            ) from None
        found.append(document)
    return found


def _list_jobs(document: Any, source: Source) -> list[Job]:
    jobs = document
    if isinstance(document, dict):
        jobs = document.get("jobs", [document] if "job_id" in document else None)
    if not isinstance(jobs, list):
        fix = "give the output of `sacct --json`, or slurmrestd's list of jobs"
        raise InputError("the JSON holds no list of jobs", path=source.path, line=1, fix=fix)
    strange = next((job for job in jobs if not isinstance(job, dict)), None)
    if strange is not None or None in jobs:
        raise InputError(f"an entry of `jobs` is no object: {quoted(strange)}", path=source.path, fix="export it again")
    return jobs


def _now(document: Any) -> int | None:
    """When slurmctld wrote the list: as it says, or else when the last job in it was submitted or started."""
    if not isinstance(document, dict):
        return None
    told = _number(document.get("last_update"))
    if isinstance(told, int) and told:
        return told
    jobs = [job for job in document.get("jobs") or () if isinstance(job, dict)]
    times = [_number(job.get("submit_time")) for job in jobs]
    times += [_number(job.get("start_time")) for job in jobs if _state(job.get("job_state")) != "PENDING"]
    return max((time for time in times if isinstance(time, int)), default=None)


def _of_slurmdbd(job: Job) -> tuple[str | None, ...]:
    """The cells of a job of `sacct --json`."""
    time, tres, whose = (_dict(job.get(key)) for key in ("time", "tres", "association"))
    return _row(
        _ids(job, _dict(job.get("array")), _dict(job.get("het"))),
        JobName=_text(job.get("name")),
        Cluster=_text(job.get("cluster") or whose.get("cluster")),
        User=_text(job.get("user") or whose.get("user")),
        Account=_text(job.get("account") or whose.get("account")),
        Partition=_text(job.get("partition") or whose.get("partition")),
        QOS=_text(job.get("qos")),
        State=_state(
            _dict(job.get("state")).get("current") if isinstance(job.get("state"), dict) else job.get("state")
        ),
        Submit=_clock(time.get("submission")),
        Eligible=_clock(time.get("eligible")),
        Start=_text(_start_of(time)),
        End=_clock(time.get("end")),
        ElapsedRaw=_text(_number(time.get("elapsed"))),
        TimelimitRaw=_text(_number(time.get("limit"))),
        NNodes=_text(_number(job.get("allocation_nodes")) or None),
        AllocTRES=_tres(tres.get("allocated")),
        ReqTRES=_tres(tres.get("requested")),
        NodeList=_text(job.get("nodes")),
        Restarts=_text(_number(job.get("restart_cnt"))),
    )


def _start_of(time: Job) -> int | None:
    """When the job started; Slurm 21.08 writes when it became eligible, but the end and the time elapsed are right."""
    start, end, eligible = (_instant(time.get(key)) for key in ("start", "end", "eligible"))
    elapsed, suspended = _number(time.get("elapsed")), _instant(time.get("suspended")) or 0
    if start is None or end is None or start != eligible or not isinstance(elapsed, int):
        return start
    return max(start, end - elapsed - suspended)


def _of_slurmctld(job: Job, now: int | None) -> tuple[str | None, ...]:
    """The cells of a job of slurmrestd's list; of one that runs, the end is an estimate."""
    state = _state(job.get("job_state"))
    start, end = _instant(job.get("start_time")), _instant(job.get("end_time"))
    until = now if state in _UNENDED else end
    elapsed = max(until - start, 0) if start and until and state != "PENDING" else None
    array = {
        "job_id": job.get("array_job_id"),
        "task_id": job.get("array_task_id"),
        "task": job.get("array_task_string"),
    }
    return _row(
        _ids(job, array, {"job_id": job.get("het_job_id"), "job_offset": job.get("het_job_offset")}),
        JobName=_text(job.get("name")),
        Cluster=_text(job.get("cluster")),
        User=_text(job.get("user_name") or job.get("user_id")),
        Account=_text(job.get("account")),
        Partition=_text(job.get("partition")),
        QOS=_text(job.get("qos")),
        State=state,
        Submit=_clock(job.get("submit_time")),
        Eligible=_clock(job.get("eligible_time")),
        Start=None if state == "PENDING" else _text(start),
        End=None if state in _UNENDED else _text(end),
        ElapsedRaw=_text(elapsed),
        TimelimitRaw=_text(_number(job.get("time_limit"))),
        NNodes=_text(_number(job.get("node_count")) or None),
        AllocTRES=_text(job.get("tres_alloc_str")),
        ReqTRES=_text(job.get("tres_req_str")),
        TresPerNode=_text(job.get("tres_per_node")),
        NodeList=_text(job.get("nodes")),
        Restarts=_text(_number(job.get("restart_cnt"))),
    )


def _row(ids: tuple[str | None, str | None], **cells: str | None) -> tuple[str | None, ...]:
    cells["JobIDRaw"], cells["JobID"] = ids
    return tuple(map(cells.get, _FIELDS))


def _ids(job: Job, array: Job, het: Job) -> tuple[str | None, str | None]:
    """The job's number, and how it is shown: ``12_3`` of an array, ``12_[4-9]`` of its rest, ``12+1`` of a gang."""
    raw = _text(_number(job.get("job_id")))
    of_array, of_gang = _number(array.get("job_id")), _number(het.get("job_id"))
    element, offset = _number(array.get("task_id")), _number(het.get("job_offset"))
    if of_array and (element is not None or array.get("task")):
        return raw, f"{of_array}_{element}" if element is not None else f"{of_array}_[{array['task']}]"
    return raw, f"{of_gang}+{offset or 0}" if of_gang else raw


def _dict(value: Any) -> Job:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> Any:
    """A plain number of one in any of Slurm's forms; None where none is set, ``UNLIMITED`` of an infinite one."""
    if type(value) is int:
        return value
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        value = value.get("number") if value.get("set", True) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return int(value) if value.strip().isascii() and value.strip().isdigit() and len(value) < 20 else value or None
    return int(value) if value == value and abs(value) < 1e18 and value == int(value) else value


def _instant(value: Any) -> int | None:
    """Seconds since 1970; None of 0, and of what is no whole number."""
    number = _number(value)
    return number if isinstance(number, int) and number > 0 else None


def _clock(value: Any) -> str | None:
    """A time; 0 is none."""
    return _text(_number(value) or None)


def _text(value: Any) -> str | None:
    if type(value) is str:
        return value
    return None if value is None or isinstance(value, dict | list) else str(value)


def _state(value: Any) -> str | None:
    """The state itself is the first; what follows it are flags."""
    return _text(value[0] if isinstance(value, list) and value else value)


def _tres(listed: Any) -> str | None:
    """A list of resources as Slurm writes one."""
    if not isinstance(listed, list):
        return _text(listed)
    told = [
        f"{_resource(entry)}={count}"
        for entry in listed
        if isinstance(entry, dict) and entry.get("type") not in _NO_GPUS
        if (count := _number(entry.get("count"))) is not None
    ]
    return ",".join(told) or ("billing=1" if listed else None)


def _resource(entry: Job) -> str:
    kind, name = entry.get("type") or entry.get("id"), entry.get("name")
    return f"{kind}/{name}" if name else f"{kind}"
