"""Safety of any run, checked from its plan log alone, and what each policy promises about waiting."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pointsman
from pointsman.engine.setup.overheads import Overheads
from pointsman.report.result import Result
from tests.free import simulate

from .ledger import Ledger

POLICIES = ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "tiresias", "las", "rounds(srtf, 7)")
CLUSTERS = {"3x2": 6, "2x4+1x3": 11, "70x1": 70}
"""And the widest gang that fits."""
FAST = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def job_tables(draw: st.DrawFn, widest: int, most: int = 25) -> pl.DataFrame:
    """Small numbers, so that much happens at one instant."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 40), st.integers(1, min(8, widest)), st.integers(0, 30), st.integers(-1, 1)),
            min_size=1,
            max_size=most,
        )
    )
    submit, gpus, duration, priority = zip(*sorted(rows, key=lambda r: r[0]), strict=True)
    with_priority = draw(st.booleans())
    return pl.DataFrame(
        {
            "submit_s": [float(s) for s in submit],
            "gpus": gpus,
            "duration_s": [float(d) for d in duration],
            "priority": priority if with_priority else [0] * len(rows),
        }
    )


@st.composite
def costs(draw: st.DrawFn) -> Overheads:
    if draw(st.booleans()):
        return Overheads()
    some = st.sampled_from([0.0, 0.0, 1.0, 3.0])
    start_s = draw(some)
    return Overheads(
        start_s=start_s,
        stop_s=draw(some),
        restore_s=draw(some),
        lost_s=draw(some),
        checkpoint_every_s=draw(some),
        start_fail_rate=draw(st.sampled_from([0.0, 0.0, 0.3])) if start_s else 0.0,
    )


node_changes = st.lists(
    st.tuples(st.integers(1, 80), st.integers(0, 2), st.sampled_from(["DOWN", "DRAIN", "UP"])), max_size=6
)


@FAST
@given(data=st.data())
def test_no_run_breaks_the_ledger(data: st.DataObject) -> None:
    cluster = data.draw(st.sampled_from(list(CLUSTERS)))
    jobs = data.draw(job_tables(CLUSTERS[cluster]))
    policy = data.draw(st.sampled_from(POLICIES))
    overheads = data.draw(costs())
    events = [(float(t), str(n), state) for t, n, state in data.draw(node_changes)]
    cancels = data.draw(st.lists(st.tuples(st.integers(1, 60), st.integers(0, len(jobs) - 1)), max_size=3))
    submit_s = (jobs["submit_s"].sort() - jobs["submit_s"].min()).to_list()
    result = simulate(
        pointsman.Workload.of(jobs),
        cluster,
        policy,
        params={"thresholds_gpu_s": [5.0, 20.0]} if policy in ("tiresias", "las") else None,
        overheads=overheads,
        node_events=events,
        cancels=[(submit_s[row] + t, row) for t, row in cancels],
        placement=data.draw(st.sampled_from(["consolidated", "first-fit", "spread"])),
        audit=True,
    )
    Ledger(result, overheads).check_books()
    comes_back = all(state == "UP" for state in last_states(events).values())
    unfinished = result.jobs.filter(~pl.col("state").is_in(["COMPLETED", "CANCELLED"]))
    assert unfinished.is_empty() or not comes_back, "a job waits for ever on a cluster that is whole"


def last_states(events: list[tuple[float, str, str]]) -> dict[str, str]:
    """The state in which each node stays. Of one instant the engine applies DOWN and DRAIN first, then UP."""
    order = sorted(events, key=lambda e: (e[0], e[2] == "UP"))
    return {node: state for _, node, state in order}


@pytest.mark.parametrize(
    "tampered",
    [
        pl.when(pl.col("kind") == "START").then(1).otherwise("gpu_mask").alias("gpu_mask"),
        pl.when((pl.col("kind") == "FINISH") & (pl.col("row") == 1)).then(4000).otherwise("time_ms").alias("time_ms"),
        pl.when(pl.col("kind") == "START").then(0).otherwise("node").alias("node"),
        pl.when(pl.col("kind") == "FINISH").then(0).otherwise("row").alias("row"),
    ],
    ids=["half a gang", "work from nowhere", "one node for all", "another's end"],
)
def test_the_ledger_finds_what_is_wrong(tampered: pl.Expr) -> None:
    frame = pl.DataFrame({"submit_s": [0.0] * 3, "gpus": [2] * 3, "duration_s": [10.0, 5.0, 10.0]})
    result = simulate(pointsman.Workload.of(frame), "2x2", "fifo")
    Ledger(result, Overheads()).check_books()
    assert result.events is not None
    with pytest.raises(AssertionError):
        Ledger(replace(result, events=result.events.with_columns(tampered)), Overheads()).check_books()


