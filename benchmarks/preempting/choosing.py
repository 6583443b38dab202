"""`gittins` with a choice at each offer: to do as it does, to let the job wait, to preempt nobody for it, or to preempt
for it what `gittins` would not.

The choices are numbered; one can be made otherwise by its number (`TARGET`, `ACTION`), as in the copies in which they
are tried.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pointsman.policies.dally import gittins
from pointsman.policies.dally.declared import Gittins, GittinsMemory
from pointsman.policies.dally.gittins import on_event, on_run
from pointsman.policies.dally.offering import offer
from pointsman.policies.parts.moving import improve_places
from pointsman.policies.parts.offers import accepted, next_offered, pass_over
from pointsman.policies.parts.preemption.bounded_waiting import goes_first
from pointsman.policies.parts.preemption.cost import cost_ms
from pointsman.policies.parts.preemption.turns import others_are_held_back
from pointsman.policies.sdk import (
    PENDING,
    RUNNING,
    VICTIMS,
    Int,
    Record,
    State,
    cold,
    core,
    fits,
    flag,
    number,
    numbers,
    view_of,
    whole,
)

__all__ = ["Choosing", "decide", "on_event", "on_run"]
USUAL, WAIT, NOBODY, EASIER, FORCE, ACTIONS = range(6)
FEATURES, HIDDEN = 20, 20
CAUTION = 0.1
"""Mean completion times of a job by which another choice must seem better."""
EASIER_BY = 0.25
"""Of what a preemption costs, that counts where one preempts more easily."""


class ChoosingMemory(GittinsMemory):
    """Behind what `gittins` keeps: choices, and a network."""

    choices = whole("so far")
    target = whole("which one is made otherwise; 0: none")
    action = whole("how")
    in_cycle = whole("the cycle in which the last choice was, for only the first offer of each is one")
    seen = numbers(FEATURES, "what is seen of the choice that is made otherwise")
    decides = flag("the network decides")
    caution = number("by how much another choice must seem better")
    hidden = numbers((HIDDEN, FEATURES + 1), "weights of hidden units by features, and a bias")
    out = numbers((ACTIONS, HIDDEN + 1), "weights of actions by hidden units, and a bias")


class Choosing(Gittins):
    """See the module."""

    name: ClassVar[str] = "choosing"
    hooks: ClassVar[str] = __file__
    memory: ClassVar[type[Record]] = ChoosingMemory


params, memory = view_of(Choosing), view_of(ChoosingMemory)


def set_network(state: Any, weights: Sequence[float]) -> None:
    """Have the network decide: whether it does, its caution, then its weights, one after another; none: it does not."""
    M = ChoosingMemory(state.memory)
    if len(weights) > 0:
        M.decides, M.caution = bool(weights[0]), weights[1]
        hidden, out = np.split(np.array(weights[2:]), [HIDDEN * (FEATURES + 1)])
        M.hidden.array[:], M.out.array[:] = hidden.reshape(HIDDEN, -1), out.reshape(ACTIONS, -1)


@core
def _has_room(S: State, j: Int) -> bool:
    """Whether job `j` would start on free GPUs."""
    S.g[0].within = accepted(S, j)
    return bool(fits(S, S.jobs[j].cls))


@core
def _log(x: float) -> float:
    """Of what may be 0, about 0 to 1."""
    return np.log2(1.0 + max(0.0, x)) / 16.0


@cold
def _look(S: State, j: Int, bar: float, room: bool) -> None:
    """Write what is seen of an offer to job `j`, which may preempt running jobs whose key is above `bar`."""
    J = S.jobs[j]
    g = S.g[0]
    above = worse = forced = 0.0
    worst = oldest = 0.0
    waiting = shorter = 0.0
    for k in range(g.slots):
        K = S.jobs[k]
        if K.state == RUNNING and K.bucket >= 0:
            forced += K.gpus
            above += K.gpus if K.key > bar else 0.0
            worse += K.gpus if K.key > J.key else 0.0
            worst = max(worst, K.key)
            oldest = max(oldest, np.float64(g.now - K.started))
        elif K.state == PENDING and k != j:
            waiting += K.asked
            shorter += K.asked if K.asked < J.asked else 0.0
    seen = memory(S).seen
    seen[0] = 1.0 if room else 0.0
    seen[1] = J.asked / g.gpus
    seen[2] = g.free / g.gpus
    seen[3] = min(4.0, J.asked / max(1, g.free)) / 4.0
    seen[4] = _log(g.pending)
    seen[5] = _log(waiting / g.gpus)
    seen[6] = _log(shorter / g.gpus)
    seen[7] = _log(J.key / 60_000.0)
    seen[8] = _log(J.key / J.asked / 60_000.0)
    seen[9] = _log(worst / 60_000.0)
    seen[10] = min(4.0, above / J.asked) / 4.0
    seen[11] = min(4.0, worse / J.asked) / 4.0
    seen[12] = forced / g.gpus
    seen[13] = _log((g.now - J.pend_since) / 1000.0)
    seen[14] = _log(J.done / 1000.0)
    seen[15] = _log(oldest / 1000.0)
    seen[16] = accepted(S, j) / 8.0
    seen[17] = gittins._weight(S) / 64.0
    seen[18] = _log(max(0.0, J.key) / max(1.0, worst))
    seen[19] = g.running / max(1, g.running + g.pending)


@cold
def _best(S: State, room: bool) -> Int:
    """What the network would do."""
    M = memory(S)
    best, most, usual = np.int64(USUAL), -np.inf, 0.0
    for a in range(ACTIONS):
        if a > WAIT and room:  # nobody would be preempted
            continue
        said = M.out[a, HIDDEN]
        for h in range(HIDDEN):
            x = M.hidden[h, FEATURES]
            for f in range(FEATURES):
                x += M.hidden[h, f] * M.seen[f]
            said += M.out[a, h] * max(0.0, x)
        if a == USUAL:
            usual = said
        elif said > most:
            best, most = np.int64(a), said
    return best if most > usual + M.caution else np.int64(USUAL)


@core
def _offer_chosen(S: State, j: Int) -> None:
    """Offer to job `j`, as is chosen."""
    J = S.jobs[j]
    cost = gittins._weight(S) * cost_ms(S, np.inf) * J.asked
    action = np.int64(USUAL)
    M = memory(S)
    if not goes_first(S, j) and M.in_cycle != S.g[0].pass_id:
        M.in_cycle = S.g[0].pass_id
        M.choices += 1
        target = bool(M.choices == M.target)
        if target or M.decides:
            room = _has_room(S, j)
            _look(S, j, J.key + cost, room)
            action = M.action if target else _best(S, room)
    S.g[0].victims = 0
    if action == WAIT:
        pass_over(S, j)
    elif action == NOBODY:
        offer(S, j, np.inf)
    elif action == EASIER:
        offer(S, j, J.key + EASIER_BY * cost)
    elif action == FORCE:
        offer(S, j, -np.inf)
    else:
        offer(S, j, J.key + cost)


@core
def decide(S: State) -> None:
    """As `gittins`, but for the choice."""
    gittins._prepare(S)
    while True:
        j = next_offered(S)
        if j < 0:
            break
        _offer_chosen(S, j)
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                gittins._begin_to_wait(S, v)
    if params(S).preempts and not others_are_held_back(S):
        improve_places(S, params(S).round_ms, memory(S).moves, False)
