"""What a choice of PlaceGang is worth: the simulation as it is, copied, goes on from each choice as `scorer` would."""

import numpy as np

from pointsman.engine.sdk.environments import RUNNING, Int, State, cold, core, exported, open_state, work_done
from pointsman.learn.environments.compiled import gangs
from pointsman.learn.environments.compiled.columns import ADDRESS, ELAPSED, OVER, REWARD, params
from pointsman.learn.environments.compiled.episode import step_of
from pointsman.learn.environments.compiled.usual import usual

_step_one, _ = step_of(gangs)


@cold
def _still_to_lose(S: State, before: Int) -> float:
    """Job-ms that running jobs submitted by `before` have still to lose, if they go on at their rates."""
    lost = 0.0
    for j in range(S.g[0].slots):
        J = S.jobs[j]
        if J.state == RUNNING and J.rate > 0.0 and J.submit <= before:
            lost += max(0.0, J.estimate - work_done(S, np.int64(j))) * (1.0 / J.rate - 1.0)
    return lost


@core
def _copy(source: np.ndarray, copy: np.ndarray) -> None:
    for i in range(source.shape[0]):
        copy[i] = source[i]


@exported(
    "void(int64[::1], int64[::1], int8[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int8[:, ::1], "
    "float64[:, ::1], int64[::1], int64[::1], float64[::1], float64, float64[::1])",
    releases_gil=True,
)
def worth_of(
    row: np.ndarray, window: np.ndarray, mask: np.ndarray, sims: np.ndarray, states: np.ndarray, windows: np.ndarray,
    masks: np.ndarray, answers: np.ndarray, rules: np.ndarray, actions: np.ndarray, weights: np.ndarray, span: float,
    worth: np.ndarray,
) -> None:  # fmt: skip
    """Write what each of `actions` is worth in the simulation of which `row` are the words: the rewards of the next
    `span` ms, less what those that run then have still to lose. The copy is simulation 0 of the others.
    """
    S = open_state(sims[0, ADDRESS])
    for k in range(actions.shape[0]):
        _copy(row, states[0])
        _copy(window, windows[0])
        _copy(mask, masks[0])
        S.g[0].address = sims[0, ADDRESS]
        sims[0, OVER] = 0
        began = S.g[0].now
        spent = 0.0
        worth[k] = 0.0
        action = actions[k]
        while spent <= span and sims[0, OVER] == 0:
            _step_one(np.int64(0), sims, action, windows[0], masks[0], answers[0], rules)
            worth[k] += answers[0, REWARD]
            spent += answers[0, ELAPSED]
            if sims[0, OVER] == 0:
                action = usual(S, windows[0, 0], masks[0], weights)
        worth[k] -= _still_to_lose(S, began) / (S.g[0].gpus * params(S).tau_ms)
