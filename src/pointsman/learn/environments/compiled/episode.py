"""Episodes in compiled code: N simulations go on to their next decisions in one call. A unit of every module of choices
(`picking`, `choosing`, `gangs`); the loop calls the hooks of `bookkeeping` by their addresses.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pointsman.engine.sdk.environments import (
    ADVANCE,
    COMMIT,
    DONE,
    NEVER,
    OK,
    Int,
    State,
    call_apart,
    cold,
    core,
    empty_heap,
    exported,
    instant,
    next_time,
    open_state,
    open_world,
)
from pointsman.learn.environments.compiled.bookkeeping import waits_no_more
from pointsman.learn.environments.compiled.columns import (
    ADDRESS,
    ELAPSED,
    EPISODE,
    FLOWING,
    HORIZON,
    NEXT,
    OVER,
    REFUSED,
    REWARD,
    REWARDING,
    STARTING,
    TERMINATED,
    TRACE_AT,
    TRUNCATED,
    TURN,
    memory,
    params,
)
from pointsman.learn.environments.compiled.distance import cost, nearness

Function = Callable[..., Any]
GOES_ON, DRAINED, CUT, FAILED = 0, 1, 2, 3
"""How letting time pass ended: with a choice, with all jobs done, at the horizon, or a factor failed."""


@core
def _pass_time(S: State, until: Int, answer: np.ndarray) -> None:
    """Nothing changes until `until` ms: reward and work add up, the reward worth less the longer after the action."""
    elapsed = until - S.g[0].now
    decay = params(S).decay
    worth = np.float64(elapsed)
    if decay > 0.0:
        worth = math.exp(-decay * answer[ELAPSED]) * (1.0 - math.exp(-decay * elapsed)) / decay
    answer[REWARD] += memory(S).sums.flow * worth / params(S).tau_ms
    answer[ELAPSED] += elapsed
    memory(S).episode.work += memory(S).sums.run_rate * elapsed


@core
def _clear(sums: Any) -> None:
    for i in range(sums.shape[0]):
        sums[i] = 0.0


@cold
def _renew(
    e: Int, sims: np.ndarray, states: np.ndarray, first: np.ndarray, episodes: np.ndarray, k: Int, at: Int
) -> None:
    """Simulation `e` is as before its first event, with the jobs of episode `k`."""
    address = sims[e, ADDRESS]
    S = open_state(address)
    for j in range(S.g[0].slots):
        S.jobs[j].dirty = 0
    _clear(memory(S).sums.as_numbers)
    _clear(memory(S).episode.as_numbers)
    for i in range(first.shape[0]):
        states[e, i] = first[i]
    for i in range(1, episodes.shape[1]):
        states[e, at + i - 1] = episodes[k, i]
    memory(S).draws.seed = k
    memory(S).draws.count = 0
    S.g[0].address = address
    empty_heap(open_world(address))
    open_world(address).clock[0].jobs = episodes[k, 0]


@core
def _valid(S: State, action: Int, mask: np.ndarray) -> Int:
    """`action` if it is allowed; else, and it is counted, to wait, or the first that is allowed."""
    last = np.int64(mask.shape[0] - 1)
    if 0 <= action <= last and mask[action] != 0:
        return action
    memory(S).episode.invalid_actions += 1.0
    if mask[last] != 0:
        return last
    for i in range(last):
        if mask[i] != 0:
            return np.int64(i)
    return last


def step_of(choice: ModuleType) -> tuple[Function, Function]:
    """How a simulation goes on after an action, and to its next choice, where agents choose by the module `choice`."""
    act, is_choice, look, waits = choice.act, choice.is_choice, choice.look, choice.waits

    @cold
    def go_on(address: Int, window: np.ndarray, mask: np.ndarray, answer: np.ndarray, rules: np.ndarray) -> Int:
        """Let time pass until there is a choice, or the episode is over."""
        S = open_state(address)
        W = open_world(address)
        while True:
            if instant(S, np.int64(COMMIT), np.int64(0)) != DONE:
                return np.int64(FAILED)
            call_apart(rules[REWARDING], address, np.int64(FLOWING), np.int64(-1))
            t = next_time(S, W)
            if t > rules[HORIZON] or t >= NEVER:
                drained = t >= NEVER and W.clock[0].ended == W.clock[0].jobs
                end = S.g[0].now if drained else rules[HORIZON]
                _pass_time(S, end, answer)
                S.g[0].now = end
                look(S, window, mask, rules)
                return np.int64(DRAINED if drained else CUT)
            _pass_time(S, t, answer)
            instant(S, np.int64(ADVANCE), t)
            if is_choice(S, window, mask, rules):
                return np.int64(GOES_ON)

    @core
    def carry_out(S: State, address: Int, action: Int, window: np.ndarray, rules: np.ndarray) -> bool:
        """Do what the agent chose; whether the engine agreed."""
        j, reason = act(S, window, action, rules)
        if j < 0:
            return True
        if reason != OK:
            return False
        waits_no_more(S, j)
        episode = memory(S).episode
        episode.jobs_started += 1.0
        episode.cost += cost(S, j)
        episode.nearness += nearness(S, j)
        episode.gangs_started += 1.0 if S.jobs[j].gpus > 1 else 0.0
        call_apart(rules[REWARDING], address, np.int64(STARTING), j)
        return True

    @core
    def step_one(
        e: Int, sims: np.ndarray, action: Int, window: np.ndarray, mask: np.ndarray, answer: np.ndarray,
        rules: np.ndarray,
    ) -> None:  # fmt: skip
        """Simulation `e` does `action` and goes on to its next decision."""
        address = sims[e, ADDRESS]
        S = open_state(address)
        answer[REWARD] = 0.0
        answer[ELAPSED] = 0.0
        action = _valid(S, action, mask)
        passed = waits(action, window, mask)
        if not passed and not carry_out(S, address, action, window, rules):
            sims[e, REFUSED] += 1
            passed = True  # else it would be asked the same for ever
        end = np.int64(GOES_ON)
        if passed or not is_choice(S, window, mask, rules):
            end = go_on(address, window, mask, answer, rules)
        M = memory(S)
        answer[REWARD] += M.sums.granted
        M.sums.granted = 0.0
        M.episode.reward += answer[REWARD]
        M.episode.steps += 1.0
        answer[TERMINATED] = 1.0 if end == DRAINED else 0.0
        answer[TRUNCATED] = 1.0 if end == CUT else 0.0
        sims[e, OVER] = 1 if end != GOES_ON else 0

    return step_one, go_on


def unit_of(choice: ModuleType) -> list[Function]:
    """Steps and beginnings of all simulations, where agents choose by the module `choice`."""
    step_one, go_on = step_of(choice)

    @cold
    def begin_one(
        e: Int, sims: np.ndarray, states: np.ndarray, first: np.ndarray, episodes: np.ndarray, orders: np.ndarray,
        window: np.ndarray, mask: np.ndarray, answer: np.ndarray, rules: np.ndarray,
    ) -> None:  # fmt: skip
        """Simulation `e` begins its next episode and goes on to its first decision."""
        k = sims[e, NEXT]
        if k < 0:
            k = orders[e, sims[e, TURN] % orders.shape[1]]
            sims[e, TURN] += 1
        sims[e, NEXT] = -1
        sims[e, EPISODE] = k
        _renew(e, sims, states, first, episodes, k, rules[TRACE_AT])
        end = go_on(sims[e, ADDRESS], window, mask, answer, rules)
        sims[e, OVER] = 1 if end == FAILED else 0
        for i in range(answer.shape[0]):
            answer[i] = 0.0

    @exported(
        "void(int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], "
        "int8[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64, int64)",
        releases_gil=True,
    )
    def step_all(
        sims: np.ndarray, states: np.ndarray, first: np.ndarray, episodes: np.ndarray, orders: np.ndarray,
        actions: np.ndarray, windows: np.ndarray, masks: np.ndarray, answers: np.ndarray, metrics: np.ndarray,
        rules: np.ndarray, begin: Int, end: Int,
    ) -> None:  # fmt: skip
        """Simulations `begin` to before `end` do their actions; those that are over begin anew (NEXT_STEP)."""
        for e in range(begin, end):
            if sims[e, OVER] != 0:
                begin_one(e, sims, states, first, episodes, orders, windows[e], masks[e], answers[e], rules)
                continue
            step_one(e, sims, actions[e], windows[e], masks[e], answers[e], rules)
            if sims[e, OVER] != 0:
                episode = memory(open_state(sims[e, ADDRESS])).episode.as_numbers
                for i in range(episode.shape[0]):
                    metrics[e, i] = episode[i]

    @exported(
        "void(int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int8[:, ::1], "
        "float64[:, ::1], int64[::1])",
        releases_gil=True,
    )
    def begin_all(
        sims: np.ndarray, states: np.ndarray, first: np.ndarray, episodes: np.ndarray, orders: np.ndarray,
        windows: np.ndarray, masks: np.ndarray, answers: np.ndarray, rules: np.ndarray,
    ) -> None:  # fmt: skip
        """All simulations whose OVER says so begin their next episode."""
        for e in range(sims.shape[0]):
            if sims[e, OVER] != 0:
                begin_one(e, sims, states, first, episodes, orders, windows[e], masks[e], answers[e], rules)

    return [step_all, begin_all]
