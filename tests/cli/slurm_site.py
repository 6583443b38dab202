"""A small site: its cluster, its slurm.conf, and its accounting log as Slurm's scheduler would have made it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

import pointsman
from pointsman.workload import scheduled
from tests.free import simulate

CLUSTER = "2x8"
CONF = """\
ClusterName=north
PriorityType=priority/multifactor
PriorityFlags=NO_FAIR_TREE
PriorityWeightAge=1000
PriorityWeightFairshare=5000
PriorityWeightJobSize=500
PreemptType=preempt/qos
"""
FIELDS = "JobIDRaw|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqTRES"
JOBS = 400
FIRST = datetime(2026, 3, 2, tzinfo=UTC)


def submitted(jobs: int = JOBS) -> pl.DataFrame:
    """Jobs of four users in two accounts, in whole seconds, which ask for a third more than the cluster has."""
    draw = np.random.default_rng(4)
    gpus = draw.choice([1, 2, 4, 8, 16], jobs, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    lasts_s = np.ceil(draw.lognormal(7.0, 1.2, jobs))
    user = draw.choice(["ann", "bob", "cy", "di"], jobs)
    gap_s = (gpus * lasts_s).sum() / 16 / 1.3 / jobs
    return pl.DataFrame({
        "job_id": [str(1000 + k) for k in range(jobs)],
        "user": user,
        "account": np.where(np.isin(user, ["ann", "bob"]), "physics", "chemistry"),
        "submit_s": np.floor(np.cumsum(draw.exponential(gap_s, jobs))),
        "gpus": gpus,
        "duration_s": lasts_s,
        "time_limit_s": 60 * np.ceil(lasts_s * draw.uniform(1, 4, jobs) / 60),
    })  # fmt: skip


def write_site(here: Path, policy: str = "multifactor:slurm.conf") -> None:
    """Writes ``slurm.conf``, and as ``sacct.txt`` what happened under `policy`."""
    (here / "slurm.conf").write_text(CONF)
    workload = pointsman.Workload.of(submitted())
    ran = scheduled(workload, simulate(workload, CLUSTER, policy)).jobs
    rows = [_row(job) for job in ran.iter_rows(named=True)]
    (here / "sacct.txt").write_text("\n".join([FIELDS, *rows]) + "\n")


def _row(job: dict) -> str:
    submit, start, end = (_date(job[name]) for name in ("submit_s", "start_s", "end_s"))
    elapsed, limit = round(job["duration_s"]), round(job["time_limit_s"] / 60)
    who = f"{job['job_id']}|{job['user']}|{job['account']}|gpu|COMPLETED"
    return f"{who}|{submit}|{submit}|{start}|{end}|{elapsed}|{limit}|gres/gpu={job['gpus']}"


def _date(seconds: float) -> str:
    return (FIRST + timedelta(seconds=round(seconds))).strftime("%Y-%m-%dT%H:%M:%S")
