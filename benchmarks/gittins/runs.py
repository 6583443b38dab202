"""Runs of contestants in cells. Each is a line of a file as soon as it has ended; what is there is not run again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.classical.cases import Case, cases, cases_by_name, window
from benchmarks.gittins.contestants import AGEING, HINTED, KEEPING, LEARNT, RUNNABLE, SLOW, Contestant
from pointsman import Workload
from pointsman.api import simulate
from pointsman.parallel.pool import Processes
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.metrics.lower_bound import lower_bound_s
from pointsman.workload.generator.profile import DAY_S

DEEP: dict[str, tuple[float, ...]] = {
    "suite itp": (0.95,), "suite helios": (0.95,), "Philly": (1.0,), "ITP cluster04": (0.85, 1.0),
    "ITP cluster08": (0.85, 1.0),
}  # fmt: skip
"""Where hints, forbidden preemption, ageing and estimates from history are looked at, with models."""
DEEP_WITHOUT_MODELS = ("ITP cluster04",)
"""Likewise without models."""
SMALL = ("suite itp", "ITP cluster04", "ITP cluster08")
"""Where slow policies run too: clusters of 80 and 584 GPUs."""


@dataclass(frozen=True)
class Cell:
    """One set of jobs."""

    workload: str
    load: float
    seed: int
    models: bool

    def contestants(self) -> Sequence[Contestant]:
        """Who is compared in it."""
        slow = SLOW if self.workload in SMALL else ()
        return (*RUNNABLE, *HINTED, *KEEPING, *AGEING, *LEARNT, *slow) if self._is_deep() else RUNNABLE

    def _is_deep(self) -> bool:
        return self.load in DEEP.get(self.workload, ()) and (self.models or self.workload in DEEP_WITHOUT_MODELS)


def cells_of(case: Case, seeds: Sequence[int]) -> Iterator[Cell]:
    """All cells of a workload, those with models first."""
    for models in (True, False):
        for seed in case.seeds:
            if seed in seeds:
                yield from (Cell(case.name, load, seed, models) for load in case.loads)


def draws(case: Case, who: Contestant) -> range:
    """How often hints are drawn: a log has one set of jobs, so five times there."""
    return range(5 if len(case.seeds) == 1 and (who.r2 or who.hint) else 1)


def measured(case: Case, cell: Cell, jobs: Workload, who: Contestant, draw: int = 0) -> dict[str, Any]:
    """The figures of one run; times in seconds, ``days`` are the sum of JCTs and the number of jobs by day of
    submission.
    """
    seed = cell.seed + 1000 * draw
    told = who.hint(jobs, seed) if who.hint else jobs
    result = simulate(
        told, case.cluster, who.policy, params=who.params, estimate=who.estimate_for(jobs.jobs), seed=seed,
        log=False, assign_models=0 if cell.models else None, oversized="drop", overheads="realistic", **who.options,
    )  # fmt: skip
    counted = result.jobs.filter(is_submitted_in(result.jobs, submit_window(result, window(case, {cell.seed: jobs}))))
    done = counted.filter(pl.col("jct_s").is_not_null())
    slowdown = (done["jct_s"] / done["duration_s"].clip(10.0)).to_numpy().clip(1.0)
    columns = [done[name].to_numpy() for name in ("submit_s", "gpus", "duration_s")]
    by_day = done.group_by((pl.col("submit_s") // DAY_S).cast(pl.Int64).alias("day")).agg(
        pl.col("jct_s").sum(), pl.len()
    ).sort("day")  # fmt: skip
    return {
        "jobs": counted.height,
        "unfinished": counted.height - done.height,
        "bound_s": lower_bound_s(*columns, case.cluster.gpus),
        "jct_mean_s": float(done["jct_s"].to_numpy().mean()),
        "pending_mean_s": float(done["pending_s"].to_numpy().mean()),
        "slowdown_p99": float(np.quantile(slowdown, 0.99)),
        "slowdown_max": float(slowdown.max()),
        "preemptions": int(result.jobs["preemptions"].sum()),
        "jobs_per_s": result.jobs.height / result.info["engine_s"],
        "days": by_day.rows(),
    }


def _run(traces: Path, cell: Cell, labels: Sequence[str]) -> list[dict[str, Any]]:
    case = cases_by_name(traces)[cell.workload]
    jobs = case.workload(cell.load, cell.seed)
    return [
        {**vars(cell), "policy": who.label, "draw": draw, **measured(case, cell, jobs, who, draw)}
        for who in cell.contestants()
        if who.label in labels
        for draw in draws(case, who)
    ]


def kept(path: Path) -> dict[tuple[Cell, str], list[dict[str, Any]]]:
    """The runs in a file, by cell and label; several where hints are drawn more than once."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    names = Cell.__dataclass_fields__
    found: dict[tuple[Cell, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((Cell(**{name: row[name] for name in names}), row["policy"]), []).append(row)
    return found


def complete(path: Path, traces: Path, seeds: Sequence[int], workers: int, only: Sequence[str]) -> None:
    """Run what the file at `path` lacks, cell by cell, and add it; `only`: these workloads, or all."""
    found = kept(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    work = []
    for case in cases(traces):
        if not only or case.name in only:
            for cell in cells_of(case, seeds):
                if labels := [who.label for who in cell.contestants() if (cell, who.label) not in found]:
                    work.append((traces, cell, labels))
    with path.open("a", encoding="utf-8") as file:
        for done, rows in enumerate(Processes(workers)(_run, work), 1):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            print(f"{done} of {len(work)} cells: {rows[0]['workload']} {rows[0]['load']}", flush=True)
