"""Made-up sites that run Slurm: records of jobs whose truth is known, written as sacct's text and as its JSON."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

BEGIN = 1_772_438_400
FIELDS = (
    "JobIDRaw", "JobID", "Cluster", "JobName", "User", "Account", "Partition", "State", "Submit", "Eligible", "Start",
    "End", "ElapsedRaw", "TimelimitRaw", "NNodes", "AllocTRES", "ReqTRES", "Restarts",
)  # fmt: skip
Truth = dict[str, tuple[float, float]]
"""From a job's id to its GPUs (thousandths of one, of slices) and its run time."""


@dataclass
class Site:
    """What the records of a site are, and what is true of its jobs."""

    records: list[dict[str, Any]] = field(default_factory=list)
    truth: Truth = field(default_factory=dict)
    steps: int = 0
    never: int = 0
    further: int = 0
    """Records that become part of the job of another."""


NAMES = st.text("ab |\"'\n\t;\\é,=", max_size=12)
SHAPES = st.sampled_from(
    [
        (1.0, "gres/gpu=1"),
        (8.0, "gres/gpu:a100=8,gres/gpu=8"),
        (2.0, "1001=2"),
        (0.142, "gres/gpu=1,gres/gpu:a100_1g.5gb=1"),
        (0.428, "gres/gpu:a100_3g.20gb=1"),
        (4.0, "gres/gpu=4"),
    ]
)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    """A site of a dozen jobs of every kind, on one cluster or two."""
    site, clusters = Site(), draw(st.sampled_from([("one",), ("one", "two")]))
    number = 800
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["plain", "requeued", "array", "gang", "waiting", "reused", "steps"]))
        cluster = draw(st.sampled_from(clusters))
        number += draw(st.integers(1, 3))
        number = _job(draw, site, kind, cluster, number)
    if len({record["Cluster"] for record in site.records}) < 2:
        site.truth = {job_id.split("/")[1]: truth for job_id, truth in site.truth.items()}
    return site


def _job(draw: st.DrawFn, site: Site, kind: str, cluster: str, number: int) -> int:
    """Add a job of a kind; the highest number that it used."""
    gpus, tres = draw(SHAPES)
    name, start = draw(NAMES), BEGIN + draw(st.integers(0, 10**6))
    record = {"Cluster": cluster, "JobName": name, "User": draw(st.sampled_from(["ann", "bob"])), "TRES": tres}
    runs = [draw(st.integers(1, 10**5)) for _ in range(draw(st.integers(2, 3)) if kind in ("requeued", "gang") else 1)]
    key = f"{cluster}/{number}"
    if kind == "waiting":
        site.records.append(_record(record, number, start, 0, state="CANCELLED by 7", tres=""))
        site.never += 1
    elif kind == "requeued":
        at = start
        for k, run_s in enumerate(runs):
            state = "COMPLETED" if k == len(runs) - 1 else draw(st.sampled_from(["NODE_FAIL", "PREEMPTED", "REQUEUED"]))
            site.records.append(_record(record, number, at, run_s, state=state, restarts=k))
            at += run_s + draw(st.integers(0, 600))
        site.truth[key] = (gpus, sum(runs))
        site.further += len(runs) - 1
    elif kind == "gang":
        whole = max(gpus, 1.0)
        for k in range(len(runs)):
            part = record | {"TRES": f"gres/gpu={int(whole)}"}
            site.records.append(_record(part, number + k, start, runs[0], shown=f"{number}+{k}"))
        site.truth[key] = (whole * len(runs), runs[0])
        site.further += len(runs) - 1
        return number + len(runs)
    elif kind == "reused":
        site.records.append(_record(record, number, start, runs[0]))
        later = record | {"User": "eve", "JobName": "other"}
        site.records.append(_record(later, number, start + 40 * 86400 + runs[0], 7))
        site.truth |= {key: (gpus, runs[0]), f"{key}#2": (gpus, 7)}
    else:
        shown = f"{number - 1}_{number % 7}" if kind == "array" else None
        site.records.append(_record(record, number, start, runs[0], shown=shown))
        site.truth[key] = (gpus, runs[0])
        if kind == "steps":
            site.records += [_record(record, f"{number}.{step}", start, runs[0]) for step in ("batch", "extern", "0")]
            site.steps += 3
    return number


