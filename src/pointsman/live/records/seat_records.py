"""What is known of living jobs in words that any version, policy and cluster file reads: written when a daemon stops,
read where the checkpoint beside it does not fit.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pointsman.errors import RunError
from pointsman.live.records.book import Stage
from pointsman.live.records.seats_of_book import seats_of_book
from pointsman.live.records.store import Store
from pointsman.live.world.live_world import Ask, LiveWorld
from pointsman.live.world.seating import Seat, seats_of, take_seats
from pointsman.types import JobState

_KEY: Final = "seats"


def keep_seats(store: Store, world: LiveWorld, asks: Mapping[int, Ask], node_names: Sequence[str]) -> None:
    """Between two turns, within a turn of the store."""
    seats = [
        {
            "row": seat.row,
            "submit_ms": seat.submit_ms,
            "state": seat.state.name,
            "parts": [(node_names[node], mask) for node, mask in seat.parts],
            "past": {name: value for name, value in seat.past.items() if not math.isnan(value)},
        }
        for seat in seats_of(world, asks)
    ]
    content = {"seq": store.last_seq(), "now_ms": world.now_ms, "rows": world.rows_so_far, "seats": seats}
    store.keep_setting(_KEY, json.dumps(content))


def take_kept_seats(store: Store, world: LiveWorld, asks: Mapping[int, Ask], node_names: Sequence[str]) -> None:
    """The jobs that are there take their seats in `world`, which has not begun: as they were when the daemon before
    stopped, or as the tables say if it was killed.

    Raises:
        RunError: a job runs on a node that the cluster does not have.
    """
    kept: dict[str, Any] = json.loads(store.setting(_KEY) or "null")
    if kept is None or kept["seq"] != store.last_seq():
        kept = seats_of_book(store)
    index = {name: node for node, name in enumerate(node_names)}
    if gone := sorted({node for seat in kept["seats"] for node, _ in seat["parts"] if node not in index}):
        raise RunError(f"jobs run on node {gone[0]!r}, which the cluster file does not have any more: drain it first")
    seats = [_seat(seat, asks[seat["row"]], index) for seat in kept["seats"]]
    take_seats(world, seats, kept["now_ms"], kept["rows"])


def end_all(store: Store) -> int:
    """All jobs have ended, within a turn of the store, because they cannot take seats again; when that was, ms."""
    now_ms = int(seats_of_book(store)["now_ms"])
    for attempt in store.alive_attempts():
        store.change_attempt(replace(attempt, stage=Stage.ENDED, ended_ms=now_ms, real_end_ms=now_ms))
    for id_ in store.alive_jobs():
        store.end_job(id_, JobState.CANCELLED, now_ms)
    store.forget_setting(_KEY)
    return now_ms


def _seat(kept: Mapping[str, Any], ask: Ask, index: Mapping[str, int]) -> Seat:
    parts = tuple((index[node], mask) for node, mask in kept["parts"])
    return Seat(kept["row"], ask, kept["submit_ms"], JobState[kept["state"]], parts, kept["past"])
