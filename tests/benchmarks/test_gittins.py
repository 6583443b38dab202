"""The benchmark of gittins, on a few jobs and on runs written by hand."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.gittins.contestants import (
    GITTINS,
    REQUESTS_S,
    RUNNABLE,
    Contestant,
    requested,
    reversed_halfway,
    shuffled,
)
from benchmarks.gittins.features import RESORTED
from benchmarks.gittins.figures import Figures, Place, table
from benchmarks.gittins.regression import SHIPPED, estimates_s
from benchmarks.gittins.runs import Cell, kept, measured
from pointsman import Workload, generate, load_cluster, simulate

DURATIONS = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
JOBS = Workload.of(pl.DataFrame({"submit_s": [0.0] * 6, "gpus": [1] * 6, "duration_s": DURATIONS}))
PAGE = Path(__file__).parents[2] / "docs/results/gittins.md"
DATA = PAGE.parent / "data"


def test_wrong_hints() -> None:
    """Shuffled they are the same durations; reversed, the second half is told 60, 50 and 40 s for 40, 50 and 60."""
    told = shuffled(JOBS, 1).jobs["time_limit_s"].to_list()
    assert sorted(told) == DURATIONS and told != DURATIONS
    assert reversed_halfway(JOBS, 0).jobs["time_limit_s"].to_list() == [10.0, 20.0, 30.0, 60.0, 50.0, 40.0]


@pytest.mark.parametrize("r2", [0.8, 0.25])
def test_noise_leaves_so_much_of_the_variance_explained(r2: float) -> None:
    durations = np.exp(np.random.default_rng(0).normal(6.0, 1.5, 20_000))
    sigma = float(
        (Contestant("x", "gittins", r2=r2).estimate_for(pl.DataFrame({"duration_s": durations})) or "").split(":")[1]
    )
    noise = np.random.default_rng(1).normal(0.0, sigma, len(durations))
    assert np.corrcoef(np.log(durations), np.log(durations) + noise)[0, 1] ** 2 == pytest.approx(r2, abs=0.02)


def test_a_run_is_measured(tmp_path: Path) -> None:
    """One after another on one GPU: JCTs are 10, 30, 60, 100, 150 and 210 s, which is the least there is."""
    from benchmarks.classical.cases import Case

    case = Case("six", "by hand", load_cluster("1x1"), (1.0,), (0,), lambda load, seed: JOBS, 0.0)
    found = measured(case, Cell("six", 1.0, 0, False), JOBS, Contestant("fifo", "fifo"))
    start_s = 10.0  # realistic overheads: each start
    waits = np.cumsum([start_s + duration for duration in DURATIONS])
    assert found["jct_mean_s"] == pytest.approx(waits.mean())
    assert found["bound_s"] == pytest.approx(np.cumsum(DURATIONS).mean())
    assert found["days"] == [(0, pytest.approx(waits.sum()), 6)]


def _runs(path: Path, jct_s: dict[str, list[float]]) -> Figures:
    """A log with one run a policy: sums of JCT by day, one job a day; its bound is 100 s."""
    rows = [
        {
            "workload": "log", "load": 1.0, "seed": 0, "models": True, "policy": policy, "jobs": len(days),
            "bound_s": 100.0, "jct_mean_s": float(np.mean(days)), "days": [[k, jct, 1] for k, jct in enumerate(days)],
            **dict.fromkeys(("pending_mean_s", "slowdown_p99", "slowdown_max", "preemptions", "jobs_per_s"), 1.0),
        }
        for policy, days in jct_s.items()
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Figures(path)


def test_figures_by_hand(tmp_path: Path) -> None:
    """gittins takes 110 s a day where fifo takes 220 and las 121: half, and 1 - 110/121 less, on every day."""
    figures = _runs(
        tmp_path / "runs.jsonl", {"fifo": [220.0] * 5, "las": [121.0] * 5, GITTINS: [110.0] * 5, "told": [100.0] * 5}
    )
    place = Place("log", 1.0, True)
    assert figures.best(place) == "las"
    assert figures.above(place, GITTINS) == pytest.approx(10.0)
    assert figures.closed(place, GITTINS, ["told"]) == pytest.approx(100 * 11 / 21)
    against = figures.against(place, GITTINS, "fifo")
    assert (against.percent, against.low, against.high) == pytest.approx((-50.0, -50.0, -50.0))
    assert table(figures).height == 4


def test_intervals_are_of_days(tmp_path: Path) -> None:
    """Better on half of the days and as much worse on the others: the interval has 0 in it."""
    days = [50.0, 150.0] * 20
    found = _runs(tmp_path / "runs.jsonl", {"fifo": [100.0] * 40, GITTINS: days}).against(
        Place("log", 1.0, True), GITTINS, "fifo"
    )
    assert found.low < 0 < found.high and found.percent == pytest.approx(0.0)


def test_what_is_in_the_file_is_not_run_again(tmp_path: Path) -> None:
    _runs(tmp_path / "runs.jsonl", {"fifo": [1.0]})
    assert list(kept(tmp_path / "runs.jsonl")) == [(Cell("log", 1.0, 0, True), "fifo")]


def test_every_row_of_the_page_is_in_its_data() -> None:
    """The main table is that of the data file, for all policies that it shows."""
    data = pl.read_csv(DATA / "gittins.csv")
    text = PAGE.read_text()
    head, _, *rows = re.search(r"<!-- table main -->\n\n(.*?)<!-- end -->", text, re.DOTALL)[1].strip().splitlines()  # ty: ignore
    policies = [cell.strip() for cell in head.strip("|").split("|")][1:-2]
    assert set(policies) <= set(data["policy"])
    for row in rows:
        name, *figures = [cell.strip() for cell in row.strip("|").split("|")]
        workload, load = name.rsplit(" ", 1)
        for policy, shown in zip(policies, figures, strict=False):
            found = data.filter(workload=workload, load=float(load), models=True, policy=policy)
            assert float(shown) == pytest.approx(
                found["above_bound_percent"].item(), abs=0.06 if float(shown) < 100 else 0.6
            )


def test_intervals_of_seeds_are_students(tmp_path: Path) -> None:
    """Ratios 0.9, 1.1 and 0.99, where the other always takes 100 s: t(0.975, 2) is 4.303."""
    _runs(tmp_path / "runs.jsonl", {"fifo": [100.0]})
    line = json.loads((tmp_path / "runs.jsonl").read_text())
    jct_s = {"fifo": (100.0, 100.0, 100.0), GITTINS: (90.0, 110.0, 99.0)}
    rows = [
        line | {"policy": policy, "seed": k, "jct_mean_s": one}
        for policy, means in jct_s.items()
        for k, one in enumerate(means)
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = Figures(tmp_path / "runs.jsonl").against(Place("log", 1.0, True), GITTINS, "fifo")
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


def test_intervals_of_the_page_can_be_drawn_again_from_its_data() -> None:
    """Those of days: sums of JCT by day, drawn with replacement."""
    pairs = pl.read_csv(DATA / "gittins-pairs.csv").filter(workload="ITP cluster08", load=1.0, models=True)
    row = pl.read_csv(DATA / "gittins.csv").filter(
        workload="ITP cluster08", load=1.0, models=True, policy="las"
    )  # fmt: skip
    sums = np.column_stack([pairs[name] * pairs["jobs"] for name in (GITTINS, "las")])
    picked = np.random.default_rng(7).integers(0, len(sums), (4000, len(sums)))
    ratios = 100 * (sums[picked, 0].sum(1) / sums[picked, 1].sum(1) - 1)
    wanted = row.select("low", "high").row(0)
    assert np.percentile(ratios, [2.5, 97.5]) == pytest.approx(wanted, abs=1.0)
    whole = 100 * (sums[:, 0].sum() / sums[:, 1].sum() - 1)
    assert whole == pytest.approx(row["gittins_to_it_percent"].item(), abs=0.05)


def test_the_page_tells_the_measured_speed_and_is_short() -> None:
    rates = pl.read_csv(DATA / "gittins-speed.csv").filter(policy=GITTINS)
    for load, median in rates.select("load", "median").rows():
        assert f"load {load} {median / 1000:.0f} [" in PAGE.read_text()
    assert len(PAGE.read_text().split()) <= 1500


def test_the_policies_it_is_compared_with_need_no_durations() -> None:
    jobs = generate("philly", jobs=50, cluster_gpus=32, load=0.9)
    for who in RUNNABLE:
        assert simulate(jobs, "4x8", who.policy, params=who.params).info["knowledge"] in ("none", "history")


def test_the_predictor_outside_the_engine_is_that_of_the_engine() -> None:
    """In a run whose weights are fitted several times."""
    run = simulate(generate("helios", jobs=1500, cluster_gpus=64, load=0.9), "8x8", "gittins", oversized="clamp").jobs
    outside = estimates_s(run, run["end_s"].to_numpy(), SHIPPED)
    assert outside == pytest.approx(run["estimate_s"].to_numpy(), rel=1e-5, abs=0.0011)
    assert run["submit_s"][-1] - run["submit_s"][0] > 3 * 43_200


def test_resorting_is_gittins_but_for_estimates() -> None:
    """Without a predictor there is nothing to sort again."""
    jobs = generate("helios", jobs=1500, cluster_gpus=64, load=0.9)

    def jct_s(policy: str, predictor: str) -> list[float]:
        params = {"predictor": predictor}
        return simulate(jobs, "8x8", policy, params=params, oversized="clamp").jobs["jct_s"].to_list()

    assert jct_s(RESORTED.policy, "none") == jct_s("gittins", "none")
    assert jct_s(RESORTED.policy, "history") != jct_s("gittins", "history")
