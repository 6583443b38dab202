"""Pollux: what it promises, from plan logs alone, and to the millisecond where there is but one job."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pointsman
from pointsman.cluster import Cluster, load_cluster
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import UsageError
from pointsman.policies.pollux import declared
from pointsman.report.result import Result
from pointsman.speed import load_catalogue, tabulate
from pointsman.speed.tables.goodput import BINS, MOST_TYPES, goodput_table
from pointsman.types import LOCALITIES, Locality
from tests.free import simulate
from tests.properties.elastic_ledger import ElasticLedger

FAST = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
START = Overheads(start_s=7.0)
LEARNING = ("resnet18", "bert", "ncf", "yolov3")
"""Models whose noise scale is known."""


def workload(*jobs: dict[str, Any]) -> pointsman.Workload:
    rows = [{"submit_s": 0.0, "gpus": 1, "model": "resnet18", "queue": None, "gpu_type": None} | job for job in jobs]
    schema = {"model": pl.String, "queue": pl.String, "gpu_type": pl.String}
    return pointsman.Workload.of(pl.DataFrame(rows, schema_overrides=schema).sort("submit_s", maintain_order=True))


def run(jobs: pointsman.Workload, cluster: str | Cluster, overheads: Overheads = START, **options: Any) -> Result:
    """All promises kept, every invariant audited."""
    place = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    apart = options.pop("apart", True)
    result = simulate(jobs, place, "pollux", overheads=overheads, audit=True, **options)
    learns = set(result.jobs.filter(pl.col("model").is_in(LEARNING))["row"].to_list())
    ElasticLedger(result, place, overheads, learns, apart)
    return result


def kinds(result: Result, *wanted: str) -> list[tuple[float, str, int]]:
    """(time in s, kind, GPUs) of the actions and events of these kinds."""
    events = result.events.filter(pl.col("kind").is_in(wanted))
    whole = events.group_by("seq", maintain_order=True).agg(
        pl.col("time_ms", "kind").first(), pl.col("gpu_mask").map_elements(_bits, return_dtype=pl.Int64).sum()
    )
    return [(t / 1000, k, n) for t, k, n in whole.select("time_ms", "kind", "gpu_mask").iter_rows()]


def _bits(mask: int) -> int:
    return int(mask).bit_count()


@pytest.mark.parametrize(("cluster", "start_s"), [("1x1/gpu=t4", 0.0), ("1x4/gpu=t4", 7.0), ("3x4/gpu=t4", 30.0)])
def test_one_job_alone_ends_when_its_tenths_say(cluster: str, start_s: float) -> None:
    """Alone it grows from one GPU, twofold at most, to all; from then on each tenth of its work takes what it takes."""
    layout = load_cluster(cluster).layout()
    total = int(layout.node_gpus.sum())
    asked = min(2, total)
    result = run(workload({"gpus": asked, "duration_s": 3000.0}), cluster, Overheads(start_s=start_s))
    demands, catalogue = [("resnet18", asked, None)], load_catalogue()
    found = goodput_table(layout, demands, catalogue, tabulate(layout, demands, catalogue=catalogue), total)
    rates = (np.floor(found * 2**30 + 0.5) / 2**30).reshape(BINS, total + 1, LOCALITIES)
    changes = kinds(result, "START", "RESIZE")
    sizes = [gpus for *_, gpus in changes]
    assert sizes[0] == 1 and sizes[-1] == total
    assert [b <= 2 * a for a, b in pairwise(sizes)] == [True] * (len(sizes) - 1)
    at, done, tenth = 0.0, 0.0, 0
    for i, (time_s, _, gpus) in enumerate(changes):
        at = 1000 * (time_s + start_s)
        until = 1000 * changes[i + 1][0] if i + 1 < len(changes) else math.inf
        locality = Locality.GPU if gpus == 1 else Locality.NODE if gpus <= 4 else Locality.RACK
        while tenth < BINS and at < until:
            rate = rates[tenth, gpus, locality]
            there = math.ceil((3e5 * (tenth + 1) - done) / rate)
            stretch = min(there, until - at)
            done += math.floor(rate * stretch * 1024) / 1024
            tenth += stretch == there
            at += stretch
    assert result.jobs["end_s"].to_list() == [at / 1000]


def test_a_rigid_job_has_its_gpus_and_nothing_else_for_ever() -> None:
    jobs = workload(
        {"gpus": 3, "duration_s": 400.0, "model": None},
        {"gpus": 6, "duration_s": 200.0, "model": "llama2_7b"},
        *({"gpus": 2, "duration_s": 500.0, "submit_s": 10.0 * i} for i in range(4)),
    )
    result = run(jobs, "4x4/gpu=t4")
    rigid = result.jobs.filter(~pl.col("model").is_in(LEARNING) | pl.col("model").is_null())
    assert rigid["run_s"].to_list() == [400.0, 200.0] and rigid["held_gpu_s"].to_list() == [407.0 * 3, 207.0 * 6]
    assert rigid["preemptions"].to_list() == [0, 0]


def test_where_no_job_has_a_model_all_are_rigid() -> None:
    jobs = workload(*({"gpus": 3, "duration_s": 100.0, "model": None} for _ in range(2)))
    assert run(jobs, "1x4/gpu=t4").jobs["end_s"].to_list() == [107.0, 227.0]


def test_a_change_costs_the_pause_that_the_overheads_say() -> None:
    """A crowd comes while one job has all: it shrinks, pauses for stop + start + restore, and is not preempted."""
    jobs = workload({"duration_s": 4000.0}, *({"duration_s": 300.0, "submit_s": 900.0} for _ in range(3)))
    costs = Overheads(stop_s=1.0, start_s=2.0, restore_s=4.0, lost_s=50.0)
    result = run(jobs, "1x4/gpu=t4", costs)
    changes, ends = kinds(result, "RESIZE"), kinds(result, "RESIZED")
    assert len(changes) >= 4 and [t + 7.0 for t, *_ in changes] == [t for t, *_ in ends]
    assert any(b[2] < a[2] for a, b in pairwise(changes)), "nobody gave GPUs back"
    assert result.jobs["preemptions"].sum() == 0 and result.jobs["lost_s"].sum() == 0.0


def test_between_rounds_free_gpus_stay_free() -> None:
    """Submitted a moment after a round, started at the next; the interval is a parameter."""
    jobs = workload({"duration_s": 10.0}, {"submit_s": 1.0, "duration_s": 10.0})
    result = simulate(jobs, "1x4/gpu=t4", "pollux", params={"interval_s": 45.0}, audit=True)
    assert result.jobs["wait_s"].to_list() == [0.0, 44.0]


def test_wide_gangs_have_whole_nodes_to_themselves() -> None:
    """Two gangs have two nodes each; what they leave of these is for a small job, a round later; the third waits."""
    jobs = workload(*({"gpus": 6, "duration_s": 300.0, "model": None} for _ in range(3)), {"duration_s": 300.0})
    result = run(jobs, "4x4/gpu=t4")
    assert sorted(result.jobs["wait_s"].to_list()) == [0.0, 0.0, 60.0, 360.0]


ODD = {
    "mixes types": ("1x4/gpu=t4+1x4/gpu=v100", {"gpus": 7, "gpu_type": "T4+V100"}),
    "nodes of several sizes": ("1x8/gpu=t4+2x2/gpu=t4", {"gpus": 10}),
}


@pytest.mark.parametrize("name", ODD)
def test_a_gang_that_no_plan_has_a_place_for_starts_when_there_is_room(name: str) -> None:
    cluster, odd = ODD[name]
    jobs = workload(*({"duration_s": 200.0} for _ in range(3)), odd | {"model": None, "duration_s": 50.0})
    ends = run(jobs, cluster, apart=False).jobs
    assert (ends["state"] == "COMPLETED").all()


def test_a_job_that_cannot_start_any_more_ends_the_run() -> None:
    """Its only node is drained for ever: nothing happens any more, so there are no more rounds."""
    events = [(30.0, "0", "DRAIN")]
    jobs = workload({"duration_s": 300.0}, {"duration_s": 10.0, "submit_s": 40.0})
    result = run(jobs, "1x4/gpu=t4", node_events=events)
    assert result.jobs["state"].to_list() == ["COMPLETED", "PENDING"]
    again = run(jobs, "1x4/gpu=t4", node_events=[*events, (5000.5, "0", "UP")]).jobs
    assert again["start_s"].to_list() == [0.0, 5040.0]


def test_gpus_that_a_queue_may_not_have_are_used_by_others() -> None:
    """The first queue may have one GPU, so three are the other's."""
    spec = {
        "node_types": {"t": {"gpus": 4, "gpu_type": "t4"}},
        "nodes": [{"type": "t"}],
        "queues": {"a": {"gpu_limit": 1}},
    }
    cluster = Cluster.model_validate({"metadata": {"name": "limited"}, "spec": spec})
    jobs = workload(
        *({"duration_s": 900.0, "queue": "a"} for _ in range(6)),
        {"gpus": 3, "duration_s": 60.0, "queue": "b", "model": None},
    )
    result = run(jobs, cluster)
    assert result.jobs.filter(pl.col("queue") == "b")["wait_s"].to_list() == [0.0]
    assert result.jobs["wait_s"].n_unique() == 6, "one after the other"


