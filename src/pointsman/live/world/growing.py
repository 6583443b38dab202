"""A live world goes on where jobs come of kinds that it was not made for: more classes of demand, models and users."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.live import (
    EXTRA_BUCKETS,
    FEATURES,
    HEAD,
    NOTHING,
    Briefing,
    Handle,
    Prepared,
    with_larger_inbox,
)
from pointsman.errors import RunError
from pointsman.live.world.checkpoint import kept_arrays, rows_in_use, width_in_use
from pointsman.live.world.live_world import LiveWorld, state_of

_HAPPENED: Final = {
    "classes": (
        *("active", "blocked", "fits", "failed_at", "failed_neg_priority", "failed_within", "failed_key"),
        *("lacking", "lacks_whole"),
    ),
    "groups": ("failed_pass", "failed_gpus"),
    "reaches": ("blocked", "until", "failed_row", "failed_changes"),
    "queues": ("held", "closed"),
}
"""Records that say what jobs may ask for, but for these fields, which say what has happened."""
_APART: Final = ("g", "lists", "buckets", "history", "factor_numbers", "memory", *_HAPPENED)
_OF_KINDS: Final = (
    *("address", "network", "sharing", "staging", "rating", "classes", "kinds", "queues", "has_queue_limits"),
    "stages",
)
"""Scalars that say what jobs may ask for, or where the state is."""


def grow(world: LiveWorld, prepared: Prepared, briefing: Briefing | None, kinds: Mapping[int, int]) -> None:
    """Go on, between two turns, with the kinds of jobs of `prepared`: those that the world has, and more behind them.

    `kinds`: which row of `prepared` each job is like that has not ended, by its row in the world.

    Raises:
        RunError: something was submitted or told since the last turn; or the policy keeps books on users or queues, and
            these are others now.
    """
    old, before = world.simulation.handle, world.prepared
    clock = old.world.clock[0]
    if clock["jobs"] != clock["arrived"] or world.told:
        raise RunError("a world grows between two turns, and something was told since the last one")
    policy: Any = world.simulation.policy
    others = _keeps_other_books(policy, world.briefing, briefing)
    if others and not hasattr(policy, "carried"):
        raise RunError(f"policy {policy.name!r} keeps books on users and queues, and these are others now")
    new = state_of(prepared, world.rules, policy, briefing, world.room)
    if len(old.state.memory) > len(new.state.memory):  # the policy before needed more
        new = Handle(new.state._replace(memory=np.zeros_like(old.state.memory)), new.world)
    memory = policy.carried(old.state.memory, before.jobs, prepared.jobs) if others else old.state.memory
    new.state.memory[: len(memory)] = memory
    new = with_larger_inbox(new, int(old.state.g["inbox"][0]))
    _copy_what_happened(old, new)
    _copy_buckets(old, new)
    if prepared.history is not NOTHING:
        _copy_history(old, new, before.history.keys, prepared.history.keys)
    _classify_again(new, prepared, briefing, kinds)
    world.simulation.handle = new
    world.prepared, world.briefing = prepared, briefing


def _keeps_other_books(policy: Any, before: Briefing | None, now: Briefing | None) -> bool:
    """Whether the policy keeps books on users or queues, and there are others now."""
    if before is None or now is None or not getattr(policy, "briefed", False):
        return False
    return not np.array_equal(before.memory, now.memory)


def _copy_what_happened(old: Handle, new: Handle) -> None:
    ours, theirs = kept_arrays(old), kept_arrays(new)
    for name, fields in _HAPPENED.items():
        for field in fields:
            theirs[name][field][: len(ours[name])] = ours[name][field]
    for name, array in theirs.items():
        if name not in _APART:
            rows = ours[name][: rows_in_use(old, name)]
            array[: len(rows)] = rows
    width = width_in_use(old)
    new.state.lists[:, :width] = old.state.lists[:, :width]
    kept = {name: new.state.g[name].copy() for name in _OF_KINDS}
    new.state.g[:] = old.state.g
    for name, value in kept.items():
        new.state.g[name] = value


def _copy_buckets(old: Handle, new: Handle) -> None:
    """Indexes of jobs, and in which of them each stands."""
    moved = _map_indexes(old, new)
    new.state.buckets[moved] = old.state.buckets
    jobs = new.jobs
    stands = jobs["bucket"] >= 0
    jobs["bucket"][stands] = moved[jobs["bucket"][stands]]


def _map_indexes(old: Handle, new: Handle) -> NDArray[np.int64]:
    """Where each index of the old state is in the new one (`verbs.queue_index`)."""
    (classes, queues, reaches), (classes_now, queues_now, _) = (_sizes(handle) for handle in (old, new))
    of_queues = (classes_now + queues_now * np.arange(reaches)[:, None] + np.arange(queues)).ravel()
    others = len(new.state.buckets) - EXTRA_BUCKETS + np.arange(EXTRA_BUCKETS)
    return np.concatenate([np.arange(classes), of_queues, others])


def _sizes(handle: Handle) -> tuple[int, int, int]:
    state = handle.state
    return len(state.classes), len(state.queues), len(state.reaches)


def _copy_history(old: Handle, new: Handle, keys: NDArray[np.int64], keys_now: NDArray[np.int64]) -> None:
    """What is learnt of jobs like each, which begins elsewhere now."""
    moved = np.zeros(len(old.state.history), np.int64)
    moved[keys] = keys_now[: len(keys)]
    new.state.history[:HEAD] = old.state.history[:HEAD]
    known = np.flatnonzero(moved)
    for offset in (0, 1):
        new.state.history[moved[known] + offset] = old.state.history[known + offset]
    features = new.state.history_features[: int(new.state.g[0]["slots"])]
    features[:, FEATURES:] = moved[features[:, FEATURES:].astype(np.int64)]


def _classify_again(new: Handle, prepared: Prepared, briefing: Briefing | None, kinds: Mapping[int, int]) -> None:
    """What is looked up of each job by its kind."""
    jobs: Any = new.jobs
    schedulers = prepared.pools.schedulers
    there = np.flatnonzero(jobs["state"] != 0)
    of_kind = np.array([kinds[row] for row in jobs["row"][there].tolist()], np.int64)
    like = prepared.trace[of_kind]
    for field in ("queue", "speed"):
        jobs[field][there] = like[field]
    if briefing is not None:
        new.state.job_numbers[there] = briefing.numbers[of_kind]
    own = jobs["cls"][there] % schedulers  # it stays with its scheduler
    jobs["cls"][there] = like["cls"] - like["cls"] % schedulers + own
