"""MaskablePPO of sb3-contrib learns to schedule: ``python examples/training/with_sb3.py [STEPS] [SEED]``."""

import numpy as np
from sb3_contrib import MaskablePPO
from scheduling import Seen, make_env, report, steps_and_seed
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

GAMMA = 0.9


def train(steps: int, seed: int) -> tuple[MaskablePPO, VecNormalize]:
    envs = VecNormalize(
        make_vec_env(make_env, n_envs=8, seed=seed),
        norm_obs_keys=["jobs", "globals"],  # not the mask
        gamma=GAMMA,
    )
    model = MaskablePPO(
        "MultiInputPolicy", envs, n_steps=256, batch_size=256, n_epochs=5, gamma=GAMMA, ent_coef=0.01,
        learning_rate=lambda left: 1e-3 * left, seed=seed, device="cpu",
    )  # fmt: skip
    return model.learn(steps), envs


if __name__ == "__main__":
    model, envs = train(*steps_and_seed())

    def agent(env: object, seen: Seen) -> int:
        action, _ = model.predict(envs.normalize_obs(seen), action_masks=seen["action_mask"], deterministic=True)
        return int(np.asarray(action))

    report(agent)
