"""PPO learns with masks and uneven time, by numbers worked out by hand, and the same each time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from pointsman.learn.algorithms.masking import draw, entropy, log_probabilities, of_actions  # noqa: E402
from pointsman.learn.algorithms.ppo import PpoConfig, advantages, clipped_loss  # noqa: E402
from tests.learn.small_network import tiny_ppo  # noqa: E402
from tests.learn.toy_environments import Corridor, Shelf  # noqa: E402

QUICK = PpoConfig(num_envs=8, steps=64, minibatch=128, learning_rate=3e-3)


def slow_advantages(rewards, discounts, values, last, over, trace):
    """By the definition: a sum over what comes, each surprise weighed by what lies between."""
    steps, environments = rewards.shape
    following = np.vstack([values[1:], last[None]])
    out = np.zeros((steps, environments))
    for e in range(environments):
        for t in range(steps):
            weight = 1.0
            for k in range(t, steps):
                out[t, e] += weight * (rewards[k, e] + discounts[k, e] * following[k, e] - values[k, e])
                if over[k, e]:
                    break
                weight *= discounts[k, e] * trace
    return out


def test_advantages_against_the_definition() -> None:
    random = np.random.default_rng(0)
    rewards, values = random.normal(size=(2, 40, 5)).astype(np.float32)
    last = random.normal(size=5).astype(np.float32)
    discounts = (0.99 ** random.exponential(3, (40, 5))).astype(np.float32)
    over = random.random((40, 5)) < 0.15
    ended = over & (random.random((40, 5)) < 0.5)  # the others are only cut off
    discounts[ended] = 0.0
    for trace in (0.0, 0.9, 1.0):
        found = advantages(rewards, discounts, values, last, over, trace)
        assert np.allclose(found, slow_advantages(rewards, discounts, values, last, over, trace), atol=1e-4)


def test_advantages_by_hand() -> None:
    """Two steps; the first takes no time, so nothing of what follows is lost."""
    one = np.ones(1, np.float32)
    rewards, discounts = np.array([[1.0], [2.0]], np.float32), np.array([[1.0], [0.5]], np.float32)
    values, over = np.array([[3.0], [4.0]], np.float32), np.zeros((2, 1), bool)
    found = advantages(rewards, discounts, values, 10 * one, over, 0.5)
    assert found.ravel().tolist() == [1 + 4 - 3 + 0.5 * (2 + 0.5 * 10 - 4), 2 + 0.5 * 10 - 4]


def test_gradient_of_the_clipped_loss_by_hand() -> None:
    """A ratio beyond the clip pulls only where going back would be worth it."""
    change = torch.log(torch.tensor([1.0, 1.5, 1.5, 0.5, 0.5])).requires_grad_()
    gains = torch.tensor([2.0, 2.0, -2.0, 2.0, -2.0])
    clipped_loss(change, gains, 0.2).backward()
    wanted = -torch.tensor([1.0 * 2, 0.0, 1.5 * -2, 0.5 * 2, 0.0]) / 5
    assert change.grad is not None and torch.allclose(change.grad, wanted)


def test_masked_actions_have_no_probability_at_all() -> None:
    logits = 20 * torch.randn(4000, 6, generator=torch.Generator().manual_seed(1))
    mask = torch.rand(4000, 6, generator=torch.Generator().manual_seed(2)) < 0.4
    mask[:, 3] = True
    logs = log_probabilities(logits.requires_grad_(), mask)
    assert (logs.exp()[~mask] == 0).all() and torch.allclose(logs.exp().sum(1), torch.ones(4000))
    actions = draw(logs.detach(), torch.Generator().manual_seed(3))
    assert mask.gather(1, actions[:, None]).all()
    (entropy(logs).sum() + of_actions(logs, actions).sum()).backward()
    assert logits.grad is not None and torch.isfinite(logits.grad).all() and (logits.grad[~mask] == 0).all()


def test_draws_have_their_probabilities() -> None:
    chances = torch.tensor([0.1, 0.0, 0.6, 0.3])
    logs = log_probabilities(chances.log().clamp(min=-50).expand(100_000, 4), chances > 0)
    drawn = torch.bincount(draw(logs, torch.Generator().manual_seed(0)), minlength=4) / 100_000
    assert torch.allclose(drawn, chances, atol=0.006)


@pytest.mark.slow
def test_it_picks_the_fullest_slot() -> None:
    ppo = tiny_ppo(Shelf, QUICK.model_copy(update={"learning_rate": 1e-2, "entropy_weight": 0.0}))
    for k in range(40):
        ppo.iterate(k / 40)
    ppo.rollout.take_episodes()
    for _ in range(4):
        ppo.iterate(1.0)
    episodes = ppo.rollout.take_episodes().returns
    assert len(episodes) > 500
    assert np.mean(episodes) > 0.96  # any slot: 0.72


@pytest.mark.slow
def test_it_finds_its_way_and_what_it_is_worth() -> None:
    ppo = tiny_ppo(Corridor, QUICK)
    for k in range(40):
        ppo.iterate(k / 40)
    ppo.rollout.take_episodes()
    ppo.iterate(1.0)
    episodes = ppo.rollout.take_episodes()
    assert np.mean(episodes.returns) > 0.99 and np.mean(episodes.lengths) < 7
    # cell 7 is one step from the end, cell 4 (the door) four, of which each takes two units of time
    here = torch.eye(9)[[7, 4, 2]]
    with torch.no_grad():
        _, values = ppo.network({"here": here})
    worth = [1.0, 0.95**6, 0.95**8]
    assert torch.allclose(ppo.network.value.returns(values), torch.tensor(worth), atol=0.06)


def test_the_same_seed_gives_the_same_weights_byte_by_byte() -> None:
    def weights(seed: int) -> bytes:
        ppo = tiny_ppo(Corridor, QUICK, seed)
        for k in range(3):
            ppo.iterate(k / 3)
        return b"".join(tensor.numpy().tobytes() for tensor in ppo.network.state_dict().values())

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)
