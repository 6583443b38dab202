"""What happened on a live cluster, as files that `compare` and `simulate` read."""

import sqlite3
from pathlib import Path
from typing import Any

import polars as pl

from pointsman.cluster import Cluster
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import InputError
from pointsman.live.daemon.daemon import CLUSTER
from pointsman.live.daemon.submission import user_name
from pointsman.live.daemon.views import nodes_of
from pointsman.live.records.archive import at_one_moment
from pointsman.live.records.store import job_of, parts_of
from pointsman.live.report.told_run import TOLD, told_run
from pointsman.report import write_run
from pointsman.workload import Workload, write_workload

Row = dict[str, Any]
LIVE = "live"
"""What a run is called that happened."""
AWAY_MS = 5_000
"""An end that is noticed so late was noticed by another daemon."""


def export(store: Path, folder: Path) -> list[str]:
    """Write ``jobs.csv`` (the jobs that have ended, with the times at which they ran), ``attempts.csv``,
    ``cluster.yaml``, ``overheads.yaml`` (how long starts and stops took) and ``run/`` (all of it, as the result of a
    run) into `folder`; the daemon may run on.

    Returns: what is to be known of them.

    Raises:
        InputError: no job has ended, or `store` is none.
    """
    with at_one_moment(store) as connection:
        attempts = [dict(row) for row in connection.execute("SELECT * FROM attempts ORDER BY job, attempt")]
        came = connection.execute("SELECT * FROM jobs ORDER BY submit_ms, id").fetchall()
        kept = connection.execute("SELECT value FROM meta WHERE key = ?", (CLUSTER,)).fetchone()
    if kept is None:
        raise InputError("no daemon has started with this store yet", path=store)
    ended = [job for job in came if job["end_ms"] is not None]
    cluster = str(kept["value"])
    for attempt in attempts:
        attempt["noticed_ms"] = attempt["ended_ms"]
        _correct(attempt)
    by_job: dict[int, list[Row]] = {}
    for attempt in attempts:
        by_job.setdefault(attempt["job"], []).append(attempt)
    found = [_job_row(job, by_job.get(job["id"], [])) for job in ended]
    logged = [row for row in found if row is not None]
    if not logged:
        raise InputError("no job has run to its end yet", path=store)
    jobs = pl.DataFrame(logged, infer_schema_length=None).sort("submit_s", maintain_order=True)
    write_workload(Workload.of(jobs, source=str(store)), folder / "jobs.csv")
    pl.DataFrame([_attempt_row(one) for one in attempts], infer_schema_length=None).write_csv(folder / "attempts.csv")
    (folder / "cluster.yaml").write_text(cluster)
    overheads = overheads_of(attempts)
    (folder / "overheads.yaml").write_text("".join(f"{name}: {value:.3f}\n" for name, value in overheads.items()))
    _write_run(
        folder / "run", [_told_job(job) for job in came], by_job, parse_cluster(cluster, origin=str(store)), overheads
    )
    alive = sum(one["ended_ms"] is None for one in attempts)
    left = {"jobs that never ran": len(ended) - len(logged), "attempts that have not ended": alive}
    return [f"left out: {many} {what}" for what, many in left.items() if many]


def _write_run(folder: Path, jobs: list[Row], attempts: dict[int, list[Row]], cluster: Cluster, overheads: Row) -> None:
    layout = cluster.layout()
    info = {
        "policy": LIVE, "policy_name": LIVE, "params": {}, "needs": "none", "knowledge": "recorded", "seed": 0,
        "cluster": cluster.name, "gpus": int(layout.node_gpus.sum()), "nodes": len(layout.node_gpus),
        "node_names": list(layout.node_names), "node_gpus": layout.node_gpus.tolist(),
        "node_gpu_types": [layout.gpu_types[kind] for kind in layout.node_gpu_type],
        "node_racks": layout.node_rack.tolist(), "node_pods": layout.node_pod.tolist(),
        "overheads": {name: max(0.001, value) for name, value in overheads.items()},  # nothing takes no time
        "engine_s": 0.0, "decisions": sum(map(len, attempts.values())), "assumptions": [*TOLD],
    }  # fmt: skip
    write_run(folder, told_run(jobs, attempts, layout, info))


