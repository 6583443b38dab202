"""A bound on waiting holds whatever the network likes, to the millisecond."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("safetensors", reason="safetensors is not installed (make learn)")

from pointsman import Workload
from pointsman.cluster.cluster import Cluster
from pointsman.errors import UsageError
from pointsman.policies.registry import get_policy
from pointsman.report.result import Result
from tests.free import simulate

PATIENCE = 2.0
Network = Callable[[np.ndarray], int]


class Life(NamedTuple):
    submit_s: float
    duration_s: float
    start_s: float
    end_s: float

    @property
    def due_s(self) -> float:
        return self.submit_s + PATIENCE * self.duration_s


class Stubborn:
    """A network that sees nothing and does what it is told to."""

    def __init__(self, seen: Any, best: Network) -> None:
        self.out, self.actions, self.best = seen.out, seen.actions, best


def would_rather_wait(mask: np.ndarray) -> int:
    """It starts a job only when it must, for nothing runs; then the last."""
    return len(mask) - 1 if mask[-1] else last_first(mask)


def last_first(mask: np.ndarray) -> int:
    """It never picks the first job in order if there is another."""
    return int(np.flatnonzero(mask[:-1])[-1])


def any_of(seed: int) -> Network:
    draw = np.random.default_rng(seed)
    return lambda mask: int(draw.choice(np.flatnonzero(mask)))


def policy(best: Network, patience: float | None) -> Any:
    made: Any = get_policy("topdrl").make({} if patience is None else {"patience_durations": patience})
    made._seen = Stubborn(made._seen, best)
    return made


def result_of(jobs: list[tuple], cluster: Any, best: Network, patience: float | None, **more: Any) -> Result:
    names = ["submit_s", "gpus", "duration_s", "gpu_type", "queue"][: len(jobs[0])]
    workload = Workload.of(pl.DataFrame(jobs, names, orient="row"))
    return simulate(workload, cluster, policy(best, patience), audit=True, estimate="oracle", **more)


def run(*args: Any, **more: Any) -> list[Life]:
    done = result_of(*args, **more).jobs
    assert done["state"].unique().to_list() == ["COMPLETED"]
    return [Life(*row) for row in done.select("submit_s", "duration_s", "start_s", "end_s").rows()]


def random_jobs(seed: int, types: tuple[str, ...] = ("",)) -> list[tuple]:
    draw = random.Random(seed)
    submits = sorted(draw.randrange(60) for _ in range(draw.randint(5, 25)))
    sizes = (1, 1, 2, 3, 4, 6)
    return [(s - submits[0], draw.choice(sizes), draw.randint(1, 20), draw.choice(types)) for s in submits]


def before(lives: list[Life], row: int) -> list[Life]:
    """The jobs that are overdue before that of a row, and still wait when it is."""
    mine = lives[row]
    earlier = [life for i, life in enumerate(lives) if (life.due_s, i) < (mine.due_s, row)]
    return [life for life in earlier if life.start_s > mine.due_s]


def first_s(lives: list[Life], row: int) -> float:
    """When a job is the first of those overdue."""
    return max([lives[row].due_s, *(life.start_s for life in before(lives, row))])


def late(lives: list[Life]) -> list[int]:
    """Rows of jobs that start later than they must: when all have ended that ran when they were first."""
    found = []
    for row, life in enumerate(lives):
        first = first_s(lives, row)
        if life.start_s > max([first, *(one.end_s for one in lives if one.start_s <= first)]):
            found.append(row)
    return found


NETWORKS: dict[str, Callable[[int], Network]] = {
    "waits": lambda seed: would_rather_wait, "last first": lambda seed: last_first, "random": any_of,
}  # fmt: skip


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_first_of_the_overdue_jobs_starts_when_those_that_run_have_ended(name: str) -> None:
    """On 2 nodes of 4 GPUs. The network goes on picking meanwhile; without the bound it breaks the promise."""
    broken, meanwhile = 0, 0
    for seed in range(40):
        jobs, best = random_jobs(seed), NETWORKS[name]
        lives = run(jobs, "2x4", best(seed), PATIENCE)
        assert late(lives) == []
        for row, life in enumerate(lives):
            first = first_s(lives, row)
            meanwhile += sum(first < one.start_s < life.start_s for one in lives)
        broken += len(late(run(jobs, "2x4", best(seed), None)))
    assert broken > 20
    assert meanwhile > 5


def test_no_wait_is_longer_than_promised_where_jobs_want_different_gpus() -> None:
    waited = 0
    for seed in range(40):
        jobs = [(s, min(g, 4), d, kind) for s, g, d, kind in random_jobs(seed, ("v100", "t4", "v100|t4"))]
        lives = run(jobs, "1x4/gpu=v100+1x4/gpu=t4", any_of(seed), PATIENCE)
        longest_s = max(life.duration_s for life in lives)
        for row, life in enumerate(lives):
            assert life.start_s <= life.due_s + (1 + len(before(lives, row))) * longest_s
            waited += life.start_s > life.due_s
    assert waited > 20


def test_gpus_are_reserved_by_number_and_the_others_are_used() -> None:
    # B needs 2 of 4 GPUs and is overdue at 21; A holds 3 until 100. From 21 on others may have 2 GPUs together: the one
    # that is free goes to one short job after the other; C, which needs 3, must wait for B.
    short = [(s, 1, 9) for s in range(2, 102, 10)]
    jobs = sorted([(0, 3, 100), (1, 2, 10), (90, 3, 5), *short])
    row = {job: i for i, job in enumerate(jobs)}
    lives = run(jobs, "1x4", last_first, PATIENCE)
    assert lives[row[1, 2, 10]].start_s == 100
    assert [lives[row[job]].start_s for job in short[:9]] == [job[0] for job in short[:9]]
    assert lives[row[90, 3, 5]].start_s == 110
    assert run(jobs, "1x4", last_first, None)[row[1, 2, 10]].start_s > 100


def test_it_starts_at_the_very_instant_although_nothing_else_happens() -> None:
    jobs = [(0, 1, 100), (1, 1, 8)]
    assert [life.start_s for life in run(jobs, "1x4", would_rather_wait, 1.25)] == [0, 11]
    assert [life.start_s for life in run(jobs, "1x4", would_rather_wait, None)] == [0, 100]


def test_nothing_happens_for_jobs_that_have_started() -> None:
    """No pass when a job would have been overdue that is over by then."""
    passes = [result_of([(0, 1, 5), (1, 1, 5)], "1x4", last_first, patience) for patience in (None, 1000.0)]
    assert [result.info["decisions"] for result in passes] == [4, 4]


def test_a_queue_at_its_limit_keeps_back_its_own_jobs_only() -> None:
    # Queue q may hold 2 GPUs. B needs both, and is overdue at 11; E, of q too, needs one, which is free; D is of none.
    spec = {
        "node_types": {"node": {"gpus": 4, "gpu_type": "v100"}}, "nodes": [{"type": "node", "count": 1}],
        "queues": {"q": {"gpu_limit": 2}},
    }  # fmt: skip
    cluster = Cluster.model_validate({"metadata": {"name": "small"}, "spec": spec})
    jobs = [(0, 1, 30, "", "q"), (1, 2, 5, "", "q"), (2, 1, 10, "", "q"), (15, 1, 9, "", "q"), (15, 1, 3, "", "")]
    assert [life.start_s for life in run(jobs, cluster, last_first, PATIENCE)] == [0, 30, 2, 35, 15]


def test_nothing_is_kept_for_a_job_that_waits_for_a_node_that_is_down() -> None:
    jobs = [(0, 1, 50), (1, 8, 5), (20, 1, 5), (62, 1, 5)]
    events = [(0.5, "n0001", "DOWN"), (60, "n0001", "UP")]
    lives = run(jobs, "2x4", last_first, PATIENCE, node_events=events)
    assert [life.start_s for life in lives] == [0, 60, 20, 65]


@pytest.mark.parametrize("given", [-1, 2e9, float("nan"), "soon", True])
def test_what_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"topdrl\.patience_durations = .*: it must be a number"):
        get_policy("topdrl").make({"patience_durations": given})
