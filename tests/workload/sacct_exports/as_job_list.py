"""Prints the jobs that slurmctld remembers as `slurmrestd` and `scontrol show jobs --json` do: the last run of each."""

import json
from dataclasses import replace
from typing import Any, Final

from .site import Record, Site, records
from .tres import tres_text

ESTIMATE_S: Final = 7200
"""So long after its submission the scheduler means to start a job that waits."""


def remembered(site: Site) -> Site:
    """The jobs of which a list tells all: those that were not requeued, once each."""
    return replace(site, jobs=tuple(job for job in site.jobs if len(job.runs) == 1), twice=frozenset())


def printed(site: Site, now: int) -> bytes:
    """The document, of Slurm 23.11 (data parser v0.0.40)."""
    document = {
        "jobs": [_job(record, site, now) for record in records(site, steps=False)],
        "last_backfill": _number(now),
        "last_update": _number(now),
        "meta": {"plugin": {"type": "openapi/slurmctld", "data_parser": "data_parser/v0.0.40"}, "slurm": _RELEASE},
        "errors": [],
        "warnings": [],
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape")


_RELEASE: Final = {"version": {"major": "23", "micro": "10", "minor": "11"}, "release": "23.11.10", "cluster": "alpha"}


def _number(value: int | None, infinite: bool = False) -> dict[str, Any]:
    return {"set": value is not None, "infinite": infinite, "number": value or 0}


def _job(record: Record, site: Site, now: int) -> dict[str, Any]:
    job, run, part = record.job, record.run, record.job.parts[record.part]
    waits = run.state == "PENDING"
    start = now + ESTIMATE_S if waits else run.start or run.end
    limit_s = 60 * (job.limit_min or 525600)
    return {
        "account": job.account,
        "admin_comment": job.texts.get("AdminComment", ""),
        "array_job_id": _number(job.array or (job.number if job.waiting_tasks else 0)),
        "array_task_id": _number(job.task),
        "array_task_string": job.waiting_tasks,
        "cluster": job.cluster,
        "comment": job.texts.get("Comment", ""),
        "eligible_time": _number(run.eligible or 0),
        "end_time": _number(run.end or (start or 0) + limit_s),
        "gres_detail": [],
        "het_job_id": _number(job.number if record.is_het else 0),
        "het_job_offset": _number(record.part if record.is_het else 0),
        "job_id": record.number,
        "job_state": [run.state.split()[0]],
        "name": job.texts.get("JobName", "wrap"),
        "nodes": part.node_list if run.ran else "",
        "node_count": _number(part.nodes),
        "partition": job.partition if run.ran else job.requested or job.partition,
        "priority": _number(181),
        "qos": job.qos,
        "restart_cnt": 0,
        "start_time": _number(start),
        "submit_time": _number(run.submit),
        "time_limit": _number(job.limit_min, infinite=job.limit_min is None),
        "tres_req_str": tres_text(part, site, False),
        "tres_alloc_str": tres_text(part, site, True) if run.ran else "",
        "user_id": 1001,
        "user_name": job.user,
    }
