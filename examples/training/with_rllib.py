"""PPO of RLlib with a masked action space: ``python examples/training/with_rllib.py [STEPS] [SEED]``."""

import os
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import gymnasium
import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Dict
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from scheduling import Seen, make_env, report, steps_and_seed


class ForRllib(gymnasium.ObservationWrapper):
    """What RLlib's module for masks asks for: the mask, and the rest as one vector."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        parts, actions = env.observation_space, int(env.action_space.n)
        size = sum(int(np.prod(parts[name].shape)) for name in ("jobs", "globals"))
        self.observation_space = Dict(
            {"observations": Box(-2.0, 2.0, (size,), np.float32), "action_mask": Box(0.0, 1.0, (actions,), np.float32)}
        )

    def observation(self, seen: Seen) -> Seen:
        return for_rllib(seen)


def for_rllib(seen: Seen) -> Seen:
    vector = np.concatenate([seen["jobs"].ravel(), seen["globals"]])
    return {"observations": 4.0 * (vector - 0.5), "action_mask": seen["action_mask"].astype(np.float32)}


def train(steps: int, seed: int) -> Any:
    register_env("pointsman", lambda _: ForRllib(make_env()))
    config = (
        PPOConfig()
        .environment("pointsman")
        .framework("torch")
        .rl_module(rl_module_spec=RLModuleSpec(ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [64, 64]}))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .training(
            lr=[[0, 1e-3], [steps, 0.0]],
            gamma=0.9,
            lambda_=0.95,
            entropy_coeff=0.01,
            train_batch_size=2048,
            minibatch_size=256,
            num_epochs=5,
            grad_clip=0.5,
            use_kl_loss=False,
            clip_param=0.2,
            vf_clip_param=float("inf"),
        )
        .debugging(seed=seed)
    )
    algorithm = config.build_algo()
    for _ in range(-(-steps // 2048)):
        algorithm.train()
    return algorithm.get_module()


if __name__ == "__main__":
    ray.init(_node_ip_address="127.0.0.1", include_dashboard=False, num_cpus=1, logging_level="error")
    module = train(*steps_and_seed())

    def agent(env: object, seen: Seen) -> int:
        batch = {"obs": {name: torch.as_tensor(part)[None] for name, part in for_rllib(seen).items()}}
        with torch.no_grad():
            return int(module.forward_inference(batch)["action_dist_inputs"].argmax())

    report(agent)
    ray.shutdown()
