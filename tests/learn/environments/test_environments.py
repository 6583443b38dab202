"""The environments keep Gymnasium's rules, are the same single and in numbers, and never refuse what they allow."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import pointsman
from pointsman.errors import UsageError
from pointsman.learn.environments import (
    Generated,
    PickJobEnv,
    PickJobVectorEnv,
    PlaceJobEnv,
    PlaceJobVectorEnv,
)

from .small_environments import any_valid, crowded, listed, same

ROOT = Path(__file__).parents[3]
SOURCES = str(Path(pointsman.__file__).parents[1])
KINDS = {"pick": (PickJobEnv, PickJobVectorEnv), "place": (PlaceJobEnv, PlaceJobVectorEnv)}
CASES = [
    ("pick", {"observation": "topdrl"}),
    ("pick", {"observation": "vector", "gpus": "consolidated", "reward": "jobs", "horizon_s": None}),
    ("pick", {"observation": "vector", "gpus": "random", "reward": "slowdown", "rate_model": "tree"}),
    ("pick", {"observation": "graph", "cluster": "130x1/rack=2", "workload": crowded(count=60)}),
    ("place", {"observation": "proximity"}),
    ("place", {"observation": "vector", "cluster": "20x4/rack=4", "picker": "tetris"}),
]


def short(**keywords: Any) -> dict[str, Any]:
    return {"workload": crowded(), "episodes": 3, "horizon_s": 6000.0, **keywords}


@pytest.mark.parametrize("kind", ["PickJob", "PlaceJob", "PlaceGang"])
def test_gymnasiums_own_checks_pass(kind: str) -> None:
    """Those of each way to render, too: they need what `make` notes."""
    check_env(gymnasium.make(f"pointsman.gym:pointsman/{kind}-v0", **short()).unwrapped)


BY_ID = """
import sys
import gymnasium
import pointsman.gym
assert not any(name in sys.modules for name in ("numba", "polars", "torch"))
for kind in ("PickJob", "PlaceJob"):
    for module in ("", "pointsman.gym:"):
        one = gymnasium.make(f"{module}pointsman/{kind}-v0", episodes=1, horizon_s=600.0)
        print(type(one.unwrapped).__name__)
    mode = "vector_entry_point"
    some = gymnasium.make_vec(f"pointsman/{kind}-v0", 2, vectorization_mode=mode, episodes=1, horizon_s=600.0)
    print(type(some).__name__, some.num_envs)
assert not any(name in sys.modules for name in ("torch", "pettingzoo"))
"""


def test_gymnasium_makes_them_by_their_ids() -> None:
    env = os.environ | {"PYTHONPATH": SOURCES}
    done = subprocess.run([sys.executable, "-W", "error", "-c", BY_ID], env=env, capture_output=True, text=True)
    names = ["PickJobEnv", "PickJobEnv", "PickJobVectorEnv 2", "PlaceJobEnv", "PlaceJobEnv", "PlaceJobVectorEnv 2"]
    assert done.stdout.split("\n")[:-1] == names, done.stderr


@pytest.mark.parametrize(("kind", "keywords"), CASES)
def test_many_at_once_are_as_one_by_one(kind: str, keywords: dict[str, Any]) -> None:
    """Two threads; several episodes each, with the same actions: the same, to the byte."""
    one, many = KINDS[kind]
    envs = many(5, threads=2, **short(**keywords))
    singles = [one(**short(**keywords)) for _ in range(5)]
    seen, info = envs.reset(seed=3)
    alone = [env.reset(seed=3 + i) for i, env in enumerate(singles)]
    rng, over, episodes = np.random.default_rng(0), np.zeros(5, bool), 0
    for _ in range(1200):
        for i, (own, own_info) in enumerate(alone):
            assert same(own, {name: part[i] for name, part in seen.items()})
            assert own_info["episode_index"] == info["episode_index"][i]
            assert own_info["discount"] == info["discount"][i]
        actions = any_valid(seen["action_mask"], rng)
        seen, rewards, terminated, truncated, info = envs.step(actions)
        for i, env in enumerate(singles):
            if over[i]:  # NEXT_STEP: this step has begun the next episode
                assert (rewards[i], terminated[i], truncated[i]) == (0.0, False, False)
                alone[i] = env.reset()
                continue
            own, reward, ended, cut, own_info = env.step(actions[i])
            assert (reward, ended, cut) == (rewards[i], terminated[i], truncated[i])
            alone[i] = own, own_info
            if ended or cut:
                metrics = {name: column[i] for name, column in info["episode_metrics"].items()}
                assert info["_episode_metrics"][i] and metrics == own_info["episode_metrics"]
        over = terminated | truncated
        episodes += int(over.sum())
    assert episodes >= 5
    envs.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_the_episode_before(kind: str) -> None:
    """An episode cut in the middle, and another, and then the first again: as it was in a new environment."""

    def played(env: Any) -> list[bytes]:
        rng, found, over = np.random.default_rng(1), [], False
        seen, _ = env.reset(options={"episode": 2})
        while not over:
            seen, reward, terminated, truncated, info = env.step(any_valid(seen["action_mask"], rng))
            over = terminated or truncated
            found += [b"".join(part.tobytes() for part in seen.values()), np.float64(reward).tobytes()]
        return [*found, env.outcomes.tobytes(), str(info["episode_metrics"]).encode()]

    env, new = KINDS[kind][0](**short(gpus="random")), KINDS[kind][0](**short(gpus="random"))
    for episode, steps in ((1, 33), (0, 25), (2, 31)):
        seen, _ = env.reset(options={"episode": episode})
        for _ in range(steps):
            seen = env.step(int(seen["action_mask"].argmax()))[0]
    assert played(env) == played(new)


def test_the_vector_environment_keeps_the_rules() -> None:
    envs = PickJobVectorEnv(4, **short())
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    seen, info = envs.reset(seed=[7, 8, 9, 7])
    assert envs.observation_space.contains(seen)
    assert envs.single_observation_space.contains({name: part[0] for name, part in seen.items()})
    assert np.array_equal(seen["action_mask"], info["action_mask"])
    assert info["episode_index"][0] == info["episode_index"][3]
    kept = {name: part.copy() for name, part in seen.items()}
    envs.step(np.zeros(4, np.int64))
    assert same(kept, seen), "what was given is not written to"
    assert envs.reset(options={"episodes": [2, 1, 0, 2]})[1]["episode_index"].tolist() == [2, 1, 0, 2]


def test_gymnasiums_wrappers_take_it() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(PickJobVectorEnv(2, **short()))
    seen, _ = envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(300):
        seen, _, terminated, truncated, info = envs.step(any_valid(seen["action_mask"], rng))
        if (terminated | truncated).any():
            over = info["_episode"]
            assert info["episode"]["r"][over] == pytest.approx(info["episode_metrics"]["return"][over], rel=1e-5)
            return
    raise AssertionError("no episode ended")


PARITY = """
import hashlib, sys
import numpy as np
from tests.learn.environments.small_environments import any_valid, crowded
from tests.learn.environments.test_environments import CASES, KINDS, short
digest, rng = hashlib.sha256(), np.random.default_rng(0)
for kind, keywords in CASES:
    envs = KINDS[kind][1](3, **short(**keywords))
    seen, _ = envs.reset(seed=11)
    for _ in range(5):
        seen, rewards, terminated, truncated, info = envs.step(any_valid(seen["action_mask"], rng))
        for part in (*seen.values(), rewards, terminated, truncated, info["discount"]):
            digest.update(np.ascontiguousarray(part).tobytes())
