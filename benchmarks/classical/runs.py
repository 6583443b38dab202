"""The runs behind the tables."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.classical.cases import Case
from pointsman.api import simulate
from pointsman.report.metrics.confidence import Interval, paired_bootstrap
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.metrics.groups import Group, group_runs
from pointsman.report.metrics.paired import difference
from pointsman.speed.profiles.assign import assign_models
from pointsman.suite.definition import suite_v1
from pointsman.suite.measure import Entry, entries
from pointsman.workload import Workload

PREEMPTIVE = ("srtf", "las", "tiresias")
ASSIGNMENTS = (("typical", 0), ("typical", 1), ("typical", 2), ("insensitive", 0))
"""Mix of models, and the seed that assigns them."""

ERROR_SEEDS = (0, 1, 2, 3, 4)
"""A log has one set of jobs; errors in what is known of them are drawn so often."""

Workloads = Mapping[int, Workload]
"""By seed."""


@cache
def policies() -> tuple[str, ...]:
    """The classical policies, the baseline first."""
    return suite_v1().spec.policies


def all_entries() -> list[Entry]:
    """Every policy as it is, and those that need durations again with errors in them."""
    return entries(policies(), suite_v1().spec.errors)


def window(case: Case, workloads: Workloads) -> tuple[float, float]:
    """Submits that count, for all seeds the same: what follows the warm-up."""
    submit_s = workloads[min(workloads)].jobs["submit_s"]
    return case.warmup_ratio * float(submit_s[-1] - submit_s[0]), float("inf")


def measured(case: Case, workloads: Workloads, chosen: list[Entry], **options: Any) -> list[Group]:
    """The figures of each entry, all seeds together."""
    first = workloads[min(workloads)]
    options = {"overheads": "none"} | options
    results = [
        simulate(workloads.get(seed, first), case.cluster, policy, seed=seed, estimate=estimate, log=False, **options)
        for policy, estimate in chosen
        for seed in (ERROR_SEEDS if estimate and len(workloads) == 1 else workloads)
    ]
    return group_runs(results, window(case, workloads))


def change(group: Group, base: Group) -> tuple[float, Interval | None]:
    """Change of mean JCT as a ratio, with its interval, paired on seeds, or on jobs where there is one set of them.

    Of several draws of errors on one set of jobs, each job counts with its mean over the draws.
    """
    if len(group.runs) == len(base.runs):
        found = difference(group, base, "jct_mean_s")
        return found.ratio or 0.0, found.ratio_interval
    here = np.mean([run.counted["jct_s"].to_numpy() for run in group.runs], axis=0)
    there = base.first.counted["jct_s"].to_numpy()
    intervals = paired_bootstrap(here, there)
    return float(here.mean() / there.mean()) - 1, intervals["mean"][1] if intervals else None


def mean_jct_s(case: Case, workloads: Workloads, policy: str, placement: str = "consolidated") -> float:
    """Mean over seeds of the mean JCT (s) of the counted jobs."""
    span, found = window(case, workloads), []
    for seed, jobs in workloads.items():
        result = simulate(jobs, case.cluster, policy, seed=seed, placement=placement, overheads="none", log=False)
        submitted = is_submitted_in(result.jobs, submit_window(result, span))
        found.append(float(result.jobs.filter(submitted)["jct_s"].to_numpy().mean()))
    return sum(found) / len(found)


def with_models(workloads: Workloads, mix: str, seed: int) -> Workloads:
    """The same jobs with models: the assignment differs by workload too, for jobs of one row are not the same job."""
    return {
        own: replace(work, jobs=assign_models(work.jobs, 1000 * seed + own, mix=mix)) for own, work in workloads.items()
    }