@FAST
@given(jobs=job_tables(11), overheads=costs(), changes=node_changes)
def test_fifo_starts_in_order_whatever_happens(
    jobs: pl.DataFrame, overheads: Overheads, changes: list[tuple[int, int, str]]
) -> None:
    """So nobody is overtaken, and nobody starves. (Nobody has a priority here.)"""
    events = [(float(t), str(n), state) for t, n, state in changes]
    workload = pointsman.Workload.of(jobs.drop("priority"))
    started = simulate(workload, "2x4+1x3", "fifo", overheads=overheads, node_events=events).jobs["start_s"]
    known = started.drop_nulls()
    assert known.is_sorted()
    if not any(state == "DOWN" for _, _, state in events):
        assert started[: len(known)].null_count() == 0


def overestimated(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    n = 40
    duration = draw.integers(1, 60, n).astype(float)
    return pl.DataFrame(
        {
            "submit_s": np.sort(draw.integers(0, 250, n)).astype(float),
            "gpus": draw.choice([1, 2, 3, 5, 8], n),
            "duration_s": duration,
            "time_limit_s": duration + draw.integers(0, 50, n),
        }
    )


def shadow_s(jobs: pl.DataFrame, limits: list[float], head: int, gpus: int) -> float:
    """When the head of an EASY queue can start at the latest, by the estimates known when it became the head."""
    start, end, width = jobs["start_s"].to_list(), jobs["end_s"].to_list(), jobs["gpus"].to_list()
    now = max([jobs["submit_s"][head], *start[:head]])
    running = [i for i in range(len(jobs)) if i != head and (start[i] < now or i < head) and start[i] <= now < end[i]]
    free = gpus - sum(width[i] for i in running)
    if free >= width[head]:
        return now
    for i in sorted(running, key=lambda i: start[i] + limits[i]):
        free += width[i]
        if free >= width[head]:
            return start[i] + limits[i]
    raise AssertionError("the head is wider than the cluster")


def test_easy_never_delays_its_head_where_estimates_are_no_less_than_the_truth() -> None:
    """On one node, where GPUs are alike, so that a reservation is a number and a time."""
    backfilled = 0
    for seed in range(60):
        table = overestimated(seed)
        result = simulate(pointsman.Workload.of(table), "1x8", "easy", estimate="limit")
        jobs, limits = result.jobs, table["time_limit_s"].to_list()
        for head in range(len(jobs)):
            assert jobs["start_s"][head] <= shadow_s(jobs, limits, head, 8), f"seed {seed}, row {head}"
        assert result.events is not None
        backfilled += int((result.events["reason"] == "Backfilled").sum())
    assert backfilled > 100


def stream_with_a_wide_job() -> pointsman.Workload:
    """Two GPUs that a stream of narrow jobs always keeps half busy, and a job of both."""
    narrow = [(10.0 * i, 1, 20.0) for i in range(200)]
    rows = sorted([*narrow, (5.0, 2, 30.0)])
    return pointsman.Workload.of(pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s"], orient="row"))


def wait_of_the_wide(policy: str) -> float:
    jobs = simulate(stream_with_a_wide_job(), "1x2", policy).jobs
    return jobs.filter(pl.col("gpus") == 2)["wait_s"].item()


def test_who_promises_a_wide_job_its_turn() -> None:
    for policy in ("fifo", "easy"):
        assert wait_of_the_wide(policy) <= 20.0, policy
    for policy in ("fifo-backfill", "sjf-backfill"):
        assert wait_of_the_wide(policy) > 1900.0, policy


def long_job_among_short_ones(knob: float) -> Result:
    """One GPU, short jobs that alone are more than it can do, and a long job that came first."""
    rows = [(0.0, 1, 2000.0)] + [(50.0 * i, 1, 60.0) for i in range(1, 400)]
    frame = pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s"], orient="row")
    params = {"thresholds_gpu_s": [100.0], "promote_knob": knob}
    return simulate(pointsman.Workload.of(frame), "1x1", "las", params=params)


def test_promotion_starves_nobody() -> None:
    """Once sunk, the long job waits till the stream is over; promoted, never longer than the knob says and one job."""
    without = long_job_among_short_ones(0.0)
    assert without.jobs["end_s"][0] > without.jobs["submit_s"][-1]
    with_it = long_job_among_short_ones(1.0)
    assert with_it.jobs["end_s"][0] < 0.5 * with_it.jobs["submit_s"][-1]
    gaps = Ledger(with_it, Overheads()).waits[0]
    assert len(gaps) > 5
    assert max(start - end for end, start in gaps) <= 100_000 + 60_000


def test_five_thousand_nodes_fill_in_order_of_index() -> None:
    """More nodes than one word of the summary of bitmaps can tell apart."""
    n = 5000
    frame = pl.DataFrame({"submit_s": [0.0] * n, "gpus": [1] * n, "duration_s": [10.0] * n})
    result = simulate(pointsman.Workload.of(frame), f"{n}x1", "fifo")
    assert result.events is not None
    starts = result.events.filter(pl.col("kind") == "START")
    assert starts["node"].to_list() == list(range(n))
