"""What `scorer` does, where choices are those of PlaceGang."""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, alternative_with_room, cold, core
from pointsman.learn.environments.compiled.gangs import FORWARD, WAIT
from pointsman.policies.placers.candidates.features import features_of
from pointsman.policies.placers.candidates.places import note_candidate
from pointsman.policies.placers.declared import FEATURES, MOST_CANDIDATES
from pointsman.policies.placers.filling import is_compact
from pointsman.policies.placers.waiting.patience import is_patient


@core
def _cost(S: State, i: Int, weights: np.ndarray) -> float:
    """Return the cost of candidate `i`: the weighted sum of its features."""
    total, features = 0.0, features_of(S, i).as_numbers
    for f in range(FEATURES):
        total += weights[f] * features[f]
    return total


@core
def _cheapest(S: State, j: Int, mask: np.ndarray, weights: np.ndarray, compactly: bool) -> Int:
    """The candidate of least cost, perhaps of the compact ones; -1 if there is none."""
    best = np.int64(-1)
    least = np.inf
    for i in range(MOST_CANDIDATES):
        if mask[i] == 0:
            break
        own = _cost(S, np.int64(i), weights)
        if own < least and compactly:
            a = alternative_with_room(S, S.jobs[j].cls)
            note_candidate(S, j, a, np.int64(i))
            if not is_compact(S, a, S.classes[S.jobs[j].cls].gpus):
                continue
        if own < least:
            best = np.int64(i)
            least = own
    return best


@cold
def usual(S: State, j: Int, mask: np.ndarray, weights: np.ndarray) -> Int:
    """What `scorer` with these weights does with job `j`."""
    best = _cheapest(S, j, mask, weights, is_patient(S, j))
    if best >= 0:
        return best
    if mask[FORWARD] != 0:
        return np.int64(FORWARD)
    return np.int64(WAIT) if mask[WAIT] != 0 else _cheapest(S, j, mask, weights, False)
