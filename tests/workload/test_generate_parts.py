"""The parts of the generator, each by what it must keep; and its fit to the logs, where they are."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.workload.generator.cascade import LEVELS, measure, scatter
from pointsman.workload.generator.clock import Clock
from pointsman.workload.generator.fit import dispersion, fit_profile, render
from pointsman.workload.generator.gaps import quantiles, with_gaps
from pointsman.workload.generator.generate import generate, generate_from
from pointsman.workload.generator.profile import DAY_S, load_profile

TRACES = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"


def ks(a: np.ndarray, b: np.ndarray) -> float:
    both = np.unique(np.concatenate((a, b)))
    share = [np.searchsorted(np.sort(x), both, side="right") / x.size for x in (a, b)]
    return float(np.abs(share[0] - share[1]).max())


def test_the_clock_goes_there_and_back() -> None:
    rng = np.random.default_rng(0)
    clock = Clock.of(list(rng.uniform(0.2, 2, 24)), list(rng.uniform(0.5, 1.5, 7)), 10.5)
    seconds = np.sort(rng.uniform(0, 40 * DAY_S, 1000))
    assert np.allclose(clock.clock(clock.even(seconds)), seconds)
    assert clock.even(np.array(0.0)) == 0
    assert clock.even(np.array(7.0 * DAY_S)) == pytest.approx(7 * DAY_S)


def test_even_time_becomes_the_rhythm() -> None:
    hourly = [1.0] * 12 + [3.0] * 12
    clock = Clock.of(hourly, [1.0] * 7, 0.0)
    hour = (clock.clock(np.linspace(0, 70 * DAY_S, 70_001)[:-1]) // 3600).astype(int) % 24
    assert (hour >= 12).mean() == pytest.approx(0.75, abs=0.01)


def test_scatter_keeps_the_days() -> None:
    daily = np.array([0, 5, 100, 1, 0, 2000])
    times = scatter(daily, 80_000.0, np.full(LEVELS, 0.3), np.random.default_rng(0))
    assert np.all(np.diff(times) >= 0)
    assert np.array_equal(np.bincount((times // 80_000).astype(int), minlength=6), daily)


@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.3])
def test_measure_finds_what_scatter_was_given(correlation: float) -> None:
    crowds = [
        scatter(np.full(200, 400), 86_400.0, np.full(LEVELS, correlation), np.random.default_rng(k)) for k in range(3)
    ]
    assert np.allclose(measure(crowds, 86_400.0)[:8], correlation, atol=0.05)


def test_clustering_makes_dispersion() -> None:
    made = [
        dispersion(scatter(np.full(100, 500), 86_400.0, np.full(LEVELS, c), np.random.default_rng(1)))
        for c in (0.0, 0.05, 0.2)
    ]
    assert 0.7 < made[0] < 1.3
    assert made[0] < made[1] / 3 < made[2] / 6


def test_gaps_are_exact_and_days_stay() -> None:
    rng = np.random.default_rng(0)
    times = scatter(rng.integers(50, 400, 30), 86_400.0, np.full(LEVELS, 0.2), rng)
    times[0] = 0.0
    wanted = rng.lognormal(3, 1.5, times.size - 1)
    wanted = np.rint(wanted * (times[-1] / wanted.sum()))
    moved = with_gaps(times, quantiles(wanted, 201), float(wanted.mean()))
    assert ks(np.diff(moved), wanted) < 0.02
    assert moved[-1] == pytest.approx(wanted.sum(), abs=1)
    days = [np.bincount((t // 86_400).astype(int), minlength=31)[:30] for t in (times, moved)]
    assert np.corrcoef(days)[0, 1] > 0.95


def test_a_profile_fitted_to_a_workload_is_like_it(tmp_path: Path) -> None:
    given = generate("itp", jobs=4000, cluster_gpus=1 << 20, seed=1).jobs
    profile = fit_profile(given, "mine", "a test")
    path = tmp_path / "mine.yaml"
    path.write_text(render(profile))
    assert load_profile(str(path)) == profile
    made = generate_from(load_profile(str(path)), jobs=4000, cluster_gpus=1 << 20, seed=2).jobs
    assert ks(made["gpus"].to_numpy(), given["gpus"].to_numpy()) <= 0.03
    assert ks(made["duration_s"].to_numpy(), given["duration_s"].to_numpy()) <= 0.05
    assert ks(np.diff(made["submit_s"].to_numpy()), np.diff(given["submit_s"].to_numpy())) <= 0.05


def test_a_small_log_can_be_fitted() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 5, 9, 4000], "gpus": [1, 2, 1, 8], "duration_s": [60.0, 0, 9, 500]})
    profile = fit_profile(jobs.with_columns(queue=pl.lit(None, pl.String)), "tiny", "a test")
    assert profile.jobs == 4
    made = generate_from(profile, jobs=10, cluster_gpus=8, load=0.5).jobs
    assert set(made["gpus"]) <= {1, 2, 8} and made["queue"].unique().to_list() == ["default"]


def test_a_log_without_a_span_is_refused() -> None:
    jobs = pl.DataFrame({"submit_s": [5.0, 5.0], "gpus": [1, 1], "duration_s": [1.0, 2.0], "queue": ["a", "a"]})
    with pytest.raises(UsageError, match="different times"):
        fit_profile(jobs, "flat", "a test")


@pytest.mark.parametrize(("like", "file"), [("philly", "philly_2017"), ("itp", "ms_itp_2021")])
def test_the_shipped_profiles_fit_the_logs(like: str, file: str) -> None:
    path = TRACES / f"{file}.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    log = pl.read_csv(path)
    made = generate(like, jobs=log.height, cluster_gpus=1 << 20, seed=11).jobs
    for column, limit in (("gpus", 0.03), ("duration_s", 0.05)):
        assert ks(made[column].to_numpy(), log[column].to_numpy()) <= limit
    submit_s, logged_s = made["submit_s"].to_numpy(), log["submit_s"].to_numpy()
    assert ks(np.diff(submit_s), np.diff(logged_s)) <= 0.05
    assert dispersion(submit_s) == pytest.approx(dispersion(logged_s), rel=0.25)
