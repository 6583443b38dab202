"""Estimates from history, over several fits, against the same in plain Python; and how much they help."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.engine.estimates.logarithm import exp, ln
from tests.free import simulate
from tests.oracle.history import History
from tests.oracle.model import Job


def repeated(jobs: int = 1500, seed: int = 1) -> Workload:
    """Jobs of users who mostly do the same again."""
    draw = np.random.default_rng(seed)
    user = draw.integers(0, 12, jobs)
    duration_s = np.round(np.exp(4.0 + 0.4 * user + 0.5 * draw.standard_normal(jobs)))
    return Workload.of(
        pl.DataFrame(
            {
                "submit_s": np.round(np.sort(draw.uniform(0, 4 * 86_400, jobs))),
                "gpus": draw.choice([1, 1, 2, 4, 8], jobs),
                "duration_s": duration_s,
                "user": [f"u{k}" for k in user],
                "queue": [("a", "b", None)[k % 3] for k in user],
            }
        )
    )


class Notes:
    """Starts jobs as they come, and notes what it is told of them."""

    name, needs = "notes", "estimate"

    def __init__(self) -> None:
        self.told: dict[int, float] = {}

    def decide(self, view: Any) -> None:
        for job in list(view.pending):
            record = view.jobs[job]
            self.told[int(record["row"])] = float(record["estimate"]) / 1000
            view.start(job)


def test_estimates_are_those_of_the_page() -> None:
    workload = repeated()
    policy = Notes()
    result = simulate(workload, "100x8", policy, estimate="history")
    assert result.jobs["start_s"].equals(result.jobs["submit_s"])  # so ends are known beforehand
    rows = [
        Job(round(1000 * s), g, round(1000 * d), queue=q or "", user=u)
        for s, g, d, q, u in workload.jobs.select("submit_s", "gpus", "duration_s", "queue", "user").rows()
    ]
    first_ms = rows[0].submit_ms
    happens = [(job.submit_ms - first_ms + job.work_ms, 0, row) for row, job in enumerate(rows)]
    happens += [(job.submit_ms - first_ms, 1, row) for row, job in enumerate(rows)]
    history, wanted = History(), {}
    for now, kind, row in sorted(happens):
        if kind == 0:
            history.learn(row, rows[row])
        else:
            wanted[row] = history.estimate_ms(row, rows[row], now) / 1000
    assert history.fitted_in > 4
    assert [policy.told[row] for row in range(len(rows))] == pytest.approx([wanted[row] for row in range(len(rows))])
    assert result.jobs["estimate_s"].to_list() == [policy.told[row] for row in range(len(rows))]
    late = slice(800, None)
    told = np.log([policy.told[row] for row in range(len(rows))])[late]
    true = np.log(workload.jobs["duration_s"].to_numpy())[late]
    assert 1 - np.var(true - told) / np.var(true) > 0.7


@pytest.mark.parametrize("policy", ["sjf-backfill", "srtf"])
def test_they_stand_between_nothing_and_the_truth(policy: str) -> None:
    workload = repeated(3000, 2)
    results = {
        kind: simulate(workload, "2x8", policy, estimate=kind).jobs["jct_s"].mean() for kind in ("history", "oracle")
    }
    blind = simulate(workload, "2x8", "fifo-backfill").jobs["jct_s"].mean()
    assert results["oracle"] * 0.99 < results["history"] < 1.05 * blind


def test_a_run_that_was_cut_has_the_estimates_of_the_jobs_that_came() -> None:
    whole, cut = (
        simulate(repeated(300), "1x8", "srtf", estimate="history", until_s=until).jobs for until in (None, 150_000.0)
    )
    came = cut["state"] != "FUTURE"
    assert 0 < cut.filter(~came).height < 300 and (cut.filter(came)["state"] != "COMPLETED").any()
    assert cut.filter(came)["estimate_s"].equals(whole.filter(came)["estimate_s"])
    assert cut.filter(~came)["estimate_s"].null_count() == cut.filter(~came).height


def test_the_run_says_what_durations_were_told() -> None:
    assert pointsman.simulate(repeated(20), "2x8", "srtf", estimate="history").info["knowledge"] == "history"


@pytest.mark.parametrize("x", [1e-12, 0.3, 0.99, 1.0, 1.5, 2.0, 10.0, 3600.0, 1e9])
def test_logarithm(x: float) -> None:
    python = getattr(ln, "py_func", ln)
    assert python(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("y", [0.0, 0.1, 1.0, 7.0, 20.0])
def test_exponential(y: float) -> None:
    python = getattr(exp, "py_func", exp)
    assert python(y) == pytest.approx(math.exp(y), rel=3e-15)
