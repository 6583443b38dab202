"""A training that is stopped and resumed ends where one that never stopped does; what it writes can be read."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("safetensors", reason="safetensors is not installed (make learn)")
pytest.importorskip("tensorboard", reason="tensorboard is not installed (make learn)")
pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from pointsman.errors import InputError, RunError, UsageError  # noqa: E402
from pointsman.learn.algorithms.ppo import Ppo, PpoConfig  # noqa: E402
from pointsman.learn.algorithms.reinforce import Reinforce, ReinforceConfig  # noqa: E402
from pointsman.learn.algorithms.rollout import Rollout  # noqa: E402
from pointsman.learn.checkpoint import CARD, WEIGHTS, Card, Named, ObservationSpec, read_card  # noqa: E402
from pointsman.learn.config import Config  # noqa: E402
from pointsman.learn.training import METRICS, STATE, TrainingRun, pick_device  # noqa: E402

from .small_network import CPU, Tiny  # noqa: E402
from .toy_environments import Corridor, Shelf, side_by_side  # noqa: E402

KINDS = {
    "ppo": (Ppo, PpoConfig(num_envs=4, steps=33, minibatch=64)),
    "reinforce": (Reinforce, ReinforceConfig(rollouts=4, sequences=2, longest=40)),
}
STEPS = 1000


def training(kind: str, directory: Path, seed: int = 5, world=Corridor) -> TrainingRun:
    learner, config = KINDS[kind]
    rollout = Rollout(side_by_side(world, config.num_envs), config.gamma)
    torch.manual_seed(seed)
    network = Tiny(Config(), rollout.shapes, rollout.actions)
    seen = ObservationSpec(name="corridor", shapes=dict(rollout.shapes), actions=rollout.actions)
    card = Card(
        agent="tiny", network=Named(name="tiny"), observation=seen, observation_sha256=seen.digest,
        algorithm=Named(name=kind), seed=seed, steps=0, pointsman="0",
    )  # fmt: skip
    return TrainingRun(learner(config, network, rollout, seed, CPU), card, directory)


def silently(share: float, label: str) -> None:
    """Say nothing."""


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", KINDS)
def test_resumed_is_as_if_it_had_never_stopped(kind: str, tmp_path: Path) -> None:
    """Stopped twice, once in the middle of an update, it ends with the same bytes and the same metrics."""
    training(kind, tmp_path / "whole").run(STEPS, silently)

    def stop_soon(share: float, label: str) -> None:
        if share > 0.3:
            raise Stop

    with pytest.raises(Stop):
        training(kind, tmp_path / "parts").run(STEPS, stop_soon)
    second = training(kind, tmp_path / "parts", seed=5)
    second.resume()
    assert 0.3 * STEPS < second.steps < STEPS
    _stop_within(second, after=2)
    with pytest.raises(Stop):
        second.run(STEPS, silently)
    third = training(kind, tmp_path / "parts", seed=5)
    third.resume()
    assert third.updates == second.updates
    third.run(STEPS, silently)

    for name in (WEIGHTS, STATE):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes(), name
    assert lines(tmp_path / "whole") == lines(tmp_path / "parts")
    assert read_card(tmp_path / "parts").steps == third.steps >= STEPS


def _stop_within(training: TrainingRun, after: int) -> None:
    """Stop it in the middle of an update, when some are done, the weights half changed."""
    learner = training.learner
    learn, done = learner._learn, []  # ty: ignore

    def interrupted(*given):
        done.append(1)
        found = learn(*given)
        if len(done) > after:
            raise Stop
        return found

    learner._learn = interrupted  # ty: ignore


def lines(directory: Path) -> list[dict]:
    """The metrics, less the time they took, and less episodes that a stop lay in the middle of."""
    rows = [json.loads(line) for line in (directory / METRICS).read_text().splitlines()]
    return [{key: row[key] for key in row if key not in ("steps_per_s",)} for row in rows]


def test_what_it_writes(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    training("ppo", tmp_path, world=Shelf).run(500, lambda share, label: told.append((share, label)))
    assert {path.name.partition(".")[0] for path in tmp_path.iterdir()} == {"policy", "training", "metrics", "events"}
    rows = lines(tmp_path)
    assert [row["steps"] for row in rows] == [132, 264, 396, 528] and [row["updates"] for row in rows] == [1, 2, 3, 4]
    assert all(0 < row["return"] <= 1 and row["length"] == 1 and row["episodes"] > 50 for row in rows)
    assert {"policy_loss", "value_loss", "entropy", "divergence", "clipped", "explained"} <= rows[0].keys()
    assert told[-1][0] == 1.0 and "steps/s, return" in told[-1][1]
    assert read_card(tmp_path).steps == 528

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("return")] == [132, 264, 396, 528]


def test_a_longer_training_goes_on(tmp_path: Path) -> None:
    training("ppo", tmp_path).run(200, silently)
    more = training("ppo", tmp_path)
    more.resume()
    assert more.steps == 264
    more.run(200, silently)  # already done
    assert more.steps == 264
    more.run(600, silently)
    assert more.steps == 660 and len(lines(tmp_path)) == 5


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=CARD):
        training("ppo", tmp_path).resume()
    training("ppo", tmp_path).run(100, silently)
    with pytest.raises(InputError, match=r"policy.yaml: algorithm was name = 'ppo' when this training began"):
        training("reinforce", tmp_path).resume()
    with pytest.raises(InputError, match="seed was 5 when"):
        training("ppo", tmp_path, seed=6).resume()
    (tmp_path / STATE).write_bytes((tmp_path / STATE).read_bytes()[:-10])
    with pytest.raises(InputError, match="broken"):
        training("ppo", tmp_path).resume()
    (tmp_path / STATE).write_bytes((tmp_path / WEIGHTS).read_bytes())
    with pytest.raises(InputError, match="no 'done'"):
        training("ppo", tmp_path).resume()
    assert (tmp_path / CARD).is_file()


def test_nan_is_not_saved(tmp_path: Path) -> None:
    broken = training("ppo", tmp_path)
    learn = broken.learner._learn  # ty: ignore

    def to_nan(*given):
        found = learn(*given)
        return {**found, "value_loss": np.nan} if broken.updates == 2 else found

    broken.learner._learn = to_nan  # ty: ignore
    with pytest.raises(RunError, match="NaN"):
        broken.run(1000, silently)
    again = training("ppo", tmp_path)
    again.resume()
    assert again.updates == 2


def test_devices() -> None:
    assert pick_device("auto").type in ("cpu", "cuda")
    assert pick_device("cpu").type == "cpu"
    with pytest.raises(UsageError, match="--device quantum"):
        pick_device("quantum")


def test_convolutions_go_on_as_they_were_too(tmp_path: Path) -> None:
    """Their weights lie in memory otherwise than they are saved; the optimiser pairs them with its moments there."""
    from pointsman.learn.agents import PRACTICE, recipe
    from pointsman.learn.setup import begin

    practice = {"cluster": "2x4", "jobs": 30, "episodes": 4, "horizon_s": 7200.0}
    made = recipe("topdrl", {"ppo": {"num_envs": 4, "steps": 32, "minibatch": 64}, PRACTICE: practice})
    begin(made, tmp_path / "whole", seed=0, device="cpu").run(512, silently)

    def stop_soon(share: float, label: str) -> None:
        if share >= 0.5:
            raise Stop

    with pytest.raises(Stop):
        begin(made, tmp_path / "parts", seed=0, device="cpu").run(512, stop_soon)
    rest = begin(made, tmp_path / "parts", seed=0, device="cpu")
    rest.resume()
    assert rest.steps == 256
    rest.run(512, silently)
    for name in (WEIGHTS, STATE):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes(), name
