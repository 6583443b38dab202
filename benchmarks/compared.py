"""What a daemon let happen beside what `simulate` says of it."""

import csv
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import polars as pl

import pointsman
from pointsman.report.result import Result
from pointsman.workload import Workload

DRAWS: Final = 40
Row = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """A run whose exported log is in `log`; the policy is simulated with measured durations and mean overheads."""

    log: Path
    policy: str
    params: Mapping[str, Any]
    asked_s: Mapping[str, float]
    """How long each job was asked to run, by its number."""
    jitter_s: float
    """By so much durations are moved: the interval at which the daemon looks at its jobs."""

    @cached_property
    def workload(self) -> Workload:
        return pointsman.read_workload(self.log / "jobs.csv")

    @cached_property
    def measured(self) -> dict[str, float]:
        """Mean times of starts and stops."""
        lines = (self.log / "overheads.yaml").read_text().splitlines()
        return {name: float(value) for name, value in (line.split(": ") for line in lines)}

    @cached_property
    def attempts(self) -> list[dict[str, str]]:
        return [*csv.DictReader((self.log / "attempts.csv").open())]

    def compare(self) -> tuple[Row, list[Row]]:
        """Mean completion times, live and simulated, and those of each job."""
        jobs, result = self.workload.jobs, self._simulated(self.workload)
        real_s = (jobs["end_s"] - jobs["submit_s"]).to_list()
        simulated_s = dict(zip(result.jobs["job_id"], result.jobs["jct_s"], strict=True))
        each = [
            {"job_id": job, "gpus": gpus, "jct_live_s": real, "jct_simulated_s": simulated_s[job]}
            for job, gpus, real in zip(jobs["job_id"], jobs["gpus"], real_s, strict=True)
        ]
        starts_s = sorted(float(a["started_s"]) - float(a["intended_s"]) for a in self.attempts if a["started_s"])
        longer = [ran / self.asked_s[job] - 1 for job, ran in zip(jobs["job_id"], jobs["duration_s"], strict=True)]
        real, simulated = fmean(real_s), fmean(simulated_s.values())
        low, high = self._jitter(simulated)
        return {
            "jobs": len(jobs), "jct_live_s": real, "jct_simulated_s": simulated, "apart": simulated / real - 1,
            "jitter_low": low, "jitter_high": high,
            "preemptions_live": sum(a["cause"] == "preempt" for a in self.attempts),
            "preemptions_simulated": int(result.jobs["preemptions"].sum()), **self.measured,
            "start_p90_s": starts_s[round(0.9 * (len(starts_s) - 1))], "longer_mean_ratio": fmean(longer),
        }, each  # fmt: skip

    def _simulated(self, workload: Workload) -> Result:
        options = {"estimate": "history"} if self.policy == "sjf" else {}
        given = {"params": dict(self.params), "overheads": self.measured, **options}
        return pointsman.simulate(workload, str(self.log / "cluster.yaml"), self.policy, **given)

    def _jitter(self, mean_s: float) -> tuple[float, float]:
        """How far the simulated mean moves, as a ratio, if each duration is up to `jitter_s` longer or shorter: 5 % of
        the draws are below the first, 5 % above the second.
        """
        means = []
        for seed in range(DRAWS):
            draw, each_s = random.Random(seed), self.workload.jobs["duration_s"]
            others = [max(0.001, value + draw.uniform(-self.jitter_s, self.jitter_s)) for value in each_s]
            moved = Workload.of(self.workload.jobs.with_columns(duration_s=pl.Series(others)), source="jitter")
            means.append(float(self._simulated(moved).jobs["jct_s"].mean()) / mean_s - 1)  # ty: ignore
        means.sort()
        return means[round(0.05 * (DRAWS - 1))], means[round(0.95 * (DRAWS - 1))]


def write_rows(path: Path, rows: list[Row]) -> None:
    with path.open("w") as file:
        writer = csv.DictWriter(file, dict.fromkeys(key for row in rows for key in row), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
