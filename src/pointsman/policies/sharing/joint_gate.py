"""Our gate for a job that shares with several: whether all of them together end sooner by it (``semantics.md`` §10)."""

import numpy as np

from pointsman.policies.parts.pair_theorem import alone_ms, remaining
from pointsman.policies.parts.partners import CHOSEN, partner, type_of
from pointsman.policies.sdk import ACCUMULATIONS, Int, State, cold, core, open_state, slow_down


@core
def _slowest(S: State, j: Int, kind: Int, chosen: Int) -> float:
    """How many times as long job `j` takes beside those of the partners that have work left."""
    slow = 1.0
    for i in range(chosen):
        b = S.lists[CHOSEN, i]
        if partner(S, b).left_ms > 0.0:
            slow = max(slow, slow_down(S, j, b, kind))
    return slow


@core
def _first_end(S: State, j: Int, kind: Int, chosen: Int) -> float:
    """Ms until the first of the partners that still share with job `j` ends."""
    first = np.inf
    for i in range(chosen):
        b = S.lists[CHOSEN, i]
        if partner(S, b).left_ms > 0.0:
            first = min(first, partner(S, b).left_ms * slow_down(S, b, j, kind))
    return first


@core
def _together(S: State, j: Int, own: float, kind: Int, chosen: Int) -> float:
    """The sum of the ms until each has ended, if job `j` of `own` ms shares with all partners chosen from now on."""
    now = total = 0.0
    while own > 0.0:
        slow = _slowest(S, j, kind, chosen)
        step = min(own * slow, _first_end(S, j, kind, chosen))
        ends = own * slow <= step
        own = 0.0 if ends else own - step / slow
        now += step
        for i in range(chosen):
            b = S.lists[CHOSEN, i]
            B = partner(S, b)
            if B.left_ms > 0.0:
                need = B.left_ms * slow_down(S, b, j, kind)
                B.left_ms = 0.0 if need <= step else B.left_ms - step / slow_down(S, b, j, kind)
                if B.left_ms == 0.0:
                    total += now
    total += now
    for i in range(chosen):
        left = partner(S, S.lists[CHOSEN, i]).left_ms
        if left > 0.0:
            total += now + left
    return total


@cold
def pays_for_all(address: int, j: Int, a: Int, chosen: Int) -> bool:
    """Whether job `j` and the partners chosen under alternative `a` end sooner, on the whole, if they share at once
    than if it begins when the last of them has ended.
    """
    S = open_state(address)
    kind = type_of(S, a)
    power = np.int64(0)
    last = apart = 0.0
    for i in range(chosen):
        B = partner(S, S.lists[CHOSEN, i])
        B.left_ms = alone_ms(S, S.lists[CHOSEN, i])
        power = max(power, B.power)
        last = max(last, B.left_ms)
        apart += B.left_ms
    left = remaining(S, j)
    own = left * S.subbatches[(S.jobs[j].speed + kind) * ACCUMULATIONS + power].stretch
    return _together(S, j, own, kind, chosen) < apart + last + left
