"""Stable-Baselines3 takes our environments; ours learns as well as sb3-contrib's MaskablePPO, in no more steps."""

from typing import Any

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
sb3 = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed (make learn)")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

from pointsman.learn.algorithms.ppo import Ppo, PpoConfig  # noqa: E402
from pointsman.learn.algorithms.rollout import Rollout  # noqa: E402
from pointsman.learn.environments import Generated, PickJobEnv, PickJobVectorEnv  # noqa: E402
from tests.learn.small_network import CPU, tiny_network, tiny_ppo  # noqa: E402
from tests.learn.toy_environments import GAMMA, Corridor  # noqa: E402

SETTING: dict[str, Any] = {
    "cluster": "2x4", "workload": Generated("topdrl", 40, None), "observation": "vector", "rate_model": "tree",
    "assign_models": 0, "horizon_s": 7200.0, "episodes": 16, "hold": 0.0, "slots": 6,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Your observation .* has an unconventional shape")  # matrices: sb3 flattens them
@pytest.mark.parametrize("kind", ["PickJob", "PlaceJob", "PlaceGang"])
def test_their_checks_pass_and_they_find_the_masks(kind: str) -> None:
    env = gymnasium.make(
        f"pointsman.gym:pointsman/{kind}-v0", workload=Generated("topdrl", 40, 2.0), episodes=2, horizon_s=None,
        reward="jobs",
    )  # fmt: skip
    check_env(env.unwrapped)
    assert is_masking_supported(env.unwrapped)
    worlds = make_vec_env(lambda: env, 1, seed=0)
    assert is_masking_supported(worlds)
    seen = worlds.reset()
    for _ in range(30):
        masks = get_action_masks(worlds)
        assert masks.dtype == bool and np.array_equal(masks, seen["action_mask"] != 0)
        seen, _, _, _ = worlds.step(masks.argmax(1))


def theirs(world: Any, config: PpoConfig, gamma: float, steps: int, seed: int) -> float:
    """Mean return of the last 100 episodes of MaskablePPO with the same numbers as ours."""
    model = sb3.MaskablePPO(
        "MultiInputPolicy", make_vec_env(world, n_envs=config.num_envs, seed=seed), n_steps=config.steps,
        batch_size=config.minibatch, n_epochs=config.epochs, learning_rate=config.learning_rate, gamma=gamma,
        gae_lambda=config.trace, ent_coef=config.entropy_weight, clip_range=config.clip, seed=seed, device="cpu",
        policy_kwargs={"net_arch": [64], "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    model.learn(steps)
    return float(np.mean([episode["r"] for episode in model.ep_info_buffer]))


def ours(ppo: Ppo, steps: int) -> float:
    """The same of ours."""
    returns: list[float] = []
    for k in range(updates := steps // ppo.batch.actions.size):
        ppo.iterate(k / updates)
        returns += ppo.rollout.take_episodes().returns
    return float(np.mean(returns[-100:]))


@pytest.mark.slow
def test_in_a_corridor() -> None:
    config = PpoConfig(num_envs=8, steps=64, minibatch=128, learning_rate=3e-3, annealed=False)
    steps = 6144
    mine, reference = ours(tiny_ppo(Corridor, config), steps), theirs(Corridor, config, GAMMA, steps, seed=0)
    assert mine > 0.95 and mine >= reference - 0.02, (mine, reference)


@pytest.mark.slow
def test_in_scheduling() -> None:
    """The mean of three seeds each; what is left of the episode when it is cut counts for both."""
    config = PpoConfig(num_envs=8, steps=128, minibatch=256, learning_rate=1e-3, annealed=False)
    steps = 40_960
    mine, reference = [], []
    for seed in range(3):
        rollout = Rollout(PickJobVectorEnv(config.num_envs, **SETTING), config.gamma)
        mine.append(ours(Ppo(config, tiny_network(rollout, seed), rollout, seed, CPU), steps))
        reference.append(theirs(lambda: PickJobEnv(**SETTING), config, 0.99, steps, seed))
    assert np.mean(mine) >= np.mean(reference) - 0.02 * abs(np.mean(reference)), (mine, reference)
