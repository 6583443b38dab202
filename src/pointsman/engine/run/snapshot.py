"""A snapshot of a state and its world: what a twin, a what-if and a question of `explain` go on from."""

import numpy as np

from pointsman.engine.index.event_heap import AROUND
from pointsman.engine.state.records import LISTS, State, World
from pointsman.engine.state.state_pointer import Handle


def snapshot(handle: Handle, room: bool = True) -> Handle:
    """A copy of what is in use. The trace and what policies were told before the run, which are never written,
    are shared; the log begins anew.

    Without `room` there is none for jobs to come, and the outcomes begin anew too.
    """
    g, clock = handle.state.g[0], handle.world.clock[0]
    slots, arrived = int(g["slots"]), int(clock["arrived"])
    used = {
        "jobs": slots,
        "truth": slots,
        "heap": slots + AROUND,
        "claims": g["claims"],
        "log": 0,
        "speed_log": 0,
        "samples": clock["samples"],
    }
    ended = min(arrived, len(handle.world.outcomes)) if g["row_mask"] < 0 else len(handle.world.outcomes)
    used["outcomes"] = ended if room else 0
    rows = {} if room else {"jobs": slots, "truth": slots, "heap": slots + AROUND, "outcomes": ended}
    for name in ("flows", "transfers", "chains", "history_features", "job_numbers"):
        if getattr(handle.state, name, handle.world.chains).size > 1:  # else it is empty
            used[name] = slots
            rows |= {} if room else {name: slots}
    arrays = {**handle.state._asdict(), **handle.world._asdict()}
    copies = {name: _prefix(a, used.get(name), rows.get(name)) for name, a in arrays.items() if name not in _APART}
    width = max(slots, int(g["classes"]))
    lists = np.zeros((LISTS, handle.state.lists.shape[1] if room else width), np.int64)
    lists[:, :width] = handle.state.lists[:, :width]
    copies |= {"lists": lists, "trace": handle.world.trace}
    copies |= {name: arrays[name] for name in _TOLD}
    copies["g"]["logged"] = copies["g"]["speeds_logged"] = 0
    return Handle(State(*(copies[n] for n in State._fields)), World(*(copies[n] for n in World._fields)))


_TOLD = ("told_numbers", "history_keys", "told_rates", "told_goodputs", "told_slowdowns")
"""What a policy was told before the run, which is never written."""
_APART = ("lists", "trace", *_TOLD)
"""Arrays that are not copied row by row."""


def _prefix(array: np.ndarray, used: int | None, rows: int | None) -> np.ndarray:
    """The first `used` rows in an array of `rows` rows, else of as many; memory beyond is not touched."""
    rows = array.shape[0] if rows is None else rows
    if used is None or used == rows:
        return copied(array[:rows])
    copy = np.zeros((rows, *array.shape[1:]), array.dtype)
    copy[:used].view(np.int64)[:] = array[:used].view(np.int64)
    return copy


def copied(array: np.ndarray) -> np.ndarray:
    """A copy of an array of the state, all of which are whole words: numpy copies records field by field, in twelve
    times the time.
    """
    return np.array(array.view(np.int64)).view(array.dtype)
