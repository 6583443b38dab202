"""Jobs that are there already take their seats in a live world that has not begun: after an upgrade, under another
policy, or where jobs are of kinds that the world before did not know.

A checkpoint is better where it fits: a policy's memory is not in the records of jobs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from pointsman.engine.sdk.live import SEATING, done_by, unit
from pointsman.errors import RunError
from pointsman.live.world.live_world import Ask, LiveWorld
from pointsman.live.world.plan import ALL_GPUS, with_sign
from pointsman.types import JobState

PAST: Final = (
    *("done", "restored", "reached", "lost", "attained", "executed", "started", "first_start", "attempt", "preempts"),
    *("pend_since", "pended", "held", "held_since", "waited", "slowed", "settled", "accumulation", "estimate"),
)
"""Fields of JOB that say what has happened to a job."""


class Seat(NamedTuple):
    """A job that has not ended."""

    row: int
    ask: Ask
    submit_ms: int
    state: JobState
    parts: tuple[tuple[int, int], ...]
    """(node, mask of its GPUs)."""
    past: Mapping[str, float]
    """The values of PAST, as of now."""


def seats_of(world: LiveWorld, asks: Mapping[int, Ask]) -> list[Seat]:
    """The jobs of a world between two turns, in the order of their rows; `asks`: what they asked for, by row."""
    state = world.simulation.handle.state
    seats = []
    for j in np.flatnonzero(world.simulation.handle.jobs["state"] != 0).tolist():
        record = state.jobs[j]
        past = {name: record[name].item() for name in PAST}
        if record["state"] == JobState.RUNNING:
            elapsed = world.now_ms - past["settled"]
            past["done"] = float(done_by(record, world.now_ms))
            past["executed"] += elapsed
            past["attained"] += int(record["gpus"]) * elapsed
            past["waited"] += float(record["waits"]) * elapsed
            past["settled"] = world.now_ms
        seats.append(
            Seat(
                int(record["row"]),
                asks[int(record["row"])],
                int(record["submit"]),
                JobState(int(record["state"])),
                _parts(world, int(record["part"])),
                past,
            )
        )
    return sorted(seats)


def take_seats(world: LiveWorld, seats: Iterable[Seat], now_ms: int, rows: int) -> None:
    """The jobs are there at `now_ms`, before the first turn of `world`; the next job to come has row `rows`.

    Raises:
        RunError: the world has begun, or two jobs have the same GPU.
    """
    handle = world.simulation.handle
    state, clock = handle.state, handle.world.clock[0]
    if clock["arrived"] > world.first_row or clock["jobs"] > world.first_row:
        raise RunError("jobs take their seats in a world that has not begun, and this one has")
    seating = unit(SEATING)
    state.g["now"] = now_ms
    seats = sorted(seats)
    for seat in seats:
        _check_free(world, seat.row, seat.parts)
        world.write_row(seat.row, seat.ask, seat.submit_ms)
        j = seating.begin(handle.address, seat.row)
        record = state.jobs[j : j + 1]
        for name, value in seat.past.items():
            if value == value:  # what is not known then is what is asked for now
                record[name] = value
        record["state"] = seat.state
        record["rated"] = now_ms
        record["done_when_rated"] = record["done"]
        _lay_out(world, seat.parts)
        seating.seat(handle.address, j)
        if world.needs_estimates and not np.isfinite(record["estimate"][0]):
            raise RunError(f"policy {world.simulation.policy.name!r} needs an estimate of how long job {seat.row} runs")
    clock["arrived"] = clock["jobs"] = rows
    clock["ended"] = rows - len(seats)
    world.simulation.take_over()
    world.find_jobs()


def ask_for(world: LiveWorld, row: int, ask: Ask) -> None:
    """A job that is HELD asks for something else from now on, between two turns; what has happened to it stays.

    Raises:
        RunError: it is not HELD.
    """
    slot, handle = _slot_in(world, row, JobState.HELD), world.simulation.handle
    state = handle.state
    record = state.jobs[slot : slot + 1]
    world.write_row(row, ask, int(record["submit"][0]))
    for name in ("cls", "queue", "neg_priority", "speed", "pinned"):
        record[name] = getattr(ask, name)
    record["asked"], record["estimate"] = state.classes["gpus"][ask.cls], ask.estimate_ms
    if ask.numbers:
        state.job_numbers[slot] = ask.numbers
    state.g["placed"] = 0
    unit(SEATING).seat(handle.address, slot)  # where durations are learnt, its own is foretold anew


def start_there(world: LiveWorld, row: int, parts: Sequence[tuple[int, int]]) -> None:
    """A waiting job starts, between two turns, on (node, mask of its GPUs), because others have decided so.

    Raises:
        RunError: it does not wait, there are no GPUs, or one of them is not free.
    """
    slot = _slot_in(world, row, JobState.PENDING)
    if not parts:
        raise RunError(f"job {row} cannot start without GPUs")
    _check_free(world, row, parts)
    _lay_out(world, parts)
    unit(SEATING).start(world.simulation.handle.address, slot)


def preempt_there(world: LiveWorld, row: int) -> None:
    """A job that runs is to stop, between two turns, because others have decided so.

    Raises:
        RunError: it does not run.
    """
    unit(SEATING).preempt(world.simulation.handle.address, _slot_in(world, row, JobState.RUNNING))


def _slot_in(world: LiveWorld, row: int, state: JobState) -> int:
    slot = world.slots.get(row, -1)
    is_there = slot >= 0 and world.simulation.handle.jobs["row"][slot] == row
    if not is_there or world.simulation.handle.jobs["state"][slot] != state:
        raise RunError(f"job {row} is not {state.name}")
    return slot


def _lay_out(world: LiveWorld, parts: Sequence[tuple[int, int]]) -> None:
    """The GPUs are in State.place."""
    state = world.simulation.handle.state
    for i, (node, mask) in enumerate(parts):
        state.place[i] = (node, with_sign(mask), mask.bit_count(), 0)
    state.g["placed"] = len(parts)


def _parts(world: LiveWorld, first: int) -> tuple[tuple[int, int], ...]:
    parts, state = [], world.simulation.handle.state
    while first >= 0:
        part = state.parts[first]
        parts.append((int(part["node"]), int(part["mask"]) & ALL_GPUS))
        first = int(part["next"])
    return tuple(parts)


def _check_free(world: LiveWorld, row: int, parts: Sequence[tuple[int, int]]) -> None:
    nodes = world.simulation.handle.state.nodes
    for node, mask in parts:
        if mask >> (has := int(nodes["gpus"][node])):
            raise RunError(f"job {row} has more GPUs of node {node} than it has by now, {has}: stop the job first")
        if taken := mask & ~int(nodes["free_mask"][node]) & ALL_GPUS:
            raise RunError(f"job {row} has GPUs of node {node} that another has, too (mask {taken:#x})")
