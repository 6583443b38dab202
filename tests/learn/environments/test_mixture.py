"""Environments of several settings in step are the same as each for itself."""

import numpy as np
import pytest

from pointsman.errors import UsageError
from pointsman.learn.environments import Generated, PickJobVectorEnv
from pointsman.learn.environments.mixture import Mixture

from .small_environments import same

CLUSTERS = ("2x2", "3x4/rack=2")
JOBS = Generated("topdrl", jobs=20)


def parts(**keywords: object) -> list[PickJobVectorEnv]:
    fixed = {"workload": JOBS, "observation": "vector", "episodes": 3, "horizon_s": 3000.0}
    return [PickJobVectorEnv(2, cluster=cluster, **{**fixed, **keywords}) for cluster in CLUSTERS]  # ty: ignore


def test_each_part_goes_its_own_way() -> None:
    together, alone = Mixture(parts()), parts()
    seen, info = together.reset(seed=5)
    firsts = [alone[0].reset(seed=5), alone[1].reset(seed=7)]
    rng, ended = np.random.default_rng(0), 0
    for _ in range(300):
        for k, (own, own_info) in enumerate(firsts):
            cut = slice(2 * k, 2 * k + 2)
            assert same(own, {name: part[cut] for name, part in seen.items()})
            assert (own_info["discount"] == info["discount"][cut]).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in seen["action_mask"]])
        seen, rewards, terminated, truncated, info = together.step(actions)
        steps = [part.step(actions[2 * k : 2 * k + 2]) for k, part in enumerate(alone)]
        assert rewards.tolist() == [reward for step in steps for reward in step[1].tolist()]
        over = terminated | truncated
        assert over.tolist() == [one for step in steps for one in (step[2] | step[3]).tolist()]
        if over.any():
            assert info["_episode_metrics"].tolist() == over.tolist()
            for k, step in enumerate(steps):
                for name, column in step[4].get("episode_metrics", {}).items():
                    assert (info["episode_metrics"][name][2 * k : 2 * k + 2] == column).all()
        firsts = [(step[0], step[4]) for step in steps]
        ended += int(over.sum())
    assert ended > 4


def test_episodes_asked_for_are_shared_out() -> None:
    together = Mixture(parts())
    _, info = together.reset(seed=0, options={"episodes": [2, 1, 0, 2]})
    assert info["episode_index"].tolist() == [2, 1, 0, 2]


def test_what_sees_other_things_cannot_be_mixed() -> None:
    with pytest.raises(UsageError, match="differ in what is seen"):
        Mixture([parts()[0], parts(slots=3)[1]])
