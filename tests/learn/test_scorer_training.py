"""The search for the weights of the scorer."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.placement.cell import OPTIONS, cluster, mean_jct_s, run, workload
from pointsman.errors import UsageError
from pointsman.learn.cross_entropy import Search, minimise
from pointsman.learn.scorer_training import FIRST, ScorerTask, first, train_scorer, weights_of
from pointsman.policies.parts.reserving.overdue_heads import ReservingPolicy
from pointsman.policies.registry import get_policy
from tests.free import simulate

QUICK = Search(generations=2, population=4, elite=2)


def test_the_search_finds_the_bottom_of_a_bowl() -> None:
    bottom = np.array([0.3, -1.2, 2.0])
    found, history = minimise(
        lambda x: float(((x - bottom) ** 2).sum()), np.zeros(3), np.ones(3), 1, Search(generations=30, population=30)
    )
    assert np.abs(found - bottom).max() < 0.1
    assert history[-1] < 0.01 < history[0]


def test_the_mean_is_a_sample_so_that_a_good_beginning_is_kept() -> None:
    seen: list[np.ndarray] = []
    minimise(lambda x: seen.append(x) or 0.0, np.array([1.0, 2.0]), np.ones(2), 5, QUICK)  # ty: ignore
    assert seen[0].tolist() == [1.0, 2.0]
    assert len(seen) == QUICK.generations * QUICK.population


def test_weights_are_the_parameters_of_the_scorer() -> None:
    fields = get_policy("scorer").config
    assert fields is not None
    numbers = {name for name, field in fields.model_fields.items() if field.annotation is float}
    assert numbers - {*ReservingPolicy.model_fields} == {*FIRST}
    assert weights_of(np.array([*first(0).mean[:-1], -0.2]))["patience"] == 0.0


def test_the_same_training_gives_the_same_weights(tmp_path: Path) -> None:
    on = cluster(tmp_path, servers=8)
    jobs = workload("1-8", 0.9, 60, 1, servers=8)
    one, same = (train_scorer(ScorerTask([jobs], on, OPTIONS, seed=3, search=QUICK)) for _ in range(2))
    assert one == same
    other = train_scorer(ScorerTask([jobs], on, OPTIONS, seed=4, search=QUICK))
    assert other.weights != one.weights
    # what is told as the least cost is what these runs give
    packed = mean_jct_s(run(jobs, on, "packed"))
    begun = mean_jct_s(run(jobs, on, "scorer", params=weights_of(first(3).mean)))
    assert one.history[0] <= begun / packed


def test_options_are_checked_as_in_a_run(tmp_path: Path) -> None:
    jobs = workload("1-8", 0.9, 5, 1, servers=8)
    with pytest.raises(UsageError, match="contention"):
        train_scorer(ScorerTask([jobs], cluster(tmp_path, servers=8), {"contention": "fair"}))
    with pytest.raises(UsageError, match="patience"):
        simulate(jobs, "8x4", "scorer", params={"patience": -1.0})
