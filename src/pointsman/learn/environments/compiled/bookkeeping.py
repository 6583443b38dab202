"""The hooks of the environments' loop: waiting jobs stand in their classes in order, and sums are kept for rewards."""

import numpy as np

from pointsman.engine.sdk.environments import PENDING, Int, State, core, enqueue
from pointsman.learn.environments.compiled.columns import (
    AT_RANDOM,
    NARROWEST,
    SHORTEST,
    WIDEST,
    memory,
    params,
    watched,
)
from pointsman.types import Event

FINISH, SUBMIT = int(Event.FINISH), int(Event.SUBMIT)
SHORT_MS = 10_000.0
"""Shorter jobs count as this long in slow-downs (the usual bound; Feitelson)."""


@core
def _random_key(row: Int) -> float:
    h = (row * 2654435761) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    return np.float64(h ^ (h >> 16))


@core
def _key(S: State, j: Int) -> float:
    """By what job `j` stands in order among those of equal priority; jobs without an estimate are equal."""
    J = S.jobs[j]
    order = params(S).job_order
    if order == SHORTEST:
        return 0.0 if np.isnan(J.estimate) else J.estimate
    if order == WIDEST:
        return -np.float64(J.asked)
    if order == NARROWEST:
        return np.float64(J.asked)
    return _random_key(J.row) if order == AT_RANDOM else 0.0


@core
def _urgency(S: State, j: Int) -> float:
    """1/ms: one over the length of job `j` as far as it is known, else over τ."""
    length = S.jobs[j].estimate
    return 1.0 / (params(S).tau_ms if np.isnan(length) else max(SHORT_MS, length))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job comes, and waits in its class; or it has ended."""
    if j < 0:
        return
    J = S.jobs[j]
    sums, episode = memory(S).sums, memory(S).episode
    if kind == SUBMIT:
        sums.wait_urgency += _urgency(S, j)
        sums.urgency += _urgency(S, j)
    elif kind == FINISH:
        sums.run_rate -= watched(S, j).gpu_rate
        sums.rates -= watched(S, j).gpu_rate / J.asked
        sums.urgency -= _urgency(S, j)
        took = np.float64(S.g[0].now - J.submit)
        episode.jobs_ended += 1.0
        episode.jct += took
        episode.slowdown += max(1.0, took / max(SHORT_MS, J.done))
    if J.state == PENDING and J.bucket < 0:
        enqueue(S, j, _key(S, j), np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A job runs at another rate."""
    J, W, sums = S.jobs[j], watched(S, j), memory(S).sums
    now = J.gpus * J.rate
    sums.run_rate += now - W.gpu_rate
    sums.rates += (now - W.gpu_rate) / J.asked
    W.gpu_rate = now


@core
def waits_no_more(S: State, j: Int) -> None:
    """Job `j` has been given its GPUs."""
    sums = memory(S).sums
    left = sums.wait_urgency - _urgency(S, j)
    sums.wait_urgency = left if S.g[0].pending > 0 else 0.0


@core
def decide(S: State) -> None:
    """The agent decides."""