def _told_job(job: sqlite3.Row) -> Row:
    """As the result of a run has it."""
    asked = job_of(job["spec"])
    return {
        **asked.kind._asdict(),
        "job_id": str(job["id"]),
        "number": job["id"],
        "user": user_name(asked.uid),
        "submit_s": job["submit_ms"] / 1000,
        "priority": -asked.ask.neg_priority,
        "end_ms": job["end_ms"],
        "state": job["state"],
    }


def _correct(attempt: Row) -> None:
    """It began when it really did. It held its GPUs until its end was noticed, unless nothing looked then."""
    started_ms, ended_ms, real_end_ms = attempt["started_ms"], attempt["ended_ms"], attempt["real_end_ms"]
    if started_ms is not None and attempt["real_start_ms"] is not None:
        attempt["started_ms"] = attempt["real_start_ms"]
    if ended_ms is not None and real_end_ms is not None and ended_ms - real_end_ms > AWAY_MS:
        attempt["ended_ms"] = real_end_ms


def _job_row(job: sqlite3.Row, attempts: list[Row]) -> Row | None:
    """As a log has it; None if it never ran."""
    ran = [one for one in attempts if one["started_ms"] is not None and one["ended_ms"] is not None]
    if not ran:
        return None
    asked = job_of(job["spec"])
    return {
        **asked.kind._asdict(),
        "job_id": str(job["id"]),
        "user": user_name(asked.uid),
        "submit_s": job["submit_ms"] / 1000,
        "duration_s": sum(map(_ran_ms, ran)) / 1000,
        "start_s": ran[0]["started_ms"] / 1000,
        "end_s": ran[-1]["ended_ms"] / 1000,
        "node_list": nodes_of(parts_of(ran[-1]["parts"])),
        "time_limit_s": asked.limit_ms / 1000 if asked.limit_ms else None,
        "priority": -asked.ask.neg_priority,
        "preemptible": not asked.ask.pinned,
        "status": job["state"].lower(),
    }


def _ran_ms(attempt: Row) -> int:
    """How long an attempt ran. `simulate` adds the stop of one that is preempted by itself."""
    until_ms = attempt["stopping_ms"] if attempt["cause"] == "preempt" else attempt["ended_ms"]
    return max(0, until_ms - attempt["started_ms"])


def _attempt_row(one: Row) -> Row:
    times = {f"{name}_s": one[f"{name}_ms"] / 1000 if one[f"{name}_ms"] is not None else None for name in _TIMES}
    rest = {name: one[name] for name in ("job", "attempt", "reason", "cause", "exit_code", "exit_signal")}
    parts = parts_of(one["parts"])
    return {**rest, **times, "gpus": sum(mask.bit_count() for _, mask in parts), "node_list": nodes_of(parts)}


_TIMES = ("intended", "started", "stopping", "ended")


def overheads_of(attempts: list[Row]) -> dict[str, float]:
    """Mean times, s, as an overheads file has them: of starts, of stops of preempted attempts, and what later starts of
    a job take more than first ones.
    """
    started = [one for one in attempts if one["started_ms"] is not None]
    first = [one["started_ms"] - one["intended_ms"] for one in started if one["attempt"] == 1]
    later = [one["started_ms"] - one["intended_ms"] for one in started if one["attempt"] > 1]
    stops = [
        one["ended_ms"] - one["stopping_ms"]
        for one in started
        if one["cause"] == "preempt" and one["ended_ms"] is not None
    ]
    start_s = _mean_s(first)
    return {
        "start_s": start_s,
        "stop_s": _mean_s(stops),
        "restore_s": max(0.0, _mean_s(later) - start_s) if later else 0.0,
    }


def _mean_s(times_ms: list[int]) -> float:
    return max(0.0, sum(times_ms) / len(times_ms) / 1000) if times_ms else 0.0
