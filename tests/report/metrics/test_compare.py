"""Policies side by side: pairing, intervals, conditions, and where they part."""

import math
import re
import time

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy import stats

from pointsman.errors import ThresholdError, UsageError
from pointsman.report.comparison import compare
from pointsman.report.figures.bars import jct_bars
from pointsman.report.figures.distributions import _jct_sentence
from pointsman.report.metrics.comparison_rows import METRICS, TIMINGS
from pointsman.report.metrics.divergence import first_divergence
from pointsman.report.metrics.groups import group_runs
from pointsman.report.metrics.paired.confidence import (
    BLOCKS,
    _resample,
    mean_interval,
    paired_bootstrap,
    ratio_interval,
    student_t,
    student_t_cdf,
)
from pointsman.report.metrics.threshold import fail_if, parse_threshold
from pointsman.report.pages.lead import lead
from pointsman.report.result import Result
from pointsman.report.summary import summarise
from pointsman.report.tables.gpu_time import gpu_time_table, locality_table
from pointsman.report.tables.tables import comparison_table, summary_table
from pointsman.report.tables.waiting import waiting_tables
from pointsman.report.units import duration
from tests.report.small_results import Job, busy_jobs, simulate


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 29, 100])
def test_student_against_scipy(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-12)
    assert student_t_cdf(-1.7, freedom) == pytest.approx(stats.t.cdf(-1.7, freedom), rel=1e-12)


def test_interval_of_a_mean_by_hand() -> None:
    low, high = mean_interval(np.array([1.0, 2.0, 3.0])) or (0, 0)
    half = 4.302652729911275 * 1.0 / math.sqrt(3)
    assert (low, high) == pytest.approx((2 - half, 2 + half))
    assert mean_interval(np.array([1.0])) is None


def test_interval_of_a_ratio_by_hand() -> None:
    # 6 / 12 = 0.5; residuals 1 - 0.5 * 4, 5 - 0.5 * 8 = -1, 1
    low, high = ratio_interval(np.array([1.0, 5.0]), np.array([4.0, 8.0])) or (0, 0)
    half = student_t(1) * math.sqrt(2) * math.sqrt(2) / 12
    assert (low, high) == pytest.approx((0.5 * math.exp(-half / 0.5) - 1, 0.5 * math.exp(half / 0.5) - 1))
    assert low > -1, "on the log scale no figure loses more than all of itself"
    assert ratio_interval(np.zeros(2), np.ones(2)) is None
    assert ratio_interval(np.array([1.0, 2.0]), np.zeros(2)) is None


def test_bootstrap_covers_a_known_difference() -> None:
    """Of 60 samples of paired noise around 1, about 95 % of the intervals hold 1."""
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(60):
        common = random.exponential(10, 400)
        found = paired_bootstrap(common + random.normal(1, 1, 400), common)
        assert found is not None
        interval, of_ratio = found["mean"]
        assert of_ratio == pytest.approx(np.divide(interval, 10), abs=0.05)
        hits += interval[0] <= 1 <= interval[1]
        assert interval[1] - interval[0] < 0.4, "the common part cancels"
    assert hits >= 50


@pytest.mark.parametrize("jobs", [20, 101, 555])
def test_resampled_statistics_are_those_of_the_resampled_jobs(jobs: int) -> None:
    """Beside numpy on the jobs themselves, each block repeated as often as it was drawn."""
    random = np.random.default_rng(jobs)
    values, blocks = random.exponential(10, jobs).round(1), np.arange(jobs) // -(-jobs // BLOCKS)
    count = int(blocks[-1]) + 1
    drawn = random.multinomial(count, np.full(count, 1 / count), 30)
    found = _resample(values, blocks, drawn.astype(float))
    for i, often in enumerate(drawn):
        sample = np.repeat(values, often[blocks])
        assert found["mean"][i] == pytest.approx(sample.mean())
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            assert found[name][i] == pytest.approx(np.quantile(sample, share))


def test_a_million_jobs_are_resampled_in_seconds() -> None:
    values = np.random.default_rng(0).exponential(10, 1_000_000)
    began = time.process_time()
    found = paired_bootstrap(0.5 * values, values)
    assert time.process_time() - began < 5
    assert found is not None
    assert found["p99"][1] == pytest.approx((-0.5, -0.5), abs=1e-9), "the same cells, so the same jobs"


