"""Steps per second of the learning environments: one through Gymnasium's dictionaries, and many at once.

Of many, those of two threads are by the clock on the wall, for the goals are of two cores; those of one are by
CPU time, for the machine may be shared. Choosing the actions is not counted. The cluster is the default of 32 GPUs, but
for gangs 64 servers of 4 GPUs with links and interference, shared by four schedulers.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measures import Measure, interleaved
from pointsman.learn.environments import (
    Generated,
    PickJobEnv,
    PickJobVectorEnv,
    PlaceGangEnv,
    PlaceGangVectorEnv,
    PlaceJobEnv,
    PlaceJobVectorEnv,
)

MANY = 256
STEPS = {"vector": 1600, "topdrl": 400, "proximity": 400, "gangs": 100}
"""Of all together, a round."""
ALONE = 20_000
THEIRS = Generated("topdrl", load=2.0)
"""Jobs with models, of whom many kinds wait: the window costs as much as all the rest."""
SERVERS: dict[str, Any] = {
    "cluster": "64x4/rack=4,nic=10Gbps,gpu=gtx1080ti",
    "workload": Generated("dl2-1-8", jobs=1500, load=0.9),
    "schedulers": 4,
    "rate_model": "rates",
    "contention": "duty-cycle",
    "factors": {"node_interference": "table"},
}
CASES: tuple[tuple[str, str, dict[str, Any], Any, Any], ...] = (
    ("pick", "vector", {"workload": Generated()}, PickJobEnv, PickJobVectorEnv),
    ("pick-theirs", "vector", {"workload": THEIRS}, PickJobEnv, PickJobVectorEnv),
    ("pick", "topdrl", {"workload": THEIRS}, PickJobEnv, PickJobVectorEnv),
    ("place", "proximity", {"workload": THEIRS}, PlaceJobEnv, PlaceJobVectorEnv),
    ("gang", "gangs", SERVERS, PlaceGangEnv, PlaceGangVectorEnv),
)


def environments() -> Iterator[Measure]:
    """Figures of each kind and observation."""
    for kind, observation, where, one, many in CASES:
        settings = {"observation": observation} | where
        alone = one(**settings)
        envs = [many(MANY, threads=threads, copy=False, **settings) for threads in (1, 2)]
        runs = {
            "single": _alone(alone),
            "by_cpu": _together(envs[0], STEPS[observation], time.process_time),
            "by_wall": _together(envs[1], STEPS[observation], time.perf_counter),
        }
        typical = interleaved(runs)
        name = f"environments/{kind}/{observation}"
        steps = MANY * STEPS[observation]
        yield Measure(f"{name}/single_per_s", ALONE / typical["single"], "steps/s")
        yield Measure(f"{name}/vector_per_cpu_s", steps / typical["by_cpu"], "steps/CPU s")
        yield Measure(f"{name}/vector_per_s", steps / typical["by_wall"], "steps/s")
        yield Measure(f"{name}/vector_of_single", steps / typical["by_cpu"] / (ALONE / typical["single"]))
        for env in envs:
            env.close()


def _alone(env: Any) -> Callable[[], float]:
    def measured() -> float:
        seen, _ = env.reset(seed=0)
        spent = 0.0
        for _ in range(ALONE):
            action = int(seen["action_mask"].argmax())
            began = time.process_time()
            seen, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                seen, _ = env.reset()
            spent += time.process_time() - began
        return spent

    return measured


def _together(
    envs: PickJobVectorEnv | PlaceJobVectorEnv | PlaceGangVectorEnv, steps: int, clock: Callable[[], float]
) -> Callable[[], float]:
    def measured() -> float:
        seen, _ = envs.reset(seed=0)
        spent = 0.0
        for _ in range(steps):
            actions = seen["action_mask"].argmax(1).astype(np.int64)
            began = clock()
            seen, *_ = envs.step(actions)
            spent += clock() - began
        return spent

    return measured
