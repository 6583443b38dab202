"""PickJob: which job of the window starts now, or that none does."""

import numpy as np

from pointsman.engine.sdk.environments import OK, Int, State, core, start, start_on
from pointsman.learn.environments.compiled.columns import CONFIGURED, HOW, memory
from pointsman.learn.environments.compiled.window import can_start, fill_window, may_wait, some_can_start
from pointsman.policies.pickers.gpu_pickers import choose_gpus


@core
def look(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Fill `window` and `mask`, whose last entry is to wait; whether any job of the window can start."""
    n = fill_window(S, window)
    some = False
    for i in range(window.shape[0]):
        can = i < n and can_start(S, window[i])
        mask[i] = can
        some = some or can
    mask[window.shape[0]] = not some or may_wait(S)
    return some


@core
def is_choice(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Do what `look` does, if some waiting job can start; return whether there is a decision to make."""
    return some_can_start(S) and look(S, window, mask, rules)


@core
def waits(action: Int, window: np.ndarray, mask: np.ndarray) -> bool:
    """Whether `action` is to wait."""
    return action == window.shape[0]


@core
def start_by(S: State, j: Int, how: Int) -> Int:
    """Start waiting job `j` on GPUs of picker `how`: OK, or why the engine refused it (-1: too few)."""
    if how == CONFIGURED:
        return start(S, j, OK)
    if not choose_gpus(S, j, how, memory(S).draws):
        return np.int64(-1)
    return start_on(S, j, OK)


@core
def act(S: State, window: np.ndarray, action: Int, rules: np.ndarray) -> tuple[Int, Int]:
    """Start job `action` of the window: the job, and OK or why the engine refused it."""
    return window[action], start_by(S, window[action], rules[HOW])