def test_seeds_that_change_nothing_are_one_run(fifo: Result, srtf: Result) -> None:
    def again(result: Result) -> Result:
        return Result(result.jobs, result.events, result.series, result.info | {"seed": 2})

    alone, thrice = compare([fifo, srtf]), compare([fifo, again(fifo), srtf, again(srtf)])
    change = thrice.rows[1].differences["jct_mean_s"]
    assert change.method == "block bootstrap over the jobs, because nothing depends on the seed"
    assert change.interval == alone.rows[1].differences["jct_mean_s"].interval
    assert thrice.rows[1].jobs_counted == 400, "the same jobs are not counted twice"
    assert "because nothing depends on the seed." in comparison_table(thrice).note


def test_the_table_leads_with_all_time_pending(fifo: Result, srtf: Result) -> None:
    """Under `srtf` jobs wait again after a preemption."""
    table = comparison_table(compare([fifo, srtf]))
    at = table.columns.index("mean pending")
    waited_s, pending_s = (srtf.jobs[name].mean() for name in ("wait_s", "pending_s"))
    assert waited_s < pending_s
    assert table.rows[1][at] == duration(pending_s)


def test_runs_of_other_jobs_are_refused(fifo: Result) -> None:
    other = simulate(busy_jobs(400, 2), nodes=8, size=8, policy="srtf", seed=1)
    with pytest.raises(UsageError, match="srtf and fifo did not run the same jobs"):
        compare([fifo, other])


def test_seeds_are_pooled_and_paired(many: list[Result]) -> None:
    found = compare(many)
    assert [row.policy for row in found.rows] == ["fifo", "sjf-backfill", "srtf"]
    assert found.rows[2].seeds == [1, 2, 3]
    means = {p: [many[3 * p + s].jobs["jct_s"].mean() for s in range(3)] for p in (0, 2)}
    change = found.rows[2].differences["jct_mean_s"]
    paired = np.subtract(means[2], means[0])
    assert change.value == pytest.approx(paired.mean())
    assert change.ratio == pytest.approx(paired.mean() / np.mean(means[0]))
    expected = stats.t.interval(0.95, 2, paired.mean(), stats.sem(paired))
    assert change.interval == pytest.approx(expected)
    assert change.ratio_interval is not None
    assert -1 < change.ratio_interval[0] < change.ratio < change.ratio_interval[1]


def test_one_seed_is_paired_on_jobs(fifo: Result, srtf: Result) -> None:
    change = compare([fifo, srtf]).rows[1].differences["jct_mean_s"]
    both = fifo.jobs.join(srtf.jobs, on="row")
    assert change.value == pytest.approx((both["jct_s_right"] - both["jct_s"]).mean())
    assert change.interval is not None
    assert change.interval[0] < change.value < change.interval[1] < 0
    assert "bootstrap" in change.method


def test_only_common_seeds_are_paired(many: list[Result]) -> None:
    found = compare([many[0], many[1], many[4], many[5]])  # fifo with seeds 1, 2; sjf-backfill with 2, 3
    change = found.rows[1].differences["jct_mean_s"]
    assert change.value == pytest.approx(many[4].jobs["jct_s"].mean() - many[1].jobs["jct_s"].mean())


def test_no_common_seed_means_no_difference(many: list[Result]) -> None:
    change = compare([many[0], many[5]]).rows[1].differences["jct_mean_s"]
    assert change.value is None
    assert change.interval is None


def test_baseline_by_name(many: list[Result]) -> None:
    assert compare(many, baseline="srtf").baseline.policy == "srtf"
    with pytest.raises(UsageError, match="not among the policies compared; choose from fifo, sjf-backfill, srtf"):
        compare(many, baseline="easy")


def test_a_run_given_twice_is_refused(fifo: Result) -> None:
    with pytest.raises(UsageError, match="twice"):
        compare([fifo, fifo])
    with pytest.raises(UsageError, match="at least one"):
        compare([])


def test_labels_say_what_differs(fifo: Result) -> None:
    spread = Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"placement": "spread"})
    told = Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"params": {"margin_s": 5}})
    labels = [row.policy for row in compare([fifo, spread, told]).rows]
    assert labels == ["fifo (defaults, consolidated)", "fifo (defaults, spread)", "fifo (margin_s=5, consolidated)"]


def test_labels_of_one_policy_say_only_the_parameters_that_differ(fifo: Result) -> None:
    params = ({"epsilon": 0.05, "levels": 3}, {"epsilon": 0.1, "levels": 3})
    runs = [Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"params": each}) for each in params]
    assert [group.label for group in group_runs(runs)] == ["fifo (epsilon=0.05)", "fifo (epsilon=0.1)"]


