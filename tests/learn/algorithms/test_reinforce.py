"""REINFORCE learns with masks, and its returns and baselines are those of the definition."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from pointsman.learn.algorithms.reinforce import Reinforce, ReinforceConfig, baseline, discounted  # noqa: E402
from pointsman.learn.algorithms.rollout import Rollout  # noqa: E402
from pointsman.learn.config import Config  # noqa: E402
from tests.learn.small_network import CPU, Tiny  # noqa: E402
from tests.learn.toy_environments import Corridor, Shelf, side_by_side  # noqa: E402

QUICK = ReinforceConfig(rollouts=16, sequences=4, longest=100, learning_rate=5e-3)


def reinforce(world, seed: int = 0, config: ReinforceConfig = QUICK) -> Reinforce:
    rollout = Rollout(side_by_side(world, config.num_envs), config.gamma)
    torch.manual_seed(seed)
    return Reinforce(config, Tiny(Config(), rollout.shapes, rollout.actions), rollout, seed, CPU)


def test_returns_and_baselines_by_hand() -> None:
    rewards, discounts = np.array([[1.0, 2.0], [4.0, 0.0]]), np.array([[0.5, 1.0], [0.0, 0.0]])
    returns = discounted(rewards, discounts)
    assert returns.tolist() == [[1 + 0.5 * 4, 2.0], [4.0, 0.0]]
    assert baseline(returns, 2).tolist() == [[2.5, 2.5], [2.0, 2.0]]
    assert baseline(returns, 1).tolist() == returns.tolist()


def test_rollouts_of_a_sequence_begin_alike() -> None:
    agent = reinforce(Shelf)
    seeds: list[int] = []
    agent.rollout.reset = lambda given: seeds.extend(given)  # ty: ignore
    with pytest.raises(AttributeError):  # nothing was reset
        agent.iterate(0.0)
    assert len(seeds) == 64 and len(set(seeds)) == 4
    agent = reinforce(Shelf)
    agent.rollout.reset(seeds)
    full = agent.rollout.now["full"].reshape(4, 16, -1)
    assert (full == full[:, :1]).all() and len(np.unique(full[:, 0], axis=0)) == 4


@pytest.mark.parametrize(
    ("world", "sequences", "iterations", "enough"),
    [pytest.param(Shelf, 32, 200, 0.95, marks=pytest.mark.slow), (Corridor, 4, 60, 0.97)],
)
def test_it_learns(world, sequences: int, iterations: int, enough: float) -> None:
    agent = reinforce(world, config=QUICK.model_copy(update={"sequences": sequences}))
    for _ in range(iterations):
        agent.iterate(0.0)
    agent.rollout.take_episodes()
    for _ in range(5):
        agent.iterate(0.0)
    returns = agent.rollout.take_episodes().returns
    assert np.mean(returns) > enough


def test_the_same_seed_gives_the_same_weights_byte_by_byte() -> None:
    def weights(seed: int) -> bytes:
        agent = reinforce(Corridor, seed)
        for _ in range(3):
            agent.iterate(0.0)
        return b"".join(tensor.numpy().tobytes() for tensor in agent.network.state_dict().values())

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)