def test_with_restarts_for_free_there_is_no_division_by_an_age_of_nothing() -> None:
    """A job without work ends at once, and the instant happens again for those that have just started."""
    jobs = workload({"duration_s": 0.0}, {"duration_s": 100.0}, {"duration_s": 100.0})
    result = simulate(jobs, "1x4/gpu=t4", "pollux", params={"restart_s": 0.0}, audit=True)
    assert (result.jobs["state"] == "COMPLETED").all()


def test_more_gpu_types_than_there_is_room_for_are_refused() -> None:
    assert MOST_TYPES == declared.TYPES
    layout = replace(load_cluster("1x1").layout(), gpu_types=tuple(f"x{i}" for i in range(MOST_TYPES + 1)))
    catalogue = load_catalogue()
    tables = tabulate(load_cluster("1x1").layout(), [("bert", 1, None)], catalogue=catalogue)
    with pytest.raises(UsageError, match=r"65 GPU types.* 64"):
        goodput_table(layout, [("bert", 1, None)], catalogue, tables, 1)


CLUSTERS = {
    "1x1/gpu=t4": 1,
    "3x2/gpu=t4": 6,
    "4x4/gpu=t4,rack=2": 16,
    "2x4/gpu=t4+3x2/gpu=v100": 8,
    "1x8/gpu=t4,rack=1+3x2/gpu=t4,rack=2": 10,
}
UNEVEN = tuple(CLUSTERS)[-1]