def test_the_tables(many: list[Result]) -> None:
    found = compare(many)
    table = comparison_table(found)
    assert [row[0] for row in table.rows] == ["fifo", "sjf-backfill", "srtf"]
    assert [row[1] for row in table.rows] == ["none", "oracle", "oracle"]
    assert table.columns[1:4] == ("durations", "profiles", "progress")
    assert [row[2:4] for row in table.rows] == [("none", "none"), ("none", "none"), ("none", "work")]
    assert table.rows[0][5] == "baseline"
    assert [t.title for t in waiting_tables(found.groups)] == [
        "By GPUs requested: mean time pending", "By queue: mean time pending", "By user: mean time pending",
    ]  # fmt: skip
    assert {len(row) for t in waiting_tables(found.groups) for row in t.rows} == {5}


def test_csv_has_a_column_for_each_figure(many: list[Result]) -> None:
    import io

    table = pl.read_csv(io.StringIO(compare(many).to_csv()))
    assert table.width == 8 + 4 * len(METRICS) - 2 * len(TIMINGS)
    assert [name for name in table.columns if name.startswith("engine_s")] == ["engine_s", "engine_s_change"]
    assert table["jct_mean_s_change"].to_list()[0] == 0
    assert table["jct_mean_s_change_low"].to_list()[2] < table["jct_mean_s_change"].to_list()[2]


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("jct_mean_s>+5%", ["fifo"]),
        ("jct_mean_s > +0%", ["sjf-backfill", "fifo"]),
        ("jct_mean_s>+100000%", []),
        ("jct_mean_s>+1", ["sjf-backfill", "fifo"]),
        ("preemptions<-10%", ["sjf-backfill", "fifo"]),
        ("jct_mean_s>7200", ["fifo"]),
        ("gpu_allocated_ratio<99%", ["srtf", "sjf-backfill", "fifo"]),
        ("gpu_allocated_ratio<0.01", []),
    ],
)
def test_conditions(many: list[Result], condition: str, fails: list[str]) -> None:
    found = compare(many, baseline="srtf")
    assert parse_threshold(condition).text == condition
    if not fails:
        return fail_if(found, condition)
    with pytest.raises(ThresholdError) as caught:
        fail_if(found, condition)
    assert caught.value.exit_code == 4
    assert all(f"under {policy}" in str(caught.value) for policy in fails)
    return None


@pytest.mark.parametrize(
    ("condition", "limit", "kind"),
    [
        ("pending_max_s>30d", 30 * 86400, "value"),
        ("jct_mean_s>+1h30m", 5400, "difference"),
        ("jct_p99_s<-2h", -7200, "difference"),
    ],
)
def test_a_time_may_be_a_duration(condition: str, limit: float, kind: str) -> None:
    found = parse_threshold(condition)
    assert (found.limit, found.kind, found.text) == (limit, kind, condition)
    with pytest.raises(UsageError, match="'30weeks' is no duration"):
        parse_threshold("pending_max_s>30weeks")


