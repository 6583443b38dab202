"""Prints the records of a site as `sacct --json` does, and `slurmrestd` of its database."""

import json
from dataclasses import dataclass
from typing import Any, Final

from .site import Job, Record, Run, Site, records
from .tres import tres_objects

Object = dict[str, Any]


@dataclass(frozen=True)
class Version:
    """What the JSON of one version of Slurm looks like; the shape changes with the data parser."""

    release: str
    parser: str
    numbers_are_objects: bool
    """`{"set": true, "infinite": false, "number": 60}` in place of `60`."""
    states_are_lists: bool
    start_is_eligible: bool = False
    """21.08 writes the eligible time as `start`, too; the end and the elapsed time are right."""

    @property
    def none(self) -> str | None:
        return "" if self.numbers_are_objects else None

    def number(self, value: int | None, infinite: bool = False) -> Object | int | None:
        if not self.numbers_are_objects:
            return value
        return {"set": value is not None, "infinite": infinite, "number": value or 0}


VERSIONS: Final = (
    Version("21.08.8", "dbv0.0.37", False, False, start_is_eligible=True),
    Version("22.05.11", "dbv0.0.38", False, False),
    Version("23.02.7", "v0.0.39", True, False),
    Version("23.11.10", "v0.0.40", True, True),
    Version("24.05.4", "v0.0.41", True, True),
    Version("24.11.1", "v0.0.42", True, True),
)


@dataclass(frozen=True)
class JsonLayout:
    """How a document is written."""

    version: Version = VERSIONS[-1]
    rest: bool = False
    """Of `slurmrestd`, not of `sacct`."""
    indent: int | None = None
    escaped: bool = False
    """Whether characters beyond ASCII are escaped."""


def printed(site: Site, layout: JsonLayout) -> bytes:
    """The document."""
    version = layout.version
    jobs = [_job(record, site, version) for record in records(site, steps=False)]
    if version.states_are_lists:
        document = {"jobs": jobs, "meta": _meta(layout), "errors": [], "warnings": []}
    else:
        document = {"meta": _meta(layout), "errors": [], "jobs": jobs}
    text = json.dumps(document, indent=layout.indent, ensure_ascii=False)
    text = text if version.states_are_lists else text.replace("/", "\\/")
    if layout.escaped:
        text = "".join(one if one < "\x80" or "\udc80" <= one <= "\udcff" else json.dumps(one)[1:-1] for one in text)
    return (text + "\n").encode("utf-8", "surrogateescape")


def _meta(layout: JsonLayout) -> Object:
    release = layout.version.release
    major, minor, micro = map(int, release.split("."))
    if not layout.version.numbers_are_objects:
        plugin = {"plugin": {"type": f"openapi/{layout.version.parser}", "name": "Slurm OpenAPI DB"}}
    elif layout.rest:
        plugin = {"plugin": {"type": "openapi/slurmdbd", "name": "Slurm OpenAPI slurmdbd"}}
    else:
        plugin = {"plugins": {"data_parser": layout.version.parser}, "command": ["sacct", "-a", "-D", "--json"]}
    key = "slurm" if layout.version.states_are_lists else "Slurm"
    return {**plugin, key: {"version": {"major": major, "micro": micro, "minor": minor}, "release": release}}


def _job(record: Record, site: Site, version: Version) -> Object:
    job, run, part = record.job, record.run, record.job.parts[record.part]
    array = job.array or (job.number if job.waiting_tasks else 0)
    return {
        "account": job.account,
        "comment": {
            key: job.texts.get(name, version.none)
            for key, name in (("administrator", "AdminComment"), ("job", "Comment"), ("system", "SystemComment"))
        },
        "allocation_nodes": part.nodes if run.ran else 0,
        "array": {
            "job_id": array,
            "limits": {"max": {"running": {"tasks": 0}}},
            "task_id": version.number(job.task),
            "task": job.waiting_tasks or version.none,
        },
        "association": {"account": job.account, "cluster": job.cluster, "partition": version.none, "user": job.user},
        "cluster": job.cluster,
        "constraints": job.texts.get("Constraints", version.none),
        "derived_exit_code": _exit_code(version),
        "time": _times(job, run, version),
        "exit_code": _exit_code(version),
        "extra": job.texts.get("Extra", ""),
        "flags": ["STARTED_ON_BACKFILL", "START_RECEIVED"],
        "group": "users",
        "het": {
            "job_id": job.number if record.is_het else 0,
            "job_offset": version.number(record.part if record.is_het else None),
        },
        "job_id": record.number,
        "name": job.texts.get("JobName", "wrap"),
        "mcs": {"label": version.none},
        "nodes": part.node_list if run.ran else "None assigned",
        "partition": job.partition if run.ran else job.requested or job.partition,
        "priority": version.number(4294901757),
        "qos": job.qos,
        "required": {"CPUs": 8, "memory_per_node": version.number(65536)},
        "kill_request_user": version.none,
        "reservation": {"id": 0, "name": version.none},
        "state": {"current": _state(run, version), "reason": "None"},
        "steps": [_step(record, name, site, version) for name in job.steps if run.ran],
        "submit_line": job.texts.get("SubmitLine", ""),
        "tres": {
            "allocated": tres_objects(part, site, True, version.none) if run.ran else [],
            "requested": tres_objects(part, site, False, version.none),
        },
        "user": job.user,
        "wckey": {"wckey": version.none, "flags": []},
        "working_directory": job.texts.get("WorkDir", "/home"),
    }


def _state(run: Run, version: Version) -> str | list[str]:
    word = run.state.split()[0]
    return [word] if version.states_are_lists else word


def _exit_code(version: Version) -> Object:
    if version.states_are_lists:
        return {"status": ["SUCCESS"], "return_code": version.number(0)}
    return {"status": "SUCCESS", "return_code": 0}


def _times(job: Job, run: Run, version: Version) -> Object:
    none = {"seconds": 0, "microseconds": 0}
    planned = {"planned": version.number(0)} if version.states_are_lists else {}
    return {
        "elapsed": run.elapsed,
        "eligible": run.eligible or 0,
        "end": run.end or 0,
        "start": (run.eligible if version.start_is_eligible else run.start) or 0,
        "submission": run.submit,
        "suspended": 0,
        "system": none,
        "limit": version.number(job.limit_min, infinite=job.limit_min is None),
        "total": none,
        "user": none,
        **planned,
    }


def _step(record: Record, name: str, site: Site, version: Version) -> Object:
    run, number = record.run, version.states_are_lists
    step = {"job_id": record.number, "het": {"component": None}, "id": name, "name": name}
    if version.numbers_are_objects:
        step = {"id": f"{record.number}.{name}", "name": name}
    return {
        "time": {
            "elapsed": run.elapsed,
            "end": version.number(run.end or 0) if number else run.end or 0,
            "start": version.number(run.start or 0) if number else run.start or 0,
            "suspended": 0,
        },
        "nodes": {"count": record.job.parts[record.part].nodes, "range": record.job.parts[record.part].node_list},
        "state": _state(run, version),
        "step": step,
        "tres": {"allocated": tres_objects(record.job.parts[record.part], site, True, version.none)},
    }
