"""What a run of metarl has learnt is kept in its directory, and another run goes on from it."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pointsman.errors import PointsmanError
from pointsman.learn.policies.metarl import MetaRl
from pointsman.report import write_run
from pointsman.speed.interference.online.file import NAME, read_experience
from pointsman.workload import Workload, generate
from tests.free import simulate

with_network = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (make learn)")

OPTIONS = {"contention": "duty-cycle", "node_interference": "table:sigma=0.2,seed=3"}
BY_NAME: dict[str, Any] = OPTIONS | {"params": {"steps": 0}}
WITH_NETWORK = Path(__file__).parents[3] / "benchmarks/metarl/trained/metarl-1"
CLUSTER = "8x4/rack=4,nic=10Gbps,gpu=gtx1080ti"


def jobs(seed: int, many: int = 150) -> Workload:
    return generate("dl2-philly", jobs=many, cluster_gpus=32, load=0.9, seed=seed)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("metarl") / "run"
    write_run(place, simulate(jobs(1), CLUSTER, "metarl:none", **BY_NAME))
    return place


def test_the_next_run_knows_what_the_last_one_saw(kept: Path) -> None:
    (before,) = read_experience(kept / NAME)
    policy = MetaRl(steps=0, checkpoint=str(kept), explore=0.0)
    content = (kept / NAME).read_bytes()
    simulate(jobs(2, 2), CLUSTER, policy, **OPTIONS)
    assert (kept / NAME).read_bytes() == content
    (model,) = policy.interference.learner.of_server
    for combination, seen in before.combinations.items():
        row = model.combinations.index(combination)
        assert model.visits[row] >= seen.visits
        assert model.predicted[row] == pytest.approx(seen.log, abs=1e-9)


def test_what_was_learnt_elsewhere_is_handed_on(kept: Path) -> None:
    """A run on other servers adds to it, and loses nothing."""
    run = simulate(jobs(2, 2), "8x2/gpu=v100", f"metarl:{kept}", oversized="drop", **BY_NAME)
    servers = yaml.safe_load(run.learnt[NAME])["spec"]["servers"]
    assert [(one["gpu_type"], one["gpus"]) for one in servers] == [("v100", 2), ("gtx1080ti", 4)]
    assert servers[1] == yaml.safe_load((kept / NAME).read_text())["spec"]["servers"][0]


@with_network
def test_it_forecasts_better_than_one_that_begins_anew(kept: Path) -> None:
    """Of combinations that neither has seen yet, before its first job."""
    fresh, again = MetaRl(steps=0, checkpoint="none"), MetaRl(steps=0, checkpoint=str(kept))
    truth = MetaRl(steps=0, explore=0.0)
    simulate(jobs(3, 1500), CLUSTER, truth, **OPTIONS)
    (right,) = truth.interference.learner.of_server
    errors = []
    for policy in (fresh, again):
        policy.interference.begin(right.models, truth.interference.learner.servers)
        (model,) = policy.interference.learner.of_server
        both = (right.visits > 0) & (model.visits == 0)
        errors.append(np.abs(model.predicted - right.predicted)[both].mean())
    assert errors[1] < errors[0] / 2


def test_a_run_that_goes_on_is_the_same_each_time(kept: Path, tmp_path: Path) -> None:
    first, second = (simulate(jobs(2), CLUSTER, f"metarl:{kept}", **BY_NAME) for _ in range(2))
    assert first.jobs.equals(second.jobs)
    assert first.learnt == second.learnt
    assert not first.jobs.equals(simulate(jobs(2), CLUSTER, "metarl:none", **BY_NAME).jobs)


def test_on_another_kind_of_server_only_the_law_is_known(kept: Path) -> None:
    policy = MetaRl(steps=0, checkpoint=str(kept))
    simulate(jobs(2, 2), "8x2/rack=4,nic=10Gbps,gpu=gtx1080ti", policy, oversized="drop", **OPTIONS)
    (model,) = policy.interference.learner.of_server
    assert model.visits.sum() <= 4
    assert model.predicted.max() > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda spec: spec["coefficients"].pop(), r"8 models have \d+ coefficients, and \d+ are given"),
        (lambda spec: spec["models"].reverse(), "models must be in alphabetical order"),
        (lambda spec: spec["seen"].update(nobody={"1": [1.0, 1]}), "seen.nobody names nobody"),
        (lambda spec: spec["seen"].update(vgg16={"1 by 1": [1.0, 1]}), "is no combination"),
        (lambda spec: spec["seen"].update(vgg16={"1": [0.5, 1]}), "greater than or equal to 1"),
    ],
)
def test_a_damaged_file_is_refused(change, said: str, kept: Path, tmp_path: Path) -> None:
    document = yaml.safe_load((kept / NAME).read_text())
    change(document["spec"]["servers"][0])
    (tmp_path / NAME).write_text(yaml.safe_dump(document))
    with pytest.raises(PointsmanError, match=said):
        simulate(jobs(2, 2), CLUSTER, f"metarl:{tmp_path}", **BY_NAME)


def test_a_directory_without_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"there is no performance-model\.yaml"):
        simulate(jobs(2, 2), CLUSTER, f"metarl:{tmp_path}", **BY_NAME)


@pytest.mark.parametrize("change", ["twice", "visits"])
def test_what_no_run_has_written_is_refused(change: str, kept: Path, tmp_path: Path) -> None:
    document = yaml.safe_load((kept / NAME).read_text())
    (server,) = document["spec"]["servers"]
    if change == "twice":
        document["spec"]["servers"].append(server)
    else:
        model = next(iter(server["seen"]))
        server["seen"][model] = {text: [times, 10**30] for text, (times, _) in server["seen"][model].items()}
    (tmp_path / NAME).write_text(yaml.safe_dump(document))
    with pytest.raises(PointsmanError, match=NAME):
        MetaRl(steps=0, checkpoint=str(tmp_path))


def test_extreme_coefficients_can_be_gone_on_with(kept: Path, tmp_path: Path) -> None:
    document = yaml.safe_load((kept / NAME).read_text())
    (server,) = document["spec"]["servers"]
    server["coefficients"] = [20.0 if k % 2 else -20.0 for k in range(len(server["coefficients"]))]
    (tmp_path / NAME).write_text(yaml.safe_dump(document))
    run = simulate(jobs(2, 30), CLUSTER, f"metarl:{tmp_path}", **BY_NAME)
    write_run(tmp_path / "run", run, figures=False)
    assert read_experience(tmp_path / "run" / NAME)


def test_a_checkpoint_that_lost_its_network_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for name in (NAME, "policy.yaml"):
        (tmp_path / name).write_bytes((WITH_NETWORK / name).read_bytes())
    with pytest.raises(PointsmanError, match=r"policy\.safetensors: the network is missing"):
        MetaRl(checkpoint=str(tmp_path))
    (tmp_path / "policy.yaml").unlink()
    assert MetaRl(checkpoint=str(tmp_path))._adapting is None
    os.mkfifo(tmp_path / "policy.safetensors")
    simulate(jobs(2, 5), CLUSTER, f"metarl:{tmp_path}", **BY_NAME)


def test_a_changed_card_is_read_again(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for path in WITH_NETWORK.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    MetaRl(checkpoint=str(tmp_path))
    card = tmp_path / "policy.yaml"
    card.write_text(card.read_text().replace("agent: metarl", "agent: topdrl"))
    with pytest.raises(PointsmanError, match="a checkpoint of 'topdrl'"):
        MetaRl(checkpoint=str(tmp_path))
