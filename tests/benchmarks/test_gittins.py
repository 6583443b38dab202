"""The benchmark of gittins, on a few jobs and on runs written by hand."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.classical.cases import Case
from benchmarks.gittins.contestants import (
    DEEP,
    FREE,
    GITTINS,
    REQUESTS_S,
    RIVALS,
    RULES,
    SLOW,
    noisy,
    requested,
    reversed_halfway,
    shuffled,
)
from benchmarks.gittins.features import RESORTED
from benchmarks.gittins.figures import against, best, closed
from benchmarks.gittins.regression import SHIPPED, estimates_s
from benchmarks.results.contestant import Contestant, Setting, run
from benchmarks.results.figures import Figures
from benchmarks.results.pages import gittins
from pointsman import Workload, generate, load_cluster, simulate

DURATIONS = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
JOBS = Workload.of(pl.DataFrame({"submit_s": [0.0] * 6, "gpus": [1] * 6, "duration_s": DURATIONS}))
DATA = Path(__file__).parents[2] / "docs/results/data"
WHERE = {"workload": "log", "load": 1.0, "models": True}


def test_wrong_hints() -> None:
    """Shuffled they are the same durations; reversed, the second half has 60, 50 and 40 s for 40, 50 and 60."""
    mixed = shuffled(JOBS, 1).jobs["time_limit_s"].to_list()
    assert sorted(mixed) == DURATIONS and mixed != DURATIONS
    assert reversed_halfway(JOBS, 0).jobs["time_limit_s"].to_list() == [10.0, 20.0, 30.0, 60.0, 50.0, 40.0]


@pytest.mark.parametrize("r2", [0.8, 0.25])
def test_noise_leaves_so_much_of_the_variance_explained(r2: float) -> None:
    durations = np.exp(np.random.default_rng(0).normal(6.0, 1.5, 20_000))
    jobs = pl.DataFrame({"submit_s": np.zeros(20_000), "gpus": np.ones(20_000, int), "duration_s": durations})
    sigma = float(noisy(r2, Workload.of(jobs), 0)[1].split(":")[1])
    noise = np.random.default_rng(1).normal(0.0, sigma, len(durations))
    assert np.corrcoef(np.log(durations), np.log(durations) + noise)[0, 1] ** 2 == pytest.approx(r2, abs=0.02)


def test_a_run_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another on one GPU: the last three are submitted on the second day."""
    day_s, start_s = 86_400.0, 10.0  # realistic overheads: each start
    jobs = JOBS.with_jobs(JOBS.jobs.with_columns(submit_s=pl.Series([0.0] * 3 + [day_s] * 3)), reason="by hand")
    case = Case("six", load_cluster("1x1"), (1.0,), (0,), lambda load, seed: jobs, 0.0)
    monkeypatch.setattr(gittins, "cases_by_name", lambda traces: {"six": case})
    found = run(Contestant("fifo", "fifo"), gittins.setting(gittins.Cell("six", 1.0, models=False), 0, Path()), 0)
    days = [np.cumsum([start_s + duration for duration in DURATIONS[k : k + 3]]).sum() for k in (0, 3)]
    assert found["jct_by_day_s"] == " ".join(f"{total:g}" for total in days)
    assert found["jct_mean_s"] == pytest.approx(sum(days) / 6, rel=1e-5)


def test_a_hint_is_what_the_policy_uses() -> None:
    """Of the last two jobs, shortest first prefers the longer one if their durations are exchanged."""
    late = Workload.of(pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [1] * 4, "duration_s": [9e5, 9e5, 10.0, 1000.0]}))
    place = Setting(late, load_cluster("1x1"), {"overheads": "none"}, 0.0, digits=6)
    hinted = next(who for who in DEEP if who.label == "srtf, reversed halfway")
    assert run(Contestant("srtf", "srtf"), place, 0)["pending_mean_s"] < run(hinted, place, 0)["pending_mean_s"]
    assert run(hinted, place, 0)["durations"] == "estimate limit, of durations reversed halfway"


def _runs(jct_s: dict[str, list[float]]) -> Figures:
    """A log with one run a policy: sums of JCT by day, one job a day; its bound is 100 s."""
    rows = [
        {
            **WHERE, "seed": 0, "policy": policy, "jct_mean_s": np.mean(days),
            "above_bound_percent": np.mean(days) - 100, "jct_by_day_s": " ".join(map(str, days)),
        }
        for policy, days in jct_s.items()
    ]  # fmt: skip
    return Figures(pl.DataFrame(rows))


def test_figures_by_hand() -> None:
    """gittins takes 110 s a day where fifo takes 220 and las 121: half, and 1 - 110/121 less, on every day."""
    figures = _runs(
        {**{rival: [220.0] * 5 for rival in RIVALS}, "las": [121.0] * 5, GITTINS: [110.0] * 5, "oracle": [100.0] * 5}
    )
    assert best(figures, WHERE) == "las"
    assert closed(figures, WHERE, GITTINS, ["oracle"]).mean() == pytest.approx(100 * 11 / 21)
    found = against(figures, WHERE, GITTINS, "fifo")
    assert (found.percent, found.low, found.high) == pytest.approx((-50.0, -50.0, -50.0))