def _record(
    of: dict[str, Any], number: int | str, start: int, run_s: int, *, state: str = "COMPLETED",
    shown: str | None = None, tres: str | None = None, restarts: int = 0,
) -> dict[str, Any]:  # fmt: skip
    given = of["TRES"] if tres is None else tres
    return {
        "JobIDRaw": str(number), "JobID": shown or str(number), "Cluster": of["Cluster"], "JobName": of["JobName"],
        "User": of["User"], "Account": "lab", "Partition": "gpu", "State": state, "Submit": start - 5,
        "Eligible": start - 5, "Start": start, "End": start + run_s, "ElapsedRaw": run_s, "TimelimitRaw": 2000,
        "NNodes": 1, "AllocTRES": f"billing=8,cpu=8,{given},mem=4G,node=1" if given else "",
        "ReqTRES": f"cpu=8,{of['TRES']},node=1", "Restarts": restarts,
    }  # fmt: skip


def as_text(site: Site, delimiter: str = "|", *, trailing: bool = False, epochs: bool = False) -> bytes:
    """As sacct prints it, with nothing quoted; names in Latin-1, for sites have old files."""
    end = delimiter if trailing else ""
    lines = [delimiter.join(FIELDS) + end]
    for record in site.records:
        cells = [_cell(name, record[name], epochs) for name in FIELDS]
        lines.append(delimiter.join(cells) + end)
    return ("\n".join(lines) + "\n").encode("latin-1")


def _cell(name: str, value: Any, epochs: bool) -> str:
    if name in ("Submit", "Eligible", "Start", "End") and not epochs:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return str(value)


def as_json(site: Site, *, numbers: bool = True) -> bytes:
    """As `sacct --json` prints it; `numbers`: with Slurm 22.05's objects for numbers."""
    jobs: list[dict[str, Any]] = []
    for record in site.records:
        if "." in record["JobIDRaw"]:
            jobs[-1]["steps"].append({"step": {"id": record["JobIDRaw"]}})
            continue
        jobs.append(_json_job(record, numbers))
    return json.dumps({"meta": {"Slurm": {"version": {"major": "24"}}}, "jobs": jobs, "errors": []}).encode()


def _json_job(record: dict[str, Any], numbers: bool) -> dict[str, Any]:
    def number(value: int | None) -> Any:
        if not numbers:
            return value
        return {"set": value is not None, "infinite": False, "number": value or 0}

    base, _, element = record["JobID"].partition("_")
    gang, _, part = record["JobID"].partition("+")
    state = record["State"].split(" ")[0]
    return {
        "job_id": int(record["JobIDRaw"]),
        "name": record["JobName"],
        "array": {"job_id": int(base) if element else 0, "task_id": number(int(element) if element else None)},
        "het": {"job_id": int(gang) if part else 0, "job_offset": number(int(part) if part else None)},
        "association": {"account": "lab", "cluster": record["Cluster"], "user": record["User"], "partition": ""},
        "cluster": record["Cluster"],
        "partition": record["Partition"],
        "state": {"current": [state] if numbers else state, "reason": "None"},
        "time": {
            "submission": record["Submit"], "eligible": record["Eligible"], "start": record["Start"],
            "end": record["End"], "elapsed": record["ElapsedRaw"], "limit": number(record["TimelimitRaw"]),
        },
        "tres": {"allocated": _tres(record["AllocTRES"]), "requested": _tres(record["ReqTRES"])},
        "allocation_nodes": 1,
        "nodes": "n1",
        "restart_cnt": record["Restarts"],
        "steps": [],
    }  # fmt: skip


def _tres(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for entry in filter(None, text.split(",")):
        kind, _, count = entry.partition("=")
        resource, _, name = kind.partition("/")
        resource, name = ("gres", "gpu") if kind == "1001" else (resource, name)
        found.append({"type": resource, "name": name, "id": 1, "count": int(count.rstrip("G"))})
    return found