def test_a_change_to_a_baseline_of_zero(many: list[Result]) -> None:
    with pytest.raises(ThresholdError, match="under srtf"):
        fail_if(compare(many), "preemptions>+5%")


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ("jct_mean_s", "not a condition"),
        ("jct_mean_s=5", "not a condition"),
        ("jct_mean_s>nan", "not a condition"),
        ("jct_mean_s>1e999", "an infinite limit"),
        ("jct_mean>+5%", "does not name a metric"),
        ("jct_mean_s>5%", r"write \+5%"),
    ],
)
def test_conditions_that_cannot_be_read(condition: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_threshold(condition)


def left_over(result: Result, rows: pl.Expr) -> Result:
    """The same run, had it never started these jobs."""
    unknown = [pl.when(~rows).then(name).alias(name) for name in ("start_s", "end_s", "wait_s", "jct_s")]
    jobs = result.jobs.with_columns(*unknown, state=pl.when(rows).then(pl.lit("PENDING")).otherwise("state"))
    return Result(jobs, result.events, result.series, result.info)


def test_to_leave_jobs_over_is_no_gain(fifo: Result, srtf: Result) -> None:
    """The change is of the jobs that both completed, whoever left jobs over; by the policies' own means it is not."""
    starving = left_over(srtf, pl.col("gpus") > 4)
    done = pl.col("gpus") <= 4
    mine, theirs = (float(run.jobs.filter(done)["jct_s"].mean()) for run in (srtf, fifo))  # ty: ignore
    found = compare([fifo, starving])
    change = found.rows[1].differences["jct_mean_s"]
    assert (change.value, change.ratio) == pytest.approx((mine - theirs, mine / theirs - 1))
    assert change.value != pytest.approx(mine - found.rows[0].values["jct_mean_s"])
    assert change.interval is not None
    assert change.interval[0] < change.value < change.interval[1]
    back = compare([starving, fifo]).rows[1].differences
    assert back["jct_mean_s"].value == pytest.approx(theirs - mine)
    assert back["jct_lower_bound_s"].value == 0, "of the same jobs"
    assert back["makespan_s"].value is None


def test_jobs_left_over_are_told(fifo: Result, srtf: Result) -> None:
    left = fifo.jobs.filter(pl.col("gpus") > 4).height
    found = compare([fifo, left_over(srtf, pl.col("gpus") > 4)])
    table = comparison_table(found)
    assert [row[table.columns.index("unfinished")] for row in table.rows] == ["0", str(left)]
    assert f"Not run to their end: {left} of 400 jobs under srtf" in table.note
    assert [row["jobs_censored"] for row in found.to_dict()["rows"]] == [0, left]
    assert pl.read_csv(found.to_csv().encode())["jobs_censored"].to_list() == [0, left]
    assert lead(found.groups).startswith("The mean completion time is")
    assert "under srtf, which" not in lead(found.groups), "leaving jobs over is no way to win"
    assert f"{left} of 400 jobs under srtf" in lead(found.groups)
    for condition in ("jobs_censored>0", "jobs_censored>+0", "jobs_counted<400"):
        with pytest.raises(ThresholdError, match="under srtf") as caught:
            fail_if(found, condition)
        assert "under fifo" not in str(caught.value).replace("against 0 under fifo", "")
    fail_if(compare([fifo, srtf]), "jobs_censored>0", "jobs_censored>+0", "jobs_counted<400")


@pytest.mark.parametrize("condition", ["jct_mean_s>+5%", "jct_mean_s>+60", "wait_p99_s<100", "makespan_s>+5%"])
@pytest.mark.parametrize("idle", [0, 1])
def test_a_figure_that_nobody_can_say_fails(fifo: Result, srtf: Result, condition: str, idle: int) -> None:
    runs = [fifo, srtf]
    runs[idle] = left_over(runs[idle], pl.lit(True))
    with pytest.raises(ThresholdError, match=r"cannot be judged: .* unknown under .*not run to their end: 400 under"):
        fail_if(compare(runs), condition)


def test_divergence_by_hand() -> None:
    def jobs() -> list[Job]:
        return [Job(0, 0, 4, 10), Job(1, 1, 4, 20), Job(2, 2, 4, 5)]

    first = simulate(jobs(), nodes=1, size=4, policy="fifo")
    second = simulate(jobs(), nodes=1, size=4, policy="srtf")
    parting = first_divergence(first, second)
    assert parting is not None
    assert (parting.before, parting.time_s) == (1, 2)
    assert parting.second is not None
    evicted = "PREEMPT job-0 (4 GPUs) at 2.000 s (Evicted: it makes room for a job that goes first)"
    started = "START job-1 (4 GPUs on n0) at 10.000 s (OK: it is next in the policy's order, and it fits)"
    assert (str(parting.second), str(parting.first), parting.silent) == (evicted, started, 0)
    assert parting.describe("fifo", "srtf").splitlines() == [
        "they part 2 s after the first submit, after 1 decision alike:",
        f"  fifo: nothing of job-0 then; its next decision is {started}",
        f"  srtf: {evicted}",
    ]
    assert parting.describe("fifo", "srtf", "job-0 is RUNNING").splitlines()[1].startswith("  fifo: job-0 is RUNNING; ")


def test_divergence_in_the_last_node_of_a_gang(fifo: Result) -> None:
    """A start on several nodes is one decision: what differs in its last line is that start, not the next one."""
    assert fifo.events is not None
    starts = fifo.events.filter(pl.col("kind") == "START")
    gang = starts.filter(pl.len().over("seq") > 2)["seq"][0]
    last = starts.with_row_index().filter(pl.col("seq") == gang)["index"].max()
    narrower = Result(
        fifo.jobs, starts.with_row_index().filter(pl.col("index") != last).drop("index"), fifo.series, fifo.info
    )
    parting = first_divergence(fifo, narrower)
    assert parting is not None
    assert parting.first is not None
    assert parting.second is not None
    assert parting.before == starts.filter(pl.col("seq") < gang)["seq"].n_unique()
    assert parting.first.row == parting.second.row
    assert parting.first.nodes[:-1] == parting.second.nodes


def test_divergence_in_the_node_alone(fifo: Result) -> None:
    assert fifo.events is not None
    at = fifo.events.with_row_index().filter(pl.col("kind") == "START")["index"][7]
    moved = fifo.events.with_row_index().with_columns(
        node=pl.when(pl.col("index") == at).then(pl.lit(63)).otherwise("node")
    ).drop("index")  # fmt: skip
    other = Result(fifo.jobs, moved, fifo.series, fifo.info | {"node_names": [f"n{i}" for i in range(64)]})
    parting = first_divergence(fifo, other)
    assert parting is not None
    assert parting.first is not None
    assert parting.second is not None
    assert parting.first.row == parting.second.row
    assert parting.second.nodes[0] == "n63"


def test_no_divergence_from_oneself_and_from_a_shorter_log(fifo: Result) -> None:
    assert first_divergence(fifo, fifo) is None
    assert fifo.events is not None
    last = fifo.events.filter(pl.col("kind") == "START")["seq"].max()
    short = Result(fifo.jobs, fifo.events.filter(pl.col("seq") != last), fifo.series, fifo.info)
    parting = first_divergence(fifo, short)
    assert parting is not None
    assert parting.second is None
    assert "decides nothing more" in parting.describe("a", "b")


def test_divergence_needs_like_runs(fifo: Result) -> None:
    other = simulate(busy_jobs(50, 9), nodes=8, size=8)
    with pytest.raises(UsageError, match="different workloads"):
        first_divergence(fifo, other)
    with pytest.raises(UsageError, match="without a plan log"):
        first_divergence(fifo, Result(fifo.jobs, None, fifo.series, fifo.info))
    wider = Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"node_gpus": [4] * 16})
    with pytest.raises(UsageError, match="different clusters"):
        first_divergence(fifo, wider)


