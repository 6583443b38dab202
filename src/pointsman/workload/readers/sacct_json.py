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
from pointsman.inputs.slurm_json import Job, instant, job_ids, number, object_of, state_of, text_of
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
    told = number(document.get("last_update"))
    if isinstance(told, int) and told:
        return told
    jobs = [job for job in document.get("jobs") or () if isinstance(job, dict)]
    times = [number(job.get("submit_time")) for job in jobs]
    times += [number(job.get("start_time")) for job in jobs if state_of(job.get("job_state")) != "PENDING"]
    return max((time for time in times if isinstance(time, int)), default=None)


def _of_slurmdbd(job: Job) -> tuple[str | None, ...]:
    """The cells of a job of `sacct --json`."""
    time, tres, whose = (object_of(job.get(key)) for key in ("time", "tres", "association"))
    return _row(
        job_ids(job, object_of(job.get("array")), object_of(job.get("het"))),
        JobName=text_of(job.get("name")),
        Cluster=text_of(job.get("cluster") or whose.get("cluster")),
        User=text_of(job.get("user") or whose.get("user")),
        Account=text_of(job.get("account") or whose.get("account")),
        Partition=text_of(job.get("partition") or whose.get("partition")),
        QOS=text_of(job.get("qos")),
        State=state_of(
            object_of(job.get("state")).get("current") if isinstance(job.get("state"), dict) else job.get("state")
        ),
        Submit=_clock(time.get("submission")),
        Eligible=_clock(time.get("eligible")),
        Start=text_of(_start_of(time)),
        End=_clock(time.get("end")),
        ElapsedRaw=text_of(number(time.get("elapsed"))),
        TimelimitRaw=text_of(number(time.get("limit"))),
        NNodes=text_of(number(job.get("allocation_nodes")) or None),
        AllocTRES=_tres(tres.get("allocated")),
        ReqTRES=_tres(tres.get("requested")),
        NodeList=text_of(job.get("nodes")),
        Restarts=text_of(number(job.get("restart_cnt"))),
    )


def _start_of(time: Job) -> int | None:
    """When the job started; Slurm 21.08 writes when it became eligible, but the end and the time elapsed are right."""
    start, end, eligible = (instant(time.get(key)) for key in ("start", "end", "eligible"))
    elapsed, suspended = number(time.get("elapsed")), instant(time.get("suspended")) or 0
    if start is None or end is None or start != eligible or not isinstance(elapsed, int):
        return start
    return max(start, end - elapsed - suspended)


def _of_slurmctld(job: Job, now: int | None) -> tuple[str | None, ...]:
    """The cells of a job of slurmrestd's list; of one that runs, the end is an estimate."""
    state = state_of(job.get("job_state"))
    start, end = instant(job.get("start_time")), instant(job.get("end_time"))
    until = now if state in _UNENDED else end
    elapsed = max(until - start, 0) if start and until and state != "PENDING" else None
    array = {
        "job_id": job.get("array_job_id"),
        "task_id": job.get("array_task_id"),
        "task": job.get("array_task_string"),
    }
    return _row(
        job_ids(job, array, {"job_id": job.get("het_job_id"), "job_offset": job.get("het_job_offset")}),
        JobName=text_of(job.get("name")),
        Cluster=text_of(job.get("cluster")),
        User=text_of(job.get("user_name") or job.get("user_id")),
        Account=text_of(job.get("account")),
        Partition=text_of(job.get("partition")),
        QOS=text_of(job.get("qos")),
        State=state,
        Submit=_clock(job.get("submit_time")),
        Eligible=_clock(job.get("eligible_time")),
        Start=None if state == "PENDING" else text_of(start),
        End=None if state in _UNENDED else text_of(end),
        ElapsedRaw=text_of(elapsed),
        TimelimitRaw=text_of(number(job.get("time_limit"))),
        NNodes=text_of(number(job.get("node_count")) or None),
        AllocTRES=text_of(job.get("tres_alloc_str")),
        ReqTRES=text_of(job.get("tres_req_str")),
        TresPerNode=text_of(job.get("tres_per_node")),
        NodeList=text_of(job.get("nodes")),
        Restarts=text_of(number(job.get("restart_cnt"))),
    )


def _row(ids: tuple[str | None, str | None], **cells: str | None) -> tuple[str | None, ...]:
    cells["JobIDRaw"], cells["JobID"] = ids
    return tuple(map(cells.get, _FIELDS))


def _clock(value: Any) -> str | None:
    """A time; 0 is none."""
    return text_of(number(value) or None)


def _tres(listed: Any) -> str | None:
    """A list of resources as Slurm writes one."""
    if not isinstance(listed, list):
        return text_of(listed)
    told = [
        f"{_resource(entry)}={count}"
        for entry in listed
        if isinstance(entry, dict) and entry.get("type") not in _NO_GPUS
        if (count := number(entry.get("count"))) is not None
    ]
    return ",".join(told) or ("billing=1" if listed else None)


def _resource(entry: Job) -> str:
    kind, name = entry.get("type") or entry.get("id"), entry.get("name")
    return f"{kind}/{name}" if name else f"{kind}"
