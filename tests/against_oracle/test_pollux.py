"""Pollux (semantics.md §11): what follows from its decisions, job by job: rates by GPUs and tenths of work, and ends.

The oracle is told what was decided, and looks whether it was allowed; goodputs it works out by itself.
"""

from functools import partial
from pathlib import Path

import pytest

from pointsman.speed.laws.noise import NOISE
from tests.oracle.goodput import TENTHS, Goodput, GoodputWorld, follow
from tests.oracle.goodput import Noise as OracleNoise
from tests.oracle.node_instances import neighbours_of
from tests.oracle.nodes import Neighbours
from tests.oracle.shared_instances import SharedInstance, random_elastic
from tests.oracle.sharing import SharedSchedule, simulate

from . import one_in
from .shared_replay import differences, run_engine

CASES = one_in(10)
NOISES = {name: OracleNoise(noise.initial, noise.limit, noise.tenths) for name, noise in NOISE.items()}
"""Measured; numbers, not code."""
DECISIONS = ("START", "RESIZE", "PREEMPT")


def both(
    instance: SharedInstance, folder: Path, neighbours: Neighbours | None = None
) -> tuple[SharedSchedule, SharedSchedule]:
    """What the engine did, and what the oracle makes of its decisions."""
    engine = run_engine(instance, folder, neighbours=neighbours)
    told = [entry for entry in engine.log if entry[1] in DECISIONS]
    goodput = Goodput(instance.speeds, {name: NOISES[name] for name in instance.models})
    interval_ms = max(1, round(1000 * instance.params["interval_s"]))
    oracle = simulate(
        instance.speeds,
        instance.jobs,
        follow,
        sharing=1,
        placement="consolidated",
        overheads=instance.overheads,
        queue_limits=instance.queue_limits,
        script=instance.script,
        neighbours=neighbours,
        make=partial(GoodputWorld, goodput=goodput, told=told, interval_ms=interval_ms),
    )
    assert not told, f"not allowed, or at no instant: {told[0]}"
    return engine, oracle


@pytest.mark.parametrize("chunk", range(2))
def test_what_follows_from_its_decisions(chunk: int, tmp_path: Path) -> None:
    for seed in range(chunk, CASES, 2):
        found = differences(*both(random_elastic(seed), tmp_path))
        assert not found, (seed, found)


def test_and_beside_jobs_that_slow_it_on_its_nodes(tmp_path: Path) -> None:
    """Computing alone (semantics.md §14, §15)."""
    for seed in range(one_in(30)):
        instance = random_elastic(seed)
        found = differences(*both(instance, tmp_path, neighbours_of(instance)))
        assert not found, (seed, found)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(5))
def test_what_follows_from_thousands_of_decisions(chunk: int, tmp_path: Path) -> None:
    for seed in range(100_000 + chunk, 100_800, 5):
        found = differences(*both(random_elastic(seed), tmp_path))
        assert not found, (seed, found)


@pytest.mark.slow
def test_the_instances_have_what_they_are_to_test(tmp_path: Path) -> None:
    instances = [random_elastic(seed) for seed in range(30)]
    logs = [run_engine(instance, tmp_path).log for instance in instances]
    assert sum(entry[1] == "RESIZE" for log in logs for entry in log) > 50
    wide = [entry for log in logs for entry in log if entry[1] in ("START", "RESIZE") and len(entry[3]) > 1]
    assert len(wide) > 5, "on several nodes"
    assert sum(any(job.model == "" for job in i.jobs) for i in instances) > 2, "rigid jobs"
    assert sum(bool(i.overheads) for i in instances) > 5
    assert TENTHS == 10
