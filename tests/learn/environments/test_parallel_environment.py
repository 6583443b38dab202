"""PlaceGang with an agent for each scheduler: PettingZoo's rules, and step for step what PlaceGangEnv does."""

import hashlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed (make learn)")
from pettingzoo.test import parallel_api_test, parallel_seed_test

from pointsman.errors import UsageError
from pointsman.learn.environments import Generated, PlaceGangEnv
from pointsman.learn.environments.compiled.gangs import ACTIONS, WAIT
from pointsman.learn.environments.parallel import PlaceGangParallelEnv

from .small_environments import same


def short(schedulers: int, **keywords: Any) -> dict[str, Any]:
    workload = Generated("dl2-1-8", jobs=25, load=1.2)
    common = {"cluster": "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", "workload": workload, "episodes": 4, "horizon_s": None}
    return {**common, "schedulers": schedulers, "rate_model": "rates", **keywords}


def without(part: str, of: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in of.items() if name != part}


@pytest.mark.parametrize("schedulers", [1, 3])
def test_pettingzoos_own_checks_pass(schedulers: int) -> None:
    parallel_api_test(PlaceGangParallelEnv(**short(schedulers)))
    parallel_seed_test(lambda: PlaceGangParallelEnv(**short(schedulers)))


@pytest.mark.parametrize("valid", [True, False], ids=["valid", "any"])
@pytest.mark.parametrize(
    ("schedulers", "keywords"), [(1, {}), (3, {}), (3, {"horizon_s": 20_000.0}), (3, {"rate_model": "tree"})]
)
def test_it_does_what_one_agent_does_with_the_actions_of_the_owners(
    schedulers: int, keywords: dict[str, Any], valid: bool
) -> None:
    """Three episodes, the later ones without a seed; with valid actions, or with any, of the others too."""
    many, one = (make(**short(schedulers, **keywords)) for make in (PlaceGangParallelEnv, PlaceGangEnv))
    rng, asked = np.random.default_rng(1), set()
    for episode in range(3):
        seed = 7 if episode == 0 else None
        (seen, infos), (own, own_info) = many.reset(seed=seed), one.reset(seed=seed)
        assert many.agents == many.possible_agents == [f"scheduler_{p}" for p in range(schedulers)]
        wrong, over, cut = dict.fromkeys(many.agents, 0), False, False
        while not (over or cut):
            owner = many.possible_agents[own["owner"].argmax()]
            asked.add(owner)
            actions = {}
            for agent in many.agents:
                mask = own["action_mask"] if agent == owner else np.arange(ACTIONS) == WAIT
                check(many, agent, seen[agent], infos[agent], own, own_info, mask)
                choices = np.flatnonzero(mask) if valid else np.arange(-1, ACTIONS + 1)
                action = actions[agent] = int(rng.choice(choices))
                wrong[agent] += not (0 <= action < ACTIONS and mask[action])
            seen, rewards, ends, cuts, infos = many.step(actions)
            own, reward, over, cut, own_info = one.step(actions[owner])
            assert rewards == dict.fromkeys(actions, reward)
            assert (ends, cuts) == (dict.fromkeys(actions, over), dict.fromkeys(actions, cut))
        assert many.agents == [] and many.step({}) == ({}, {}, {}, {}, {})
        assert cut == ("horizon_s" in keywords)
        metrics = own_info["episode_metrics"]
        assert set(infos) == set(wrong) and (sum(wrong.values()) == 0) == valid
        for agent, count in wrong.items():
            assert same(without("action_mask", seen[agent]), without("action_mask", own))
            assert infos[agent]["episode_metrics"] == {**metrics, "invalid_actions": count}
        assert schedulers > 1 or wrong["scheduler_0"] == metrics["invalid_actions"]
        assert (many.single.outcomes == one.outcomes).all() and many.single.refused == 0
    assert asked == set(many.possible_agents)


def check(
    env: PlaceGangParallelEnv, agent: str, seen: Any, info: Any, own: Any, own_info: Any, mask: np.ndarray
) -> None:
    """The agent is told what one agent is told, but for its mask, which is `mask`."""
    assert env.observation_space(agent).contains(seen)
    assert same(seen, {**own, "action_mask": mask.astype(np.int8)})
    assert (info["action_mask"] == mask).all()
    assert without("action_mask", info) == without("action_mask", own_info)


def test_masks_do_not_need_the_owner_in_the_observation() -> None:
    env, gangs = (PlaceGangParallelEnv(**short(3, observation=name)) for name in ("vector", "gangs"))
    (seen, _), (other, _) = env.reset(seed=2), gangs.reset(seed=2)
    while env.agents:
        assert "owner" not in seen["scheduler_0"]
        masks = {agent: part["action_mask"] for agent, part in seen.items()}
        assert same(masks, {agent: part["action_mask"] for agent, part in other.items()})
        actions = {agent: int(mask.argmax()) for agent, mask in masks.items()}
        seen, other = env.step(actions)[0], gangs.step(actions)[0]


def digest(seed: int) -> str:
    """Of all that two episodes tell."""
    env, rng, found = PlaceGangParallelEnv(**short(3)), np.random.default_rng(0), hashlib.sha256()
    for episode in range(2):
        seen, infos = env.reset(seed=seed if episode == 0 else None)
        while env.agents:
            actions = {a: int(rng.choice(np.flatnonzero(part["action_mask"]))) for a, part in seen.items()}
            seen, rewards, *_, infos = env.step(actions)
            for agent, told in seen.items():
                found.update(b"".join(part.tobytes() for part in told.values()))
                found.update(np.float64([rewards[agent], infos[agent]["discount"]]).tobytes())
        found.update(str(infos).encode())
    return found.hexdigest()


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert digest(5) == digest(5) != digest(6)


def test_spaces_are_seeded_one_by_one() -> None:
    env = PlaceGangParallelEnv(**short(2))
    first, second = (env.action_space(agent) for agent in env.possible_agents)
    first.seed(1)
    drawn = [first.sample() for _ in range(8)]
    first.seed(1)
    second.seed(2)
    assert [first.sample() for _ in range(8)] == drawn != [second.sample() for _ in range(8)]


def test_an_episode_of_the_pool_is_asked_for() -> None:
    _, infos = PlaceGangParallelEnv(**short(2)).reset(seed=0, options={"episode": 3})
    assert [info["episode_index"] for info in infos.values()] == [3, 3]


def test_actions_of_other_agents_than_the_live_ones_are_refused() -> None:
    env = PlaceGangParallelEnv(**short(2))
    with pytest.raises(UsageError, match="call reset"):
        env.step({"scheduler_0": WAIT, "scheduler_1": WAIT})
    env.reset(seed=0)
    with pytest.raises(UsageError, match=r"actions of \['scheduler_1'\]: each live agent gives one"):
        env.step({"scheduler_1": WAIT})


def test_it_is_drawn_as_one_agent_sees_it() -> None:
    many = PlaceGangParallelEnv(**short(2), render_mode="ansi")
    one = PlaceGangEnv(**short(2), render_mode="ansi")
    many.reset(seed=3)
    one.reset(seed=3)
    assert many.render() == one.render()
    assert many.metadata["render_modes"] == one.metadata["render_modes"]
