"""MARL as a policy: it does in a run what its network does in training, on any cluster and with any schedulers."""

from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

from pointsman.cluster import load_cluster  # noqa: E402
from pointsman.errors import InputError, PointsmanError  # noqa: E402
from pointsman.learn.agents import recipe  # noqa: E402
from pointsman.learn.checkpoint import load_policy, save_policy  # noqa: E402
from pointsman.learn.environments import PlaceGangEnv  # noqa: E402
from pointsman.learn.setup import begin  # noqa: E402
from pointsman.workload import Workload, generate  # noqa: E402
from tests.free import simulate  # noqa: E402

OPTIONS = {"contention": "duty-cycle", "node_interference": "table", "rate_model": "rates"}
BLIND = "table:kappa=0"
SMALL = {
    "practice": {"cluster": "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", "jobs": 10, "episodes": 2},
    "counterfactual": {"num_envs": 2, "decisions": 8},
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights with which the network says something of its own."""
    folder = tmp_path_factory.mktemp("marl")
    training = begin(recipe("marl", SMALL), folder, seed=1)
    network = training.learner.network  # ty: ignore
    torch.manual_seed(4)
    weights = {name: tensor + 0.1 * torch.randn(tensor.shape) for name, tensor in network.state_dict().items()}
    save_policy(folder, training.card, weights)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("schedulers", "order"), [(1, "fifo"), (4, "sjf")])
def test_a_run_is_what_the_network_does_in_training(schedulers: int, order: str, checkpoint: Path) -> None:
    cluster = "12x4/rack=3,nic=10Gbps,gpu=gtx1080ti"  # not the one it was trained on
    jobs = generate("dl2-1-8", jobs=60, cluster_gpus=48, load=1.5, seed=2)
    network = load_policy(checkpoint).network
    network.on_cluster(load_cluster(cluster), schedulers)
    environment = PlaceGangEnv(
        cluster=cluster, workload=lambda k, gpus: jobs, horizon_s=None, episodes=1, schedulers=schedulers,
        order=order, rate_model="rates", contention="duty-cycle", factors={"node_interference": "table"},
    )  # fmt: skip
    seen, _ = environment.reset(seed=0)
    over = False
    while not over:
        with torch.inference_mode():
            logits, _ = network({name: torch.from_numpy(part)[None] for name, part in seen.items()})
        seen, _, over, _, _ = environment.step(np.where(seen["action_mask"] != 0, logits[0], -np.inf).argmax())
    params = {"schedulers": schedulers, "order": order}
    run = simulate(jobs, cluster, f"marl:{checkpoint}", params=params, **OPTIONS)
    ends_s = environment.outcomes["end"] / 1000 + jobs.jobs["submit_s"][0]
    np.testing.assert_allclose(ends_s, run.jobs["end_s"].to_numpy(), atol=1e-6)
    again = simulate(jobs, cluster, f"marl:{checkpoint}", params={"schedulers": schedulers}, **OPTIONS)
    assert again.jobs.equals(run.jobs)


@pytest.mark.parametrize("schedulers", [1, 4])
def test_before_it_has_learnt_it_makes_the_schedule_of_the_scorer(schedulers: int, tmp_path: Path) -> None:
    """Forwarding and patience included."""
    training = begin(recipe("marl", SMALL), tmp_path, seed=3)
    save_policy(tmp_path, training.card, training.learner.network.state_dict())  # ty: ignore
    for seed in range(3):
        jobs = generate("dl2-1-8", jobs=60, cluster_gpus=48, load=1.1, seed=seed)
        first, second = (
            simulate(jobs, "12x4/rack=3,nic=10Gbps,gpu=gtx1080ti", policy, params=params, **OPTIONS)
            for policy, params in ((f"marl:{tmp_path}", {}), ("scorer", {}))
            for params in [params | {"schedulers": schedulers}]
        )
        assert first.jobs["end_s"].to_list() == second.jobs["end_s"].to_list()


def test_it_looks_past_many_patient_jobs_to_one_whose_patience_has_ended(tmp_path: Path) -> None:
    """A GPU of each node is free; twelve gangs of two wait for two on one node, and of them the last is short.

    node 0   a a a .        its patience, twice its 100 s, has ended at 210 s:
    node 1   b b b .        it takes a GPU of each node
    """
    training = begin(recipe("marl", SMALL), tmp_path, seed=3)
    save_policy(tmp_path, training.card, training.learner.network.state_dict())  # ty: ignore
    jobs = pl.DataFrame(
        {
            "submit_s": [0, 0, *12 * [10]],
            "gpus": [3, 3, *12 * [2]],
            "duration_s": [1e5, 1e5, *11 * [1e4], 100.0],
        }
    )
    marl, scorer = (
        simulate(Workload.of(jobs), "2x4/rack=2", policy, params={"patience": 2.0}, rate_model="rates")
        .jobs["start_s"].to_list()
        for policy in (f"marl:{tmp_path}", "scorer")
    )  # fmt: skip
    assert marl == scorer
    assert marl[-1] == 210


def test_it_forecasts_by_another_interference_than_that_of_the_run(tmp_path: Path) -> None:
    """As the scorer does; what slows jobs is the same for all."""
    training = begin(recipe("marl", SMALL), tmp_path, seed=3)
    save_policy(tmp_path, training.card, training.learner.network.state_dict())  # ty: ignore
    jobs = generate("dl2-1-8", jobs=60, cluster_gpus=48, load=1.1, seed=1)
    told, scorer, by_the_truth = (
        simulate(jobs, "12x4/rack=3,nic=10Gbps,gpu=gtx1080ti", policy, params=params, **OPTIONS).jobs["end_s"]
        for policy, source in ((f"marl:{tmp_path}", BLIND), ("scorer", BLIND), (f"marl:{tmp_path}", None))
        for params in [{"schedulers": 1, "interference": source}]
    )
    assert told.to_list() == scorer.to_list() != by_the_truth.to_list()


def test_schedulers_may_be_told_not_to_forward(checkpoint: Path) -> None:
    jobs = generate("dl2-1-8", jobs=20, cluster_gpus=32, load=1.5, seed=2)
    mean_s = []
    for forward in (True, False):
        run = simulate(
            jobs, "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", f"marl:{checkpoint}", params={"forward": forward}, **OPTIONS
        )
        mean_s.append(run.jobs["end_s"].mean())
    assert mean_s[0] != mean_s[1]


def test_its_scheduler_may_take_time_to_decide_about_each_job(checkpoint: Path) -> None:
    """Whether it places a job or lets it wait, it is at no other one for 10 s."""
    jobs = generate("dl2-1-8", jobs=8, cluster_gpus=32, load=100.0, seed=2)
    on, policy, params = "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", f"marl:{checkpoint}", {"schedulers": 1, "order": "fifo"}
    run = simulate(jobs, on, policy, params=params, decision_time=10, **OPTIONS).jobs
    assert np.round(run["start_s"] - run["submit_s"], 3).min() == 10
    assert np.round(np.diff(run["start_s"].sort()), 3).min() >= 10


def test_another_that_was_not_told_of_the_cluster_cannot_take_over(checkpoint: Path) -> None:
    class Asks:
        name, needs, divides_among = "asks", "oracle", 4

        def decide(self, view: Any) -> None:
            view.what_if(f"marl:{checkpoint}")

    jobs = generate("dl2-1-8", jobs=2, cluster_gpus=32, load=1.0, seed=2)
    with pytest.raises(PointsmanError, match="'marl' must see the cluster before the run"):
        simulate(jobs, "8x4/rack=2", Asks(), **OPTIONS)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"schedulers": 0}, "marl.schedulers = 0: it must be from 1 to 1000"),
        ({"schedulers": 5}, "5 schedulers need one rack each, and the cluster has 4"),
        ({"patience": -1.0}, "marl.patience = -1: it must be from 0"),
        ({"checkpoint": "/nowhere"}, "there is no such directory"),
        ({"checkpoint": "benchmarks/marl/trained/scorer-1"}, "a checkpoint of 'scorer'"),
        ({"interference": ""}, "interference"),
        ({"interference": "none"}, "give table or a file, or leave it out"),
    ],
)
def test_bad_input_is_refused(
    params: dict[str, object], said: str, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    jobs = generate("dl2-1-8", jobs=5, cluster_gpus=32, load=1.0, seed=2)
    with pytest.raises(PointsmanError, match=said):
        simulate(jobs, "8x4/rack=2", "marl", params={"checkpoint": str(checkpoint)} | params, **OPTIONS)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("environment.schedulers", "four", "environment.schedulers is 'four', not a whole number from 1 to 1000"),
        ("environment.schedulers", 0, "environment.schedulers is 0,"),
        ("environment.schedulers", True, "environment.schedulers is True"),
        ("environment.schedulers", [4], "environment.schedulers is"),
        ("environment.patience", float("nan"), "environment.patience is nan, not a number from 0"),
        ("environment.patience", "long", "environment.patience is 'long'"),
        ("network.config.head", [-3], r"network.config.head.0: "),
        ("network.config.head", [1e9], r"network.config.head.0: "),
    ],
)
def test_a_card_that_is_wrong_is_refused(part: str, value: object, said: str, checkpoint: Path, tmp_path: Path) -> None:
    copytree(checkpoint, tmp_path, dirs_exist_ok=True)
    card = inside = yaml.safe_load((tmp_path / "policy.yaml").read_text())
    *path, last = part.split(".")
    for name in path:
        inside = inside[name]
    inside[last] = value
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(card))
    jobs = generate("dl2-1-8", jobs=5, cluster_gpus=32, load=1.0, seed=2)
    with pytest.raises(InputError, match=f"policy.yaml:.*{said}"):
        simulate(jobs, "8x4/rack=2", f"marl:{tmp_path}", **OPTIONS)


def test_weights_that_overflow_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    made = load_policy(checkpoint)
    weights = {name: 1e30 * tensor for name, tensor in made.network.state_dict().items()}
    save_policy(tmp_path, made.card, weights)
    jobs = generate("dl2-1-8", jobs=5, cluster_gpus=32, load=1.0, seed=2)
    with pytest.raises(PointsmanError, match="rates a choice as NaN or infinite"):
        simulate(jobs, "8x4/rack=2", f"marl:{tmp_path}", **OPTIONS)


def test_weights_for_another_number_of_candidates_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    made = load_policy(checkpoint)
    seen = made.card.observation.model_copy(update={"actions": 20})
    card = made.card.model_copy(update={"observation": seen, "observation_sha256": seen.digest})
    save_policy(tmp_path, card, made.network.state_dict())
    with pytest.raises(PointsmanError, match="20 actions"):
        simulate(generate("dl2-1-8", jobs=5, cluster_gpus=32, seed=2), "8x4/rack=2", f"marl:{tmp_path}")