def test_intervals_are_of_days() -> None:
    """Better on half of the days and as much worse on the others: the interval has 0 in it."""
    found = against(_runs({"fifo": [100.0] * 40, GITTINS: [50.0, 150.0] * 20}), WHERE, GITTINS, "fifo")
    assert found.low < 0 < found.high and found.percent == pytest.approx(0.0)


def test_blocks_of_days_keep_what_belongs_together() -> None:
    """Better for 20 days, then as much worse for 20: single days hide what whole blocks show. Blocks of all days, which
    go round, say that nothing varies.
    """
    figures = _runs({"fifo": [100.0] * 40, GITTINS: [50.0] * 20 + [150.0] * 20})
    widths = []
    for days in (1, 5, 40):
        found = against(figures, WHERE, GITTINS, "fifo", days)
        assert found.percent == pytest.approx(0.0)
        widths.append(found.high - found.low)
    assert widths[1] > 1.5 * widths[0] and widths[2] == pytest.approx(0.0)


def test_intervals_of_seeds_are_students() -> None:
    """Ratios 0.9, 1.1 and 0.99, where the other always takes 100 s: t(0.975, 2) is 4.303."""
    jct_s = {"fifo": (100.0, 100.0, 100.0), GITTINS: (90.0, 110.0, 99.0)}
    rows = [
        {**WHERE, "policy": policy, "seed": k, "jct_mean_s": one, "jct_by_day_s": None}
        for policy, means in jct_s.items()
        for k, one in enumerate(means)
    ]
    found = against(Figures(pl.DataFrame(rows)), WHERE, GITTINS, "fifo")
    half = 4.303 * np.std([0.9, 1.1, 0.99], ddof=1) / 3**0.5 / (299 / 300)
    assert found.percent == pytest.approx(-1 / 3)
    assert [found.low, found.high] == pytest.approx(
        [100 * (299 / 300 * np.exp(x) - 1) for x in (-half, half)], rel=1e-3
    )


def test_time_limits_are_round_and_never_too_short() -> None:
    jobs = Workload.of(
        pl.DataFrame({"submit_s": [0.0] * 6, "gpus": [1] * 6, "duration_s": [9.0, 3e3, 1e4, 1e5, 2e6, 4e6]})
    )
    told = requested(jobs, 1).jobs["time_limit_s"].to_numpy()
    assert (told >= jobs.jobs["duration_s"].to_numpy()).all()
    assert set(told[:5]) <= set(REQUESTS_S) and told[5] == 4e6


def test_days_of_the_data_add_up_to_the_mean() -> None:
    """In every run of a log; other jobs have seeds instead."""
    runs = pl.read_csv(DATA / "gittins.csv", infer_schema_length=None)
    logs = runs.filter(pl.col("jct_by_day_s").is_not_null())
    total = logs["jct_by_day_s"].str.split(" ").list.eval(pl.element().cast(pl.Float64)).list.sum()
    assert (total / logs["jobs"]).to_list() == pytest.approx(logs["jct_mean_s"].to_list(), rel=1e-5)
    assert set(logs["workload"]) == {"Philly", "ITP cluster04", "ITP cluster08"}


def test_the_data_name_every_contestant_with_its_options() -> None:
    with (DATA / "gittins-policies.csv").open(encoding="utf-8") as file:
        kept = {row["policy"]: row["options"] for row in csv.DictReader(file)}
    assert kept == {who.label: who.command for who in (*FREE, *DEEP, *SLOW, *RULES)}


def test_the_policies_it_is_compared_with_need_no_durations() -> None:
    jobs = generate("philly", jobs=50, cluster_gpus=32, load=0.9)
    for who in FREE:
        assert simulate(jobs, "4x8", who.policy, params=dict(who.params)).info["knowledge"] in ("none", "history")


def test_the_predictor_outside_the_engine_is_that_of_the_engine() -> None:
    """In a run whose weights are fitted several times."""
    run = simulate(generate("helios", jobs=1500, cluster_gpus=64, load=0.9), "8x8", "gittins", oversized="clamp").jobs
    outside = estimates_s(run, run["end_s"].to_numpy(), SHIPPED)
    assert outside == pytest.approx(run["estimate_s"].to_numpy(), rel=1e-5, abs=0.0011)
    assert run["submit_s"][-1] - run["submit_s"][0] > 3 * 43_200


@pytest.mark.slow
def test_resorting_is_gittins_but_for_estimates() -> None:
    """Without a predictor there is nothing to sort again."""
    jobs = generate("helios", jobs=1500, cluster_gpus=64, load=0.9)

    def jct_s(policy: str, predictor: str) -> list[float]:
        params = {"predictor": predictor}
        return simulate(jobs, "8x8", policy, params=params, oversized="clamp").jobs["jct_s"].to_list()

    assert jct_s(RESORTED.policy, "none") == jct_s("gittins", "none")
    assert jct_s(RESORTED.policy, "history") != jct_s("gittins", "history")
