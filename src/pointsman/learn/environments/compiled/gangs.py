"""PlaceGang: where the gang of the next waiting job goes, or that it is forwarded, or waits
(``docs/papers/marl.md`` §5).

Jobs are asked for one by one in the order of the placers, each as soon as its scheduler has room for it or may forward
it. A job that waits is asked for again after a while, or when it could be placed compactly or forwarded and before
could not. A job that can be placed waits only while it is
patient (`policies.placers.waiting.patience`). One that cannot be placed may wait for ever, unless waits are bounded
(`policies.placers.waiting.heads`): then overdue jobs are asked for first, and take a place if there is one.
"""

import numpy as np

from pointsman.engine.sdk.environments import (
    ACTIVE,
    OK,
    Int,
    State,
    alternative_with_room,
    cold,
    core,
    over_limit,
    send_at_once,
    set_alarm,
    start_on,
)
from pointsman.learn.environments.compiled.window import NOBODY, may_wait
from pointsman.policies.parts.backfill import has_room
from pointsman.policies.parts.reserving.overdue_heads import follow, note_start, serves_overdue
from pointsman.policies.placers.candidates.features import measure
from pointsman.policies.placers.candidates.neighbours import begin_decision
from pointsman.policies.placers.candidates.places import list_candidates, note_candidate
from pointsman.policies.placers.declared import MOST_CANDIDATES, WhileWaiting
from pointsman.policies.placers.filling import clear_scores, note_compact
from pointsman.policies.placers.schedulers import destination, end_decision, forward_to, goes_first, was_forwarded
from pointsman.policies.placers.waiting.heads import end_cycle, next_around_heads
from pointsman.policies.placers.waiting.patience import begin_to_run, end_of_patience, is_patient
from pointsman.policies.sdk import view_of
from pointsman.types import Event

waiting = view_of(WhileWaiting)
FORWARD, WAIT, ACTIONS = range(MOST_CANDIDATES, MOST_CANDIDATES + 3)
"""Actions: first the candidates."""
AGAIN_SHARE, LEAST_MS = 0.1, 60_000.0
"""When a decision about a job that waits is due again: after this share of its duration, or of its wait so far if that
is longer, but not before `LEAST_MS` have passed (ours).
"""
WAITED = int(Event.SUBMIT)
"""As what a job that is to wait is followed: it is to be called when it will be overdue."""


@cold
def _has_good_choice(S: State, j: Int) -> bool:
    """Whether job `j` could be placed compactly, or forwarded."""
    if bool(destination(S, j) >= 0):
        return True
    if not has_room(S, S.jobs[j].cls):
        return False
    clear_scores(S)
    return note_compact(S, alternative_with_room(S, S.jobs[j].cls), S.classes[S.jobs[j].cls].gpus)


@core
def _may_be_asked(S: State, j: Int) -> bool:
    """Whether waiting job `j` could be placed or forwarded now."""
    return (has_room(S, S.jobs[j].cls) or bool(destination(S, j) >= 0)) and not over_limit(S, j)


@core
def _kind_of(S: State, j: Int) -> Int:
    """A bit that waiting jobs of a class share which can go to the same places."""
    return np.int64(1) << (2 * np.int64(was_forwarded(S, j)) + np.int64(is_patient(S, j)))


@core
def _first_of(S: State, c: Int) -> Int:
    """The first job of class `c` to be decided about; -1 if there is none."""
    nowhere = nowhere_good = np.int64(0)
    j = S.buckets[c].first
    while j >= 0:
        J = S.jobs[j]
        kind = _kind_of(S, j)
        if is_patient(S, j) and J.alarm > end_of_patience(S, j):  # then others may take it that have no compact place
            set_alarm(S, j, np.int64(end_of_patience(S, j)))
        if nowhere & kind == 0 and not _may_be_asked(S, j):
            nowhere |= kind
        if nowhere & kind == 0:
            if waiting(S, j).again_ms <= S.g[0].now:
                return j
            if waiting(S, j).had_choice == 0 and nowhere_good & kind == 0:
                if _has_good_choice(S, j):
                    return j
                nowhere_good |= kind
        j = J.later
    return np.int64(-1)


