"""Episodes small enough to be worked out by hand: rewards, discounts, masks, and what is counted.

Two GPUs; A wants both for 100 s, B one for 50 s, both at 0; C wants one for 200 s, at 10 s. τ is 100 s, h is 0.1.
B goes first; A does not fit until it ends, C would; A goes then, and C last.
"""

from typing import Any

import numpy as np
import pytest

from pointsman.learn.environments import PickJobEnv, PlaceJobEnv

from .small_environments import Step, listed

A_B_C = listed((0.0, 2, 100.0), (0.0, 1, 50.0), (10.0, 1, 200.0))
B_FIRST, WAIT, A_NEXT, C_LAST = 1, 3, 0, 0


def pick(**keywords: Any) -> PickJobEnv:
    fixed = {"workload": A_B_C, "episodes": 1, "slots": 3, "observation": "vector", "tau_s": 100.0, "gamma": 0.9}
    return PickJobEnv(**{"cluster": "1x2", "horizon_s": 1000.0, **fixed, **keywords})


def play(env: PickJobEnv | PlaceJobEnv, *actions: int) -> list[Step]:
    env.reset(seed=1)
    return [env.step(action) for action in actions]


def test_the_first_decision_is_where_jobs_come() -> None:
    seen, info = pick().reset(seed=1)
    assert seen["action_mask"].tolist() == [1, 1, 0, 0]  # nothing runs: to wait would be for ever
    assert info["action_mask"].tolist() == [1, 1, 0, 0]
    assert (info["discount"], info["elapsed_s"]) == (1.0, 0.0)


def test_time_passes_to_the_next_instant_at_which_a_job_fits() -> None:
    steps = play(pick(), B_FIRST, WAIT, A_NEXT, C_LAST)
    assert [info["elapsed_s"] for *_, info in steps] == [10.0, 40.0, 100.0, 200.0]
    assert [step[0]["action_mask"].tolist() for step in steps[:3]] == [[0, 1, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0]]
    assert [step[2] for step in steps] == [False, False, False, True]
    assert not any(step[3] for step in steps)


def test_the_discount_is_of_the_time_that_passed() -> None:
    steps = play(pick(), B_FIRST, WAIT, A_NEXT, C_LAST)
    assert [info["discount"] for *_, info in steps] == pytest.approx([0.9**0.1, 0.9**0.4, 0.9, 0.9**2])


@pytest.mark.parametrize(
    ("reward", "worth"),
    [
        # per τ: (1 running - 0.1 * 2 waiting) / 2 GPUs; then C waits too; then A runs; then C
        ("throughput", [0.1 * 0.4, 0.4 * 0.35, 1.0 * 0.95, 2.0 * 0.5]),
        # 1/2 - 100/100 (A waits); less 100/200 (C too); 2/2 - 100/200; 1/2
        ("throughput_b", [0.1 * -0.5, 0.4 * -1.0, 1.0 * 0.5, 2.0 * 0.5]),
        # minus the jobs in the system over 2
        ("jobs", [0.1 * -1.0, 0.4 * -1.5, 1.0 * -1.0, 2.0 * -0.5]),
        # minus the waiting jobs over 2, for those that run do so at full speed
        ("delay", [0.1 * -0.5, 0.4 * -1.0, 1.0 * -0.5, 0.0]),
        # A: 100/100 a τ; B: 100/50; C: 100/200
        ("slowdown", [0.1 * -3.0, 0.4 * -3.5, 1.0 * -1.5, 2.0 * -0.5]),
    ],
)
def test_rewards_are_integrals_over_the_time_between_decisions(reward: str, worth: list[float]) -> None:
    steps = play(pick(reward=reward, gamma=1.0), B_FIRST, WAIT, A_NEXT, C_LAST)
    assert [step[1] for step in steps] == pytest.approx(worth)


def test_the_later_a_reward_comes_the_less_it_is_worth() -> None:
    steps = play(pick(reward="throughput"), B_FIRST, WAIT, A_NEXT, C_LAST)
    pairs = [(0.4, 0.1), (0.35, 0.4), (0.95, 1.0), (0.5, 2.0)]  # per τ, and how many of them; ∫ 0.9^t dt
    assert [step[1] for step in steps] == pytest.approx([flow * (1 - 0.9**t) / -np.log(0.9) for flow, t in pairs])


