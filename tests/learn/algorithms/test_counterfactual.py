"""Learning what choices are worth: what is tried, the scale of differences, and that it learns, the same each time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

from pointsman.learn.agents import recipe  # noqa: E402
from pointsman.learn.algorithms.counterfactual import choices_of, mean_differences  # noqa: E402
from pointsman.learn.checkpoint import save_policy  # noqa: E402
from pointsman.learn.setup import begin  # noqa: E402
from pointsman.workload import generate  # noqa: E402
from tests.free import simulate  # noqa: E402

CLUSTER = "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti"
SCATTERING = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
"""A scorer that likes nothing but many servers."""
PRACTICE = {"cluster": CLUSTER, "jobs": 40, "episodes": 8, "load": 0.8, "schedulers": 2, "patience": 0.0}


def training(folder: Path, decisions: int = 64, envs: int = 4) -> Any:
    settings = {
        "marl": {"weights": SCATTERING},
        "practice": PRACTICE,
        "counterfactual": {"num_envs": envs, "decisions": decisions},
    }
    return begin(recipe("marl", settings), folder, seed=1)


def test_what_is_tried() -> None:
    """The scorer's choice first, then the network's, to forward, to wait, and one other candidate."""
    mask = np.zeros(34, bool)
    mask[[0, 1, 2, 3, 33]] = True
    assert choices_of(mask, usual=0, best=2, chance=0.0) == [0, 2, 33, 1]
    assert choices_of(mask, usual=0, best=2, chance=0.99) == [0, 2, 33, 3]
    mask[[1, 2, 3]], mask[32] = False, True
    assert choices_of(mask, usual=32, best=32, chance=0.5) == [32, 33, 0]
    only = np.zeros(34, bool)
    only[33] = True
    assert choices_of(only, usual=33, best=33, chance=0.5) == [33]


def test_the_mean_difference_is_that_of_the_environment() -> None:
    gains = np.array([[1.0, -3.0], [2.0, 0.0], [10.0, 0.0]])
    there = np.array([[True, True], [True, False], [True, False]])
    assert mean_differences(gains, there, np.array([0, 0, 2])).tolist() == [2.0, 2.0, 10.0]


def test_the_same_seed_gives_the_same_weights_and_it_goes_on_where_it_was(tmp_path: Path) -> None:
    first, second, third = (training(tmp_path).learner for _ in range(3))
    for learner in (first, second):
        learner.iterate(0.0)
    third.restore(second.state())
    for learner in (first, second, third):
        learner.iterate(0.5)
    before = first.network.state_dict()
    for other in (second, third):
        assert all(torch.equal(tensor, before[name]) for name, tensor in other.network.state_dict().items())


@pytest.mark.slow
def test_it_learns_to_overrule_a_scorer_that_scatters_gangs(tmp_path: Path) -> None:
    made = training(tmp_path, decisions=384, envs=16)
    told = [made.learner.iterate(k / 5) for k in range(5)]
    assert told[0]["gained"] < told[-1]["gained"] and told[-1]["gained"] > 0 and told[-1]["other_choices"] > 0.2
    save_policy(tmp_path, made.card, made.learner.network.state_dict())
    options = {"contention": "duty-cycle", "node_interference": "table", "rate_model": "rates"}
    names = ("slow_down", "harm", "servers", "racks", "gpus_left", "broken_sockets")
    scorer = dict(zip(names, SCATTERING, strict=True)) | {"patience": 0.0}
    mean_s = []
    for seed in (71, 72, 73):  # held out
        jobs = generate("dl2-1-8", jobs=120, cluster_gpus=32, load=0.8, seed=seed)
        for policy, params in ((f"marl:{tmp_path}", {}), ("scorer", scorer)):
            run = simulate(jobs, CLUSTER, policy, params=params | {"schedulers": 2}, **options)
            mean_s.append(run.jobs["jct_s"].mean())
    assert sum(mean_s[0::2]) < 0.95 * sum(mean_s[1::2])
