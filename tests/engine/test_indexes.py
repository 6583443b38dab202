"""The event heap and the ordered index, driven at random beside plain lists."""

import os
import random
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.index.event_heap import TOP, heap_remove, heap_set, top_kind, top_slot
from pointsman.engine.index.treap import FAR, insert, insert_later, put_in_order, remove
from pointsman.engine.jit.compile import exported
from pointsman.engine.state.state_pointer import Handle, open_state, open_world
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.types import NEVER_MS
from tests.engine.jit.compiled import compiled

SLOTS = 60


@exported("void(int64, int64, int64, int64, int64)")
def set_event(address: int, slot: int, time: int, kind: int, row: int) -> None:
    heap_set(open_world(address), slot, time, kind, row)


@exported("void(int64, int64)")
def remove_event(address: int, slot: int) -> None:
    heap_remove(open_world(address), slot)


@exported("void(int64, int64[::1])")
def next_event(address: int, out: np.ndarray) -> None:
    W = open_world(address)
    out[0], out[1], out[2] = W.heap[TOP].time, top_kind(W), top_slot(W)


@exported("void(int64, int64, int64, int64)")
def put(address: int, b: int, j: int, later: bool) -> None:
    if later:
        insert_later(open_state(address), b, j)
    else:
        insert(open_state(address), b, j)


@exported("void(int64, int64)")
def take(address: int, j: int) -> None:
    remove(open_state(address), j)


@exported("void(int64, int64)")
def order(address: int, b: int) -> None:
    put_in_order(open_state(address), b)


def empty() -> Handle:
    """A state with room for SLOTS jobs, none of which has come."""
    jobs = pl.DataFrame({"submit_s": [0.0] * SLOTS, "gpus": 1, "duration_s": 1.0})
    spec = get_policy("fifo")
    options = RunOptions(overheads="none", log=False)
    simulation, _ = open_simulation(pointsman.Workload.of(jobs), load_cluster("1x1"), spec, spec.make(), options)
    simulation.handle.world.truth["pos"] = -1
    simulation.handle.state.jobs["bucket"] = -1
    return simulation.handle


@pytest.fixture
def handle() -> Handle:
    return empty()


@pytest.mark.parametrize("seed", range(20))
def test_the_top_of_the_heap_is_the_least(handle: Handle, seed: int) -> None:
    """Ties of time go by kind, then row; events that are due never are entries like others."""
    draw, events = random.Random(seed), {}
    rows = draw.sample(range(1 << 30), SLOTS)
    for _ in range(800):
        slot = draw.randrange(SLOTS)
        if draw.random() < 0.4:
            compiled(remove_event)(handle.address, slot)
            events.pop(slot, None)
        else:
            time = draw.choice([draw.randrange(6), draw.randrange(1 << 40), NEVER_MS])
            events[slot] = (time, draw.randrange(-1, 12), rows[slot], slot)
            compiled(set_event)(handle.address, slot, *events[slot][:3])
        assert int(handle.world.clock["heap"][0]) == len(events)
        if events:
            time, kind, _, slot = min(events.values())
            found = np.zeros(3, np.int64)
            compiled(next_event)(handle.address, found)
            assert found.tolist() == [time, kind, slot]


def in_order(handle: Handle, b: int) -> list[int]:
    """The jobs of bucket `b` along its links, which must be the same backwards."""
    B, jobs = handle.state.buckets[b], handle.state.jobs
    found, j = [], int(B["first"])
    while j >= 0:
        found.append(j)
        j = int(jobs["later"][j])
    back, j = [], int(B["last"])
    while j >= 0:
        back.append(j)
        j = int(jobs["earlier"][j])
    assert back == found[::-1]
    assert int(B["count"]) == len(found)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_an_index_is_in_order_however_its_jobs_came(handle: Handle, seed: int) -> None:
    draw, jobs, b = random.Random(seed), handle.state.jobs, 1
    jobs["row"][:SLOTS] = draw.sample(range(1 << 30), SLOTS)
    there: dict[int, tuple[Any, ...]] = {}
    for step in range(600):
        j = draw.randrange(SLOTS)
        if j in there:
            compiled(take)(handle.address, j)
            del there[j]
        else:
            jobs["neg_priority"][j], jobs["key"][j], jobs["aux"][j] = draw.randrange(2), draw.randrange(5), np.inf
            there[j] = (int(jobs["neg_priority"][j]), float(jobs["key"][j]), int(jobs["row"][j]))
            compiled(put)(handle.address, b, j, draw.random() < 0.5)
        if step % 7 == 0:
            compiled(order)(handle.address, b)
            assert in_order(handle, b) == sorted(there, key=there.__getitem__)
            assert handle.state.buckets[b]["leader"] in [-1, *there]


def test_in_a_queue_a_job_knows_who_came_far_behind_it(handle: Handle) -> None:
    """And so does one that was in the queue when others before it had gone."""
    jobs, b = handle.state.jobs, 1
    jobs["row"][:SLOTS], jobs["neg_priority"], jobs["key"], jobs["aux"] = range(SLOTS), 0, 0.0, np.inf
    for j in range(20):
        compiled(put)(handle.address, b, j, False)
    assert list(jobs["follower"][:20]) == [*range(FAR, 20), *[-1] * FAR]
    for j in range(15):
        compiled(take)(handle.address, j)
    for j in range(20, 40):
        compiled(put)(handle.address, b, j, False)
    queue = in_order(handle, b)
    assert queue == [*range(15, 40)]
    assert list(jobs["follower"][queue[:-FAR]]) == queue[FAR:]


@pytest.mark.parametrize("index", ["state.jobs[-1]", "state.occupants[0, -1]", "world.heap[-2]"])
def test_with_the_jit_off_an_index_from_the_end_is_an_error(index: str) -> None:
    """Compiled code would read or write what lies before the array."""
    script = f"""
from tests.engine.test_indexes import empty
handle = empty()
state, world = handle.state, handle.world
state.jobs[0], state.occupants[0, 0], world.heap[0]
try:
    {index}
except IndexError as error:
    print(error)
"""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert "counts from the end" in done.stdout, done.stderr