@cold
def _first_in_order(S: State) -> Int:
    """The first waiting job, in order, to be decided about; -1 if there is none."""
    best = np.int64(-1)
    if S.g[0].free > 0:
        for i in range(S.g[0].active):
            j = _first_of(S, S.lists[ACTIVE, i])
            if goes_first(S, j, best):
                best = j
    return best


@core
def _next_job(S: State) -> Int:
    """The next job to be decided about, overdue ones first; -1 if there is none."""
    if not serves_overdue(S):
        return _first_in_order(S)
    j = next_around_heads(S)
    return _first_in_order(S) if j < 0 else j


@cold
def list_and_measure(S: State, j: Int) -> Int:
    """List the candidates of job `j` and measure each; how many there are."""
    if not has_room(S, S.jobs[j].cls):
        return np.int64(0)
    begin_decision(S)
    a = alternative_with_room(S, S.jobs[j].cls)
    many = list_candidates(S, j, a)
    for i in range(many):
        note_candidate(S, j, a, np.int64(i))
        measure(S, j, np.int64(i))
    return many


@core
def look(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Fill `window`, the job to be decided about, and `mask`; whether there is one."""
    j = _next_job(S)
    mask[:] = 0
    window[0] = j
    if j < 0:
        window[0] = NOBODY
        mask[WAIT] = 1
        return False
    many = list_and_measure(S, j)
    for i in range(many):
        mask[i] = 1
    mask[FORWARD] = destination(S, j) >= 0 and (many == 0 or S.jobs[j].overdue == 0)
    mask[WAIT] = (may_wait(S) and (many == 0 or is_patient(S, j))) or (many == 0 and mask[FORWARD] == 0)
    return True


@core
def is_choice(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Do what `look` does, if a GPU is free and a job waits. Return whether there is a decision; else end the cycle."""
    some = S.g[0].free > 0 and S.g[0].pending > 0 and look(S, window, mask, rules)
    if not some:
        end_cycle(S)
    return some


@core
def waits(action: Int, window: np.ndarray, mask: np.ndarray) -> bool:
    """Whether time passes: never by an action alone, for other jobs may be placed after one that waits."""
    return False


@cold
def _wait(S: State, j: Int) -> None:
    """Job `j` waits; while it is patient, no longer than until that ends."""
    J, W = S.jobs[j], waiting(S, j)
    long = np.float64(S.g[0].now - J.submit)
    if J.estimate > long:
        long = J.estimate
    again = S.g[0].now + max(LEAST_MS, np.ceil(AGAIN_SHARE * long))
    W.again_ms = min(again, end_of_patience(S, j)) if is_patient(S, j) else again
    W.had_choice = 1 if _has_good_choice(S, j) else 0
    set_alarm(S, j, W.again_ms)
    follow(S, np.int64(WAITED), j)


@core
def act(S: State, window: np.ndarray, action: Int, rules: np.ndarray) -> tuple[Int, Int]:
    """Do it: the job, if it has been placed (-1: it has not), and OK or why the engine refused it."""
    j = window[0]
    end_decision(S, j)
    if action == WAIT:
        _wait(S, j)
        return np.int64(-1), OK
    if action == FORWARD:
        forward_to(S, j, destination(S, j))
        return np.int64(-1), OK
    note_candidate(S, j, alternative_with_room(S, S.jobs[j].cls), action)
    answer = start_on(S, j, OK)
    waiting(S, j).again_ms = waiting(S, j).had_choice = 0
    if answer == OK:
        begin_to_run(S, j)
        note_start(S, j)
        send_at_once(S, j)
    else:
        end_cycle(S)
    return j, answer
