"""Three random schedulers that share a cluster: the one that is asked does anything it may, the others wait."""

import numpy as np

from pointsman.learn.environments import Generated
from pointsman.learn.environments.parallel import PlaceGangParallelEnv

env = PlaceGangParallelEnv(
    cluster="8x4/rack=2",
    schedulers=3,
    workload=Generated("dl2-1-8", jobs=60, load=0.9),
    rate_model="rates",
    horizon_s=None,
    episodes=8,
)
rng = np.random.default_rng(0)
seen, infos = env.reset(seed=0)
decisions = dict.fromkeys(env.agents, 0)
while env.agents:
    asked = env.possible_agents[seen["scheduler_0"]["owner"].argmax()]
    decisions[asked] += 1
    actions = {agent: rng.choice(np.flatnonzero(seen[agent]["action_mask"])) for agent in env.agents}
    seen, rewards, terminated, truncated, infos = env.step(actions)
metrics = infos["scheduler_0"]["episode_metrics"]
print(f"{metrics['jobs_ended']:.0f} jobs, mean completion time {metrics['jct_mean_s']:,.0f} s; decisions {decisions}")