def test_what_flows_at_several_paces_between_two_decisions() -> None:
    env = pick(workload=listed((0.0, 1, 50.0), (10.0, 2, 100.0)), reward="jobs", gamma=0.9)
    (step,) = play(env, 0)
    alone, both = 1 - 0.9**0.1, 0.9**0.1 - 0.9**0.5  # one job in the system for 10 s, two for 40 s
    assert step[1] == pytest.approx(-(0.5 * alone + 1.0 * both) / -np.log(0.9))


def test_the_metrics_of_the_episode() -> None:
    found = play(pick(reward="slowdown", gamma=1.0), B_FIRST, WAIT, A_NEXT, C_LAST)[-1][4]["episode_metrics"]
    slowdowns = [150 / 100, 50 / 50, 340 / 200]
    assert found["return"] == pytest.approx(-sum(slowdowns))
    assert found == pytest.approx(
        {
            "return": -4.2, "steps": 4, "jobs_ended": 3, "jobs_started": 3, "gangs_started": 1, "invalid_actions": 0,
            "span_s": 350, "jct_mean_s": (150 + 50 + 340) / 3, "slowdown_mean": 4.2 / 3, "work_gpu_h": 450 / 3600,
            "throughput_gpu_h_per_h": 450 / 350, "communication_cost_mean": (0.8 + 0.775 + 0.775) / 3,
            "proximity_mean": 0,  # there is but one way to place two GPUs on one node
        }
    )  # fmt: skip


def test_a_job_counts_as_ten_seconds_long_at_least() -> None:
    """Three of 5 s, one after the other: slow-downs of 5 / 10, which counts as 1, 10 / 10 and 15 / 10."""
    short = listed((0.0, 2, 5.0), (0.0, 2, 5.0), (0.0, 2, 5.0))
    steps = play(pick(workload=short, reward="slowdown", gamma=1.0), 0, 0, 0)
    assert [step[1] for step in steps] == pytest.approx([0.05 * -30.0, 0.05 * -20.0, 0.05 * -10.0])
    assert steps[-1][4]["episode_metrics"]["slowdown_mean"] == pytest.approx(3.5 / 3)


def test_at_the_horizon_an_episode_is_cut() -> None:
    *_, last = play(pick(horizon_s=120.0, gamma=1.0), B_FIRST, WAIT, A_NEXT)
    assert (last[2], last[3]) == (False, True)
    assert last[1] == pytest.approx(0.7 * 0.95)
    assert last[4]["elapsed_s"] == 70.0
    assert last[4]["episode_metrics"]["work_gpu_h"] == pytest.approx((50 + 2 * 70) / 3600)
    assert last[0]["action_mask"].tolist() == [0, 0, 0, 1]


def test_what_is_not_allowed_is_waiting_and_counted() -> None:
    env = pick()
    env.reset(seed=1)
    _, _, _, _, info = env.step(WAIT)  # nothing runs, so the first that fits goes: A
    assert info["elapsed_s"] == 100.0
    assert info["action_mask"].tolist() == [1, 1, 0, 0]
    last = [env.step(action) for action in (0, 0)][-1]
    assert last[4]["episode_metrics"]["invalid_actions"] == 1
    assert env.refused == 0


def test_several_jobs_start_at_one_instant() -> None:
    steps = play(pick(workload=listed((0.0, 1, 100.0), (0.0, 1, 50.0)), gamma=1.0), 0, 0)
    assert [(step[1], step[4]["elapsed_s"]) for step in steps] == [(0.0, 0.0), (pytest.approx(0.5 + 0.25), 100.0)]
    assert steps[-1][2]