print(digest.hexdigest())
"""


def test_the_same_seed_gives_the_same_bytes_with_the_jit_on_and_off() -> None:
    printed = []
    for jit in ("0", "1"):
        env = os.environ | {"PYTHONPATH": os.pathsep.join([SOURCES, str(ROOT)]), "NUMBA_DISABLE_JIT": jit}
        done = subprocess.run([sys.executable, "-c", PARITY], env=env, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1] and len(printed[0]) == 65


@pytest.mark.parametrize("kind", KINDS)
def test_masks_are_never_violated(kind: str) -> None:
    """A million random valid steps: the engine refuses none, and none is taken for another."""
    steps = 1_000_000 if not os.environ.get("NUMBA_DISABLE_JIT") else 5_000
    size = 250
    workload = Generated("philly", jobs=60, load=4.0, widest=32)
    envs = KINDS[kind][1](size, copy=False, observation="vector", workload=workload, episodes=16, horizon_s=None)
    seen, _ = envs.reset(seed=0)
    rng, invalid, episodes = np.random.default_rng(0), 0.0, 0
    for _ in range(steps // size):
        actions = any_valid(seen["action_mask"], rng)
        seen, _, terminated, truncated, info = envs.step(actions)
        if "episode_metrics" in info:
            invalid += info["episode_metrics"]["invalid_actions"].sum()
            assert (info["episode_metrics"]["jobs_ended"][terminated] == 60).all()
            episodes += int(terminated.sum())
        assert not truncated.any()
    assert (envs.refused, invalid) == (0, 0.0)
    assert episodes > size or steps < 10_000


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"reward": "throughput", "horizon_s": None}, "adds up to the same whatever is done"),
        ({"reward": "jbos"}, "did you mean 'jobs'?"),
        ({"observation": "topdlr"}, "did you mean 'topdrl'?"),
        ({"observation": "nowhere.py"}, "nowhere.py: no such file"),
        ({"gpus": "closest"}, "there is no GPU picker 'closest'"),
        ({"picker": "lifo"}, "there is no picker 'lifo'"),
        ({"estimate": "history"}, "is learnt in a run"),
        ({"slots": 0}, "slots = 0: it must be a whole number from 1 to 64"),
        ({"gamma": 1.5}, "gamma 1.5"),
        ({"horizon_s": -1.0}, "horizon_s = -1.0"),
        ({"rate_model": "iterations"}, "leave out the rate model 'iterations'"),
        ({"assign_models": -1}, "assign_models: must be greater than or equal to 0, not -1"),
    ],
)
def test_what_makes_no_sense_is_refused(keywords: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        PickJobEnv(**{"workload": listed((0.0, 1, 1.0)), "episodes": 1, **keywords})


def test_without_pettingzoo_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "pointsman.learn.environments.parallel"
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(UsageError, match="PlaceGangParallelEnv needs pettingzoo: pip install pettingzoo"):
        import_module(module)


def test_more_nodes_than_places_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 128 nodes; the cluster has 200"):
        PlaceJobEnv(cluster="200x8", workload=listed((0.0, 1, 1.0)), episodes=1)
