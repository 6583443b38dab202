"""What speaks against a candidate placement: six numbers, each the less the better (ours; ``docs/papers/marl.md``)."""

from typing import Final

import numpy as np

from pointsman.policies.placers.candidates.neighbours import NEIGHBOURS, list_neighbours, rate_before
from pointsman.policies.placers.sockets import broken_sockets
from pointsman.policies.sdk import Int, State, cold, core, rate_beside_others, take_off, try_on, work_done

SLOW_DOWN, HARM, SERVERS, RACKS, LEFT, BROKEN, FEATURES = range(7)
"""Own slow-down, 1 / rate - 1; delay of running jobs, over the job's own work; servers, and racks, beyond the first;
GPUs left over on its servers, in eights; sockets broken, in quarters.
"""
TABLE: Final = 128
"""Where the features of the first candidate begin in State.memory; those of the others follow."""


@core
def _left_ms(S: State, j: Int) -> float:
    """Nominal ms of work that job `j` has left by what is known of its duration, at least 1."""
    J = S.jobs[j]
    done = work_done(S, j) if J.gpus > 0 else J.done
    return max(1.0, J.estimate - done) if J.estimate > 0.0 else 1.0


@core
def _delay(S: State, k: Int, own_ms: float) -> float:
    """Ms by which job `k` ends later if for `own_ms`, or until it ends, it runs at its rate beside the trial."""
    before, beside = rate_before(S, k), S.jobs[k].s0
    if beside >= before:
        return 0.0
    together = min(own_ms, _left_ms(S, k) / before)
    return together * (before - beside) / beside


@core
def _try(S: State, j: Int, at: Int) -> None:
    """Slow-down and harm of job `j` where State.place says."""
    before = try_on(S, j)
    rate = rate_beside_others(S, j)
    many = list_neighbours(S, j)
    for i in range(many):
        k = S.lists[NEIGHBOURS, i]
        S.jobs[k].s0 = rate_beside_others(S, k)
    take_off(S, j, before)
    work = _left_ms(S, j)
    harm = 0.0
    for i in range(many):
        harm += _delay(S, S.lists[NEIGHBOURS, i], work / rate)
    S.memory[at + SLOW_DOWN] = 1.0 / rate - 1.0
    S.memory[at + HARM] = harm / work


@core
def _span(S: State, at: Int) -> None:
    """What State.place says of servers, racks, GPUs and sockets."""
    racks = left = broken = np.int64(0)
    last = np.int64(-1)
    for i in range(S.g[0].placed):
        P = S.place[i]
        N = S.nodes[P.node]
        racks += 1 if N.rack != last else 0
        last = N.rack
        left += N.free - P.gpus
        broken += broken_sockets(S, P.node, P.mask)
    S.memory[at + SERVERS] = S.g[0].placed - 1.0
    S.memory[at + RACKS] = racks - 1.0
    S.memory[at + LEFT] = left / 8.0
    S.memory[at + BROKEN] = broken / 4.0


@cold
def measure(S: State, j: Int, i: Int) -> None:
    """Write the features of candidate `i` of waiting job `j`, whose nodes stand in State.place in the order of their
    index, into State.memory.
    """
    at = np.int64(TABLE + FEATURES * i)
    _try(S, j, at)
    _span(S, at)


@core
def feature(S: State, i: Int, f: Int) -> float:
    """A feature of candidate `i`."""
    return S.memory[TABLE + FEATURES * i + f]


@core
def cost(S: State, i: Int, weights: np.ndarray, at: Int) -> float:
    """Of candidate `i`, by the weights that begin at `at`."""
    total = 0.0
    for f in range(FEATURES):
        total += weights[at + f] * feature(S, i, np.int64(f))
    return total