def test_what_the_vector_shows() -> None:
    env = pick()
    seen, _ = env.reset(seed=1)
    a, b, nobody = seen["jobs"].tolist()
    assert a[:2] == [1.0, 1.0]  # both GPUs
    assert b[:2] == pytest.approx(
        [0.5, 1 / 1.5]
    )  # log2(1 + n), straight between powers of two: 1 of one GPU, 1.5 of two
    assert (a[6:], b[6:], nobody) == ([1.0, 1.0], [1.0, 1.0], [0.0] * 8)
    assert seen["globals"].tolist()[:2] == [1.0, 0.0]
    later = env.step(B_FIRST)[0]
    assert later["globals"].tolist() == pytest.approx([0.5, 0.0, (1 + 0.25) / 8, 1 / 1.5, 0.5, 0.0])
    assert later["jobs"][:, 6].tolist() == [0.0, 1.0, 0.0]


def test_the_images_of_topdrl() -> None:
    """Of four GPUs on two nodes; the longest job there can be wants two, the shortest all."""
    ten_days = 864_000.0
    env = PickJobEnv(
        cluster="2x2/rack=1", workload=listed((0.0, 2, ten_days), (0.0, 4, 1.0)), episodes=1, slots=2, gpus="nearest"
    )
    seen, _ = env.reset(seed=1)
    assert seen["cluster"].sum() == 0.0
    # log2(1 + n), straight between powers of two: 1.5 of 2 GPUs, 2.25 of 4
    assert seen["queue"][:, :8].sum(axis=1) == pytest.approx([8 * 1.5 / 2.25] * 20)
    assert seen["queue"][0, 8:].tolist() == [1.0] * 8
    assert seen["queue"][1:, 8:].sum() == 0.0
    assert seen["topology"].tolist() == np.ones((16, 8)).tolist()
    assert seen["jobs"][0, 2] == 1.0


def test_a_running_job_is_in_the_image_of_the_cluster_until_it_ends() -> None:
    jobs = listed((0.0, 2, 864_000.0), (0.0, 1, 30.0), (0.0, 1, 30.0))
    env = PickJobEnv(cluster="2x2/rack=1", workload=jobs, episodes=1, horizon_s=1e7)
    env.reset(seed=1)
    seen = env.step(0)[0]
    assert seen["cluster"][:, :32].tolist() == np.ones((20, 32)).tolist()
    assert seen["cluster"][:, 32:].sum() == 0.0
    assert seen["topology"].tolist() == [*np.zeros((8, 8)).tolist(), *np.ones((8, 8)).tolist()]
    seen = env.step(0)[0]
    assert seen["cluster"][:, 32:].sum(axis=1).tolist() == [16.0] + [0.0] * 19


def test_the_tree_as_a_graph() -> None:
    """A rack of two nodes of two GPUs, and one of a node; a job of ten days on the first node, one GPU is left."""
    jobs = listed((0.0, 3, 864_000.0), (0.0, 1, 30.0))
    env = PickJobEnv(cluster="3x2/rack=2", workload=jobs, episodes=1, observation="graph", gpus="first-available")
    env.reset(seed=1)
    seen = env.step(0)[0]
    alive = np.flatnonzero(seen["edge_mask"])
    edges = np.rint(seen["edge_index"][:, alive] * 192).astype(int)
    assert edges.T.tolist() == [[0, 128], [1, 128], [2, 129], [128, 192], [129, 192]]
    vertices = {i: seen["node_feat"][i].tolist() for i in np.flatnonzero(seen["node_feat"][:, 3])}
    assert vertices == {
        0: pytest.approx([2 / 6, 0.0, 1.0, 1.0]),
        1: pytest.approx([2 / 6, 0.5, 1.0, 1.0]),
        2: pytest.approx([2 / 6, 1.0, 0.0, 1.0]),
        128: pytest.approx([4 / 6, 0.25, 1.0, 1.0]),
        129: pytest.approx([2 / 6, 1.0, 0.0, 1.0]),
        192: pytest.approx([1.0, 0.5, 1.0, 1.0]),
    }


def place(**keywords: Any) -> PlaceJobEnv:
    jobs = listed((0.0, 2, 100.0), (0.0, 1, 50.0))
    return PlaceJobEnv(**{"cluster": "2x2/rack=1", "workload": jobs, "episodes": 1, "tau_s": 100.0, **keywords})