@st.composite
def job_tables(draw: st.DrawFn, widest: int) -> pointsman.Workload:
    jobs = []
    for _ in range(draw(st.integers(1, 10))):
        job = {
            "submit_s": float(draw(st.sampled_from([0, 0, 1, 60, 61, 300]))),
            "gpus": draw(st.integers(1, widest)),
            "duration_s": float(draw(st.sampled_from([0, 1, 50, 60, 400, 2000]))),
            "model": draw(st.sampled_from([None, *LEARNING])),
            "queue": draw(st.sampled_from(["a", "b"])),
            "priority": draw(st.integers(-1, 1)),
        }
        jobs.append(job)
    return workload(*jobs)


@FAST
@given(data=st.data())
def test_no_run_breaks_a_promise_and_every_job_ends(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(CLUSTERS)))
    limit = data.draw(st.sampled_from([None, CLUSTERS[name], CLUSTERS[name] + 1]))
    cluster = load_cluster(name)
    if limit is not None:
        document = cluster.model_dump(by_alias=True, exclude_unset=True)
        document["spec"]["queues"] = {"a": {"gpu_limit": limit}}
        cluster = Cluster.model_validate(document)
    costs = st.sampled_from([0.0, 3.0, 30.0])
    overheads = Overheads(
        start_s=data.draw(costs),
        stop_s=data.draw(st.sampled_from([0.0, 2.0, 75.0])),
        restore_s=data.draw(costs),
        lost_s=data.draw(costs),
    )
    changes = data.draw(
        st.lists(st.tuples(st.integers(1, 400), st.integers(0, 2), st.sampled_from(["DOWN", "DRAIN"])), max_size=3)
    )
    nodes = len(cluster.layout().node_gpus)
    events = [(float(t), str(n % nodes), state) for t, n, state in changes]
    events += [(2000.0 + 7 * t, node, "UP") for t, node, _ in events]
    result = run(
        data.draw(job_tables(CLUSTERS[name])),
        cluster,
        overheads,
        node_events=events,
        params={"power": data.draw(st.sampled_from([-1.0, -1.0, 0.0, 1.0, -10.0]))},
        apart=name != UNEVEN,
    )
    assert (result.jobs["state"] == "COMPLETED").all(), "a job waits for ever"
