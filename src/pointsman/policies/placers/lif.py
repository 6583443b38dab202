"""LIF, least interference first: each worker goes where it would be slowed least."""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.gpu_marks import clear, count_marked, free_on, mark
from pointsman.policies.placers.declared import Placer
from pointsman.policies.placers.filling import score_of, set_score
from pointsman.policies.placers.interference import FORECASTS_BY, is_idle, slowdown_on
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.placers.sockets import note_marked
from pointsman.policies.sdk import Int, Profile, State, all_send, card_overload, cold, core, parameter, send_at_once

__all__ = ["Lif", "decide", "note_least_interference", "on_event", "on_run"]


class Lif(Placer):
    """Worker by worker onto the node where the job would be slowed least by others there, times the square root of the
    overload of the network card; the most free GPUs among equals. ``--node-interference`` says what slows it.
    """

    name: ClassVar[str] = "lif"
    hooks: ClassVar[str] = "pointsman.policies.placers.lif"
    profiles: ClassVar[tuple[Profile, ...]] = ("nodes",)

    interference: str | None = parameter(None, FORECASTS_BY)


@core
def _weigh(S: State, j: Int, n: Int) -> None:
    """Score node `n`, which has a GPU left, for one more worker of job `j`."""
    set_score(S, n, slowdown_on(S, j, n, count_marked(S, n) + 1) * np.sqrt(card_overload(S, n)))


@core
def _weigh_all(S: State, j: Int, a: Int) -> None:
    """Score each node for the first worker of job `j`; idle ones of one kind are worth the same."""
    idle = np.int64(-1)
    for n in range(S.nodes.shape[0]):
        node = np.int64(n)
        if free_on(S, a, node) > 0:
            if not is_idle(S, node):
                _weigh(S, j, node)
            elif idle >= 0 and S.nodes[idle].kind == S.nodes[n].kind:
                set_score(S, node, score_of(S, idle))
            else:
                _weigh(S, j, node)
                idle = node


@core
def _goes_before(S: State, n: Int, m: Int, more: bool) -> bool:
    """Whether node `n`, which has `more` GPUs left or not, is calmer than node `m`."""
    if score_of(S, n) != score_of(S, m):
        return bool(score_of(S, n) < score_of(S, m))
    return more


@core
def _calmest(S: State, a: Int) -> Int:
    """The node with the least score that has GPUs left, the most of them among equals; then lowest index."""
    best = np.int64(-1)
    most = np.int64(0)
    for n in range(S.nodes.shape[0]):
        node = np.int64(n)
        left = free_on(S, a, node) - count_marked(S, node)
        if left > 0 and (best < 0 or _goes_before(S, node, best, bool(left > most))):
            best = node
            most = left
    return best


@cold
def note_least_interference(S: State, j: Int, a: Int) -> None:
    """Note in State.place where LIF puts job `j`, which fits alternative `a`."""
    clear(S)
    _weigh_all(S, j, a)
    for _ in range(S.classes[S.jobs[j].cls].gpus):
        n = _calmest(S, a)
        mark(S, n, count_marked(S, n) + 1)
        if free_on(S, a, n) > count_marked(S, n):
            _weigh(S, j, n)
    note_marked(S)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    all_send(S)
    j = next_job(S)
    while j >= 0:
        note_least_interference(S, j, alternative_of(S, j))
        start_there(S, j)
        send_at_once(S, j)
        j = next_job(S)
