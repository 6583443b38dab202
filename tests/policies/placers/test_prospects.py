"""What a job that waits may look forward to, by hand, as the observation of PlaceGang tells it."""

import math

import polars as pl
import pytest

import pointsman
from pointsman.learn.environments import PlaceGangEnv
from pointsman.learn.environments.compiled.gangs import WAIT

SHORTER, THEIR_GPUS, COMPACT_IN, OF_DURATION = range(8, 12)


def log2(x: float) -> float:
    """Exact at powers of two, and straight between them."""
    m, e = math.frexp(x)
    return e - 1 + 2 * m - 1


def of_time(ms: float) -> float:
    """From a minute, 0, to ten days, 1."""
    return (log2(ms) - log2(60_000.0)) / (log2(864_000_000.0) - log2(60_000.0))


def environment(cluster: str, jobs: list[tuple[float, int, float]]) -> PlaceGangEnv:
    """`jobs`: submit (s), GPUs, duration (s)."""
    rows = pl.DataFrame(jobs, schema=["submit_s", "gpus", "duration_s"], orient="row")
    return PlaceGangEnv(
        cluster=cluster,
        workload=lambda k, gpus: pointsman.Workload.of(rows),
        horizon_s=None,
        episodes=1,
        rate_model="rates",
    )


def test_a_compact_place_and_shorter_jobs() -> None:
    """At 10 s there is room for c, but on two nodes; on one there will be when a ends. d and e come after it::

    node 0  [ a a . . ]  until 1,000 s
    node 1  [ b b . . ]  until 2,000 s
    """
    jobs = [(0.0, 2, 1000.0), (1.0, 2, 1999.0), (10.0, 4, 5000.0), (20.0, 1, 100.0), (21.0, 1, 10_000.0)]
    there = environment("2x4/rack=2", jobs)
    there.reset(seed=0)
    there.step(0)  # a
    seen, *_ = there.step(1)  # b, on the idle node
    assert seen["job"][COMPACT_IN] == pytest.approx(of_time(990_000.0), abs=1e-6)
    assert seen["job"][OF_DURATION] == pytest.approx(990 / (990 + 5000), abs=1e-6)
    assert seen["job"][SHORTER] == seen["job"][THEIR_GPUS] == 0
    seen, *_ = there.step(WAIT)  # d is next
    assert seen["job"][SHORTER] == seen["job"][THEIR_GPUS] == seen["job"][COMPACT_IN] == 0
    seen, *_ = there.step(0)  # e, which is longer than c
    assert seen["job"][SHORTER] == 1 / 16  # log2(1 + 1) of 16
    assert seen["job"][THEIR_GPUS] == 0.5 / 8  # log2(1 + 4 of 8 GPUs), straight between powers of two


def test_whole_nodes_of_a_rack() -> None:
    """e asks for five GPUs: two nodes will be free as soon as b and d have ended, long before a::

    node 0  [ a a a . ]  until 3,000 s
    node 1  [ b b . . ]  until 1,000 s
    node 2  [ d d . . ]  until 2,000 s
    """
    there = environment("3x4/rack=3", [(0.0, 3, 3000.0), (1.0, 2, 999.0), (2.0, 2, 1998.0), (3.0, 5, 600.0)])
    seen, _ = there.reset(seed=0)
    for node in range(3):
        seen, *_ = there.step(next(i for i in range(32) if seen["touched"][i].nonzero()[0].tolist() == [node]))
    assert seen["job"][COMPACT_IN] == pytest.approx(of_time(1_997_000.0), abs=1e-6)


def test_a_forwarded_job_finds_a_whole_node() -> None:
    """Two nodes, each a scheduler's own: where the other is idle a gang of two finds a compact place there."""
    jobs = [(0.0, 2, 100.0)]
    rows = pl.DataFrame(jobs, schema=["submit_s", "gpus", "duration_s"], orient="row")
    there = PlaceGangEnv(
        cluster="2x2/rack=1",
        workload=lambda k, gpus: pointsman.Workload.of(rows),
        episodes=1,
        schedulers=2,
        rate_model="rates",
    )
    seen, _ = there.reset(seed=0)
    assert seen["job"][12] == 1.0