def test_gpus_are_chosen_until_the_gang_is_complete() -> None:
    env = place()
    seen, _ = env.reset(seed=1)
    assert np.flatnonzero(seen["action_mask"]).tolist() == [0, 1, 2, 3]
    seen, reward, _, _, info = env.step(2)
    assert np.flatnonzero(seen["action_mask"]).tolist() == [0, 1, 3]  # and none may wait with a part of a gang
    assert (reward, info["elapsed_s"]) == (0.0, 0.0)
    assert np.flatnonzero(seen["chosen"]).tolist() == [2]
    assert np.flatnonzero(seen["free"]).tolist() == [0, 1, 2, 3]
    assert seen["job"][2] == pytest.approx(1.0 / 2.25)


@pytest.mark.parametrize(("gpus", "worth"), [((0, 1), 1.0), ((3, 2), 1.0), ((0, 2), 0.0), ((3, 1), 0.0)])
def test_the_reward_is_how_close_they_are(gpus: tuple[int, int], worth: float) -> None:
    steps = play(place(), *gpus)
    assert [step[1] for step in steps] == [0.0, worth]
    mask = steps[-1][0]["action_mask"]
    assert np.flatnonzero(mask).tolist() == [*sorted({0, 1, 2, 3} - set(gpus)), 128]  # the next job; it may wait now


def test_the_first_blocks_and_the_order_is_the_pickers() -> None:
    jobs = listed((0.0, 1, 100.0), (0.0, 4, 50.0), (0.0, 2, 10.0))
    for picker, first in {"fcfs": 1, "sjf": 2, "tetris": 4, "drf": 1}.items():
        env = place(workload=jobs, picker=picker)
        env.reset(seed=1)
        assert env.state.jobs["asked"][env.window[0]] == first
    env = place(workload=jobs)
    seen, *_, info = play(env, 0)[-1]
    assert info["elapsed_s"] == 100.0  # the second wants all four, and the third waits behind it
    assert seen["action_mask"].sum() == 4


def test_nodes_are_chosen_where_there_are_many_gpus() -> None:
    env = place(cluster="20x4/rack=10", workload=listed((0.0, 6, 100.0)), horizon_s=None)
    seen, _ = env.reset(seed=1)
    assert np.flatnonzero(seen["action_mask"]).tolist() == list(range(20))
    seen, *_ = env.step(7)
    assert np.flatnonzero(seen["action_mask"]).tolist() == [n for n in range(20) if n != 7]
    assert seen["chosen"][[6, 7]].tolist() == [0.0, 1.0]
    _, reward, ended, _, _ = env.step(12)  # of the other rack
    assert ended
    least, most = 0.5 + 2 * 0.25, 2 * 0.5 + 6 * 0.25
    assert reward == pytest.approx(1 - (2 * 0.5 + 2 * 0.25 - least) / (most - least))


def test_episodes_come_in_the_order_of_the_seed_or_as_asked_for() -> None:
    env = pick(workload=listed((0.0, 1, 10.0)), episodes=6)
    first = [env.reset(seed=4 if i == 0 else None)[1]["episode_index"] for i in range(8)]
    again = [env.reset(seed=4 if i == 0 else None)[1]["episode_index"] for i in range(8)]
    other = [env.reset(seed=5 if i == 0 else None)[1]["episode_index"] for i in range(8)]
    assert sorted(first[:6]) == list(range(6))
    assert first == again != other
    assert first[6:] == first[:2]
    assert env.reset(options={"episode": 3})[1]["episode_index"] == 3


def test_a_job_that_fits_is_seen_behind_ten_kinds_that_do_not() -> None:
    """Sixteen GPUs, ten of them busy; gangs of 7 to 16 wait since 1 s, a job of one GPU comes at 2 s."""
    wide = [(1.0, gpus, 100.0) for gpus in range(7, 17)]
    env = pick(workload=listed((0.0, 10, 900.0), *wide, (2.0, 1, 50.0)), slots=10, cluster="1x16")
    (step,) = play(env, 0)
    assert step[4]["elapsed_s"] == 2.0
    assert step[0]["action_mask"].tolist() == [0] * 9 + [1, 1]
