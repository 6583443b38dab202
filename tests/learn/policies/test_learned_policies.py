"""A learned policy in a run does what the same network does in the environment, job by job."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("safetensors", reason="safetensors is not installed (make learn)")

import pointsman  # noqa: E402
from pointsman.cli.run import run  # noqa: E402
from pointsman.errors import InputError, UsageError  # noqa: E402
from pointsman.learn.agents import PRACTICE, recipe  # noqa: E402
from pointsman.learn.algorithms.masking import log_probabilities  # noqa: E402
from pointsman.learn.checkpoint import ObservationSpec, load_policy  # noqa: E402
from pointsman.learn.environments import PickJobEnv, PlaceJobEnv  # noqa: E402
from pointsman.learn.setup import begin  # noqa: E402
from pointsman.learn.training_setup import keywords  # noqa: E402
from pointsman.policies.registry import get_policy, policy_names  # noqa: E402
from tests.free import simulate  # noqa: E402

CLUSTER = "4x4/rack=2"
SMALL: dict[str, Any] = {"cluster": CLUSTER, "jobs": 40, "episodes": 2, "horizon_s": None, "reward": "jobs"}


def untrained(agent: str, directory: Path, **practice: Any) -> Path:
    """A checkpoint whose weights are bold enough to have opinions, and which has learnt nothing."""
    made = recipe(agent, {PRACTICE: SMALL | practice})
    training = begin(made, directory, seed=3)
    with torch.no_grad():
        for name, weight in training.learner.network.named_parameters():  # ty: ignore
            if "actor" in name or "score" in name:
                weight.normal_(generator=torch.Generator().manual_seed(7))
    training._keep()
    directory.mkdir()
    training._save()
    return directory


@pytest.mark.parametrize(
    ("agent", "practice"),
    [
        ("topdrl", {}),
        ("deeprm", {"gpus": "load-balance"}),
        ("proximity-drl", {"reward": ""}),
        ("proximity-drl", {"reward": "", "picker": "tetris", "cluster": "18x4/rack=6"}),
    ],
)
def test_a_run_is_an_episode(agent: str, practice: dict, tmp_path: Path) -> None:
    place = untrained(agent, tmp_path / "checkpoint", **practice)
    settings = keywords(recipe(agent, {PRACTICE: SMALL | practice}).practice)
    env = (PlaceJobEnv if agent == "proximity-drl" else PickJobEnv)(**settings)
    network = load_policy(place).network
    seen, _ = env.reset(seed=0)
    over, actions = False, []
    while not over:
        with torch.no_grad():
            logits, _ = network({name: torch.from_numpy(part[None]) for name, part in seen.items()})
        actions.append(int(log_probabilities(logits, torch.from_numpy(seen["action_mask"][None] != 0)).argmax()))
        seen, _, terminated, truncated, _ = env.step(actions[-1])
        over = terminated or truncated
    assert len(set(actions)) > 4  # it has chosen, not taken the first
    cluster = settings["cluster"]
    result = simulate(
        env.workload(env.episode), cluster, f"{agent}:{place}", rate_model="tree", assign_models=0, audit=True
    )
    outcomes = env.outcomes
    assert (outcomes["start"] / 1000).tolist() == result.jobs["start_s"].to_list()
    assert (outcomes["end"] / 1000).tolist() == result.jobs["end_s"].to_list()
    assert result.info["policy"] == f"{agent}:{place}" and result.info["policy_name"] == f"{agent}:{place}"


def test_they_are_listed_without_their_weights() -> None:
    assert {"topdrl", "deeprm", "proximity-drl"} <= set(policy_names())
    spec = get_policy("topdrl")
    assert spec.needs == "oracle" and not spec.compiled
    assert list(spec.arguments) == ["checkpoint", "gpus", "observation", "patience_durations"]


def test_their_parameters_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "show", "topdrl", "--format", "json"]) == 0
    rows = {row["parameter"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["patience_durations"]["default"] == "None"
    assert "waited this many times its duration" in rows["patience_durations"]["meaning"]


def test_the_forms_of_the_name(tmp_path: Path) -> None:
    place = untrained("deeprm", tmp_path / "checkpoint")
    assert get_policy(f"rounds(deeprm:{place}, 60)").round_s == 60
    assert get_policy(f"rounds(deeprm:{place}, 60)").make().name == "deeprm"
    with pytest.raises(InputError, match=r"a checkpoint of 'deeprm' \(use it as --policy deeprm:"):
        get_policy(f"topdrl:{place}").make()
    with pytest.raises(UsageError, match=r"there is no such GPU picker.*'nearest'"):
        get_policy(f"deeprm:{place}").make({"gpus": "nearer"})
    with pytest.raises(InputError, match="no such directory"):
        get_policy(f"topdrl:{tmp_path / 'none'}").make()
    with pytest.raises(UsageError, match="unknown policy 'topdrl:'"):
        get_policy("topdrl:")


def test_a_checkpoint_cannot_name_a_file_to_run(tmp_path: Path) -> None:
    """It says that it was trained on an observation in a file, and the user has named none."""
    own = tmp_path / "own.py"
    own.write_text(f"open({str(tmp_path / 'exploded')!r}, 'w')\n")
    place = untrained("deeprm", tmp_path / "checkpoint")
    card = place / "policy.yaml"
    said = yaml.safe_load(card.read_text())
    said["observation"]["name"] = str(own)
    said["observation_sha256"] = ObservationSpec(**said["observation"]).digest
    card.write_text(yaml.safe_dump(said))
    with pytest.raises(InputError, match="trained on your own observation"):
        get_policy(f"deeprm:{place}").make()
    assert not (tmp_path / "exploded").exists()


@pytest.mark.slow
def test_an_observation_of_ones_own_is_run_only_when_it_is_named(tmp_path: Path) -> None:
    """A checkpoint from elsewhere cannot say which file to import."""
    own = tmp_path / "own.py"
    source = Path(pointsman.__file__).parent / "learn" / "environments" / "compiled" / "observations" / "topdrl.py"
    own.write_text(source.read_text())
    place = untrained("deeprm", tmp_path / "checkpoint", observation=str(own))
    own.write_text(f"open({str(tmp_path / 'exploded')!r}, 'w')\n" + source.read_text())
    with pytest.raises(InputError, match="trained on your own observation"):
        get_policy(f"deeprm:{place}").make()
    assert not (tmp_path / "exploded").exists()
    own.write_text(source.read_text())
    assert get_policy(f"deeprm:{place}").make({"observation": str(own)}).name == "deeprm"


def test_a_checkpoint_written_over_is_read_again(tmp_path: Path) -> None:
    place = untrained("deeprm", tmp_path / "checkpoint")
    first = get_policy(f"deeprm:{place}").make()
    assert get_policy(f"deeprm:{place}").make()._seen.network is first._seen.network  # ty: ignore
    (place / "policy.safetensors").write_bytes((place / "policy.safetensors").read_bytes()[:-1])
    with pytest.raises(InputError, match="broken"):
        get_policy(f"deeprm:{place}").make()


def test_copies_decide_alike(tmp_path: Path) -> None:
    policy: Any = get_policy(f"deeprm:{untrained('deeprm', tmp_path / 'checkpoint')}").make()
    assert policy.copy().name == policy.name
    mask = np.zeros(11, bool)
    mask[4] = True
    assert policy._seen.best(mask) == 4
