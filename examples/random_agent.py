"""A random agent: it picks any job that can start, or waits, and prints the metrics of its episode."""

import gymnasium
import numpy as np

from pointsman.learn.environments import Generated

env = gymnasium.make(
    "pointsman.gym:pointsman/PickJob-v0",
    cluster="8x4/rack=4",
    workload=Generated("topdrl", jobs=60, load=2.0),
    observation="vector",
    reward="jobs",
    horizon_s=None,
    episodes=8,
)
rng = np.random.default_rng(0)
seen, info = env.reset(seed=0)
over = False
while not over:
    action = rng.choice(np.flatnonzero(info["action_mask"]))
    seen, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
metrics = info["episode_metrics"]
print(f"{metrics['jobs_ended']:.0f} jobs, mean completion time {metrics['jct_mean_s']:,.0f} s")