def test_ties_of_the_typical_job_are_named(fifo: Result) -> None:
    alike = [Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"policy": name}) for name in ("a", "b")]
    assert _jct_sentence(group_runs(alike)).endswith(" under all. A line further left is better.")
    slow = fifo.jobs.with_columns(jct_s=pl.col("jct_s") * 2)
    said = _jct_sentence(group_runs([*alike, Result(slow, fifo.events, fifo.series, fifo.info | {"policy": "c"})]))
    assert " (a and b) to " in said and said.endswith(" (c). A line further left is better.")


@pytest.mark.parametrize("later_s", [1.0, 36000.0])
def test_no_policy_looks_ahead_by_chance(fifo: Result, later_s: float) -> None:
    """Under the next policy jobs end an hour sooner or later, and in the mean a little or much later."""
    noise = np.random.default_rng(1).normal(0.0, 3600.0, fifo.jobs.height)
    shift = pl.Series(noise - noise.mean() + later_s)
    slow, next_ = (fifo.jobs.with_columns(jct_s=pl.col("jct_s") + add) for add in (1e7, shift))
    tables = {"slow": slow, "best": fifo.jobs, "next": next_}
    groups = group_runs([
        Result(jobs, fifo.events, fifo.series, fifo.info | {"policy": name}) for name, jobs in tables.items()
    ])  # fmt: skip
    said = jct_bars(Figure(), groups)
    assert said.startswith("The mean is least under best: ") and " to slow" in said
    assert ("; the difference to next, which is next, may be chance. In" in said) == (later_s == 1.0)


def test_gpu_time_and_places_by_hand() -> None:
    jobs = [Job(0, 0, 1, 10), Job(1, 0, 4, 10), Job(2, 0, 8, 10)]
    groups = group_runs([simulate(jobs, nodes=2, size=8)])
    (row,) = gpu_time_table(groups).rows
    assert row == ("fifo", "81.2 %", "–", "81.2 %", "0", "0"), "13 of 16 GPUs, for 10 s"
    places = locality_table(groups)
    assert places.rows == [("one GPU", "1 (33.3 %)"), ("one node", "2 (66.7 %)")]


def test_tables_say_how_they_are_sorted_and_whose_preemptions_are_counted(srtf: Result) -> None:
    by_gpus, by_queue, *_ = waiting_tables(group_runs([srtf]))
    assert (by_gpus.note, by_queue.note) == ("", "Most GPU-hours first.")
    said = dict(summary_table(summarise(srtf)).rows)["preemptions"]
    assert re.fullmatch(r"[\d,]+, of [\d,]+ jobs; up to [\d,]+ of one", said)
    assert dict(summary_table(summarise(srtf) | {"preemptions": 0, "jobs_preempted": 0}).rows)["preemptions"] == "none"
