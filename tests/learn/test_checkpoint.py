"""Checkpoints come back as they were; what is broken, alien or older is refused in a sentence, and runs no code."""

import pickle
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed (make learn)")

from pointsman.errors import InputError  # noqa: E402
from pointsman.learn.checkpoint import (  # noqa: E402
    CARD,
    WEIGHTS,
    Card,
    Named,
    ObservationSpec,
    load_policy,
    read_card,
    save_policy,
)
from pointsman.learn.networks import NETWORKS, make_network, network_class  # noqa: E402

SHAPES = {"cluster": (20, 64), "queue": (20, 80), "topology": (16, 8), "jobs": (10, 9), "globals": (4,)}
SEEN = ObservationSpec(name="topdrl", shapes=SHAPES, actions=11)


def card(network: str = "deeprm", **config) -> Card:
    return Card(
        agent="deeprm", network=Named(name=network, config=config), observation=SEEN, observation_sha256=SEEN.digest,
        algorithm=Named(name="ppo"), seed=3, steps=1000, pointsman="0.1",
    )  # fmt: skip


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    network = make_network("deeprm", network_class("deeprm").Config(), SHAPES, 11, seed=3)
    save_policy(tmp_path, card(), network.state_dict())
    return tmp_path


def refusal(directory: Path, observation: ObservationSpec | None = SEEN) -> str:
    with pytest.raises(InputError) as refused:
        load_policy(directory, observation)
    said = str(refused.value)
    assert "\n" not in said and str(directory) in said and said.endswith(")") | (": " in said)
    return said


OF_GANGS = {"marl", "marl-actors", "choices", "valued-choices"}
"""Networks that see a cluster: `test_marl`, `test_marl_actors`."""


@pytest.mark.parametrize("name", sorted({*NETWORKS} - OF_GANGS))
def test_what_is_saved_comes_back(name: str, tmp_path: Path) -> None:
    network = make_network(name, network_class(name).Config(), SHAPES, 11, seed=3)
    save_policy(tmp_path, card(name), network.state_dict())
    found = load_policy(tmp_path, SEEN)
    assert found.card == card(name)
    seen = {part: torch.rand(5, *shape) for part, shape in SHAPES.items()}
    with torch.no_grad():
        for mine, theirs in zip(network(seen), found.network(seen), strict=True):
            assert torch.equal(mine, theirs)
    assert (tmp_path / WEIGHTS).stat().st_size < 5_000_000
    assert not [path for path in tmp_path.iterdir() if path.name not in (CARD, WEIGHTS)]


def test_weights_may_be_of_half_precision(saved: Path) -> None:
    weights = {name: tensor.half() for name, tensor in safetensors.load_file(saved / WEIGHTS).items()}
    safetensors.save_file(weights, saved / WEIGHTS)
    for name, tensor in load_policy(saved).network.state_dict().items():
        assert tensor.dtype == torch.float32 and torch.equal(tensor, weights[name].float())


@pytest.mark.parametrize("kept", [0, 4, 100, 0.5, 0.999])
def test_truncated_weights(saved: Path, kept: float) -> None:
    content = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(content[: int(kept if kept > 1 or kept == 0 else kept * len(content))])
    assert "broken" in refusal(saved)


def test_a_pickle_by_that_name_is_not_unpickled(saved: Path) -> None:
    class Bomb:
        def __reduce__(self):
            return (Path(saved / "exploded").touch, ())

    (saved / WEIGHTS).write_bytes(pickle.dumps(Bomb()))
    assert "no safetensors" in refusal(saved)
    torch.save({"weight": torch.zeros(3)}, saved / WEIGHTS)
    assert "no safetensors" in refusal(saved)
    (saved / CARD).write_text(f"format: !!python/object/apply:pathlib.Path.touch [{saved}/exploded]\n")
    refusal(saved)
    assert not (saved / "exploded").exists()


def test_another_architecture(saved: Path) -> None:
    weights = make_network("proximity", network_class("proximity").Config(), SHAPES, 11, seed=3).state_dict()
    save_policy(saved, card(), weights)
    assert "another architecture" in refusal(saved)
    wider = network_class("deeprm").Config(hidden=21)
    save_policy(saved, card(), make_network("deeprm", wider, SHAPES, 11, seed=3).state_dict())
    said = refusal(saved)
    assert "is F32 [11, 21], not F32 [11, 20]" in said
    save_policy(saved, card("gpt"), weights)
    assert "unknown network 'gpt'" in refusal(saved)
    save_policy(saved, card(hidden=-1), weights)
    assert "network.config.hidden" in refusal(saved)
    save_policy(saved, card(layers=3), weights)
    assert "network.config.layers" in refusal(saved)


def test_weights_of_another_type_or_with_nan(saved: Path) -> None:
    weights = safetensors.load_file(saved / WEIGHTS)
    safetensors.save_file({name: tensor.double() for name, tensor in weights.items()}, saved / WEIGHTS)
    assert "F64" in refusal(saved)
    weights["actor.bias"][2] = torch.nan
    safetensors.save_file(weights, saved / WEIGHTS)
    assert "'actor.bias' has NaN" in refusal(saved)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "mine.py"}, "observation name 'topdrl', not 'mine.py'"),
        ({"version": 2}, "observation version 1, not 2"),
        ({"actions": 12}, "observation actions 11, not 12"),
        ({"shapes": {**SHAPES, "jobs": (10, 8)}}, "jobs of shape (10, 9), where there is (10, 8)"),
        ({"shapes": {**SHAPES, "racks": (3,)}}, "racks of shape None"),
    ],
)
def test_another_observation(saved: Path, changed: dict, said: str) -> None:
    assert said in refusal(saved, SEEN.model_copy(update=changed))


def test_a_card_that_was_meddled_with(saved: Path) -> None:
    text = (saved / CARD).read_text()
    (saved / CARD).write_text(text.replace("- 64\n", "- 32\n"))
    assert "observation_sha256" in refusal(saved)
    (saved / CARD).write_text(text + "colour: blue\n")
    assert re.search(r"policy.yaml:\d+: unknown key 'colour'", refusal(saved))
    (saved / CARD).write_text("format: [1")
    assert "not valid YAML" in refusal(saved)


@pytest.mark.parametrize(("format", "said"), [(0, "an older Pointsman"), (2, "a newer Pointsman")])
def test_another_format(saved: Path, format: int, said: str) -> None:
    """Even where nothing else in it is as it is now."""
    (saved / CARD).write_text(f"format: {format}\npolicy: deeprm\n")
    assert f"{said} (format {format}; this one reads 1)" in refusal(saved)


def test_what_is_not_there(saved: Path) -> None:
    (saved / WEIGHTS).unlink()
    assert WEIGHTS in refusal(saved)
    (saved / CARD).unlink()
    assert CARD in refusal(saved)
    assert "no such directory" in refusal(saved / "none")


def test_the_card_is_plain_yaml(saved: Path) -> None:
    import yaml

    read = yaml.safe_load((saved / CARD).read_text())
    assert read["observation"]["shapes"]["cluster"] == [20, 64] and read["format"] == 1
    assert read_card(saved).network.name == "deeprm"
