"""What is read off a plan log and a log of speeds, by hand: who was beside whom, how slow and for how long."""

from math import exp, log
from typing import Any

import polars as pl
import pytest

from pointsman.speed.interference.learned.combinations import Combination, Server, combination_of
from pointsman.speed.interference.learned.observations import Observations, Recorded, observe

HOUR = 3_600_000
V100, T4 = Server("v100", 4), Server("t4", 2)
Event = tuple[float, str, int, dict[int, int]]
Speed = tuple[float, int, float]


def seen(
    events: list[Event], speeds: list[Speed], models: list[str | None], **more: Any
) -> dict[str, tuple[float, float]]:
    """Hours and slow-down by ``model: combination``."""
    rows = [
        (round(at * HOUR), seq, kind, row, node, mask)
        for seq, (at, kind, row, place) in enumerate(events)
        for node, mask in (place or {-1: 0}).items()
    ]
    log_of = pl.DataFrame(rows, schema=["time_ms", "seq", "kind", "row", "node", "gpu_mask"], orient="row")
    told = [(round(at * HOUR), row, slow) for at, row, slow in speeds]
    table = pl.DataFrame(told, schema=["time_ms", "row", "computing_slowdown"], orient="row")
    found: Observations = {}
    observe(Recorded(log_of, table, models, more.get("servers", [V100, V100])), found)
    return {f"{c.model}: {c.text}": (round(one.hours, 9), one.slow_down) for (_, c), one in found.items()}


def test_a_job_that_comes_later() -> None:
    """::

               0      1         3    4
    GPU 0  a   |------|---------|         alone, then beside b
    GPU 1  b          |---------|----|
    """
    events: list[Event] = [
        (0, "START", 0, {0: 1}), (1, "START", 1, {0: 2}), (3, "FINISH", 0, {}), (4, "FINISH", 1, {}),
    ]  # fmt: skip
    speeds = [(0, 0, 1.0), (1, 0, 1.5), (1, 1, 2.0), (3, 1, 1.0)]
    assert seen(events, speeds, ["a", "b"]) == {
        "a: 1": (1.0, 1.0), "a: 1 beside b*1": (2.0, 1.5), "b: 1 beside a*1": (2.0, 2.0), "b: 1": (1.0, 1.0),
    }  # fmt: skip


def test_gpus_are_counted_by_model() -> None:
    """Two jobs of b are as one with their GPUs."""
    events: list[Event] = [(0, "START", row, {0: mask}) for row, mask in enumerate((1, 2, 12))]
    events += [(2, "FINISH", row, {}) for row in range(3)]
    found = seen(events, [(0, 0, 1.5), (0, 1, 1.2), (0, 2, 1.1)], ["a", "b", "b"])
    assert found == {
        "a: 1 beside b*3": (2.0, 1.5), "b: 1 beside a*1 + b*2": (2.0, 1.2), "b: 2 beside a*1 + b*1": (2.0, 1.1),
    }  # fmt: skip


def test_gangs_on_several_nodes_count_as_others_only() -> None:
    events: list[Event] = [
        (0, "START", 0, {0: 1, 1: 1}),
        (0, "START", 1, {0: 6}),
        (1, "FINISH", 0, {}),
        (1, "FINISH", 1, {}),
    ]
    assert seen(events, [(0, 0, 3.0), (0, 1, 1.5)], ["a", "b"]) == {"b: 2 beside a*1": (1.0, 1.5)}


def test_a_job_that_starts_or_stops_is_not_beside_others() -> None:
    """a is preempted at 2, and stops until 3; b has its GPUs at 1 and runs from 1.5."""
    events: list[Event] = [
        (0, "START", 0, {0: 1}), (1, "START", 1, {0: 2}), (1.5, "STARTED", 1, {}), (2, "PREEMPT", 0, {}),
        (3, "STOPPED", 0, {}), (4, "FINISH", 1, {}),
    ]  # fmt: skip
    speeds = [(0, 0, 1.0), (1.5, 1, 1.5), (1.5, 0, 1.5), (2, 1, 1.0)]
    assert seen(events, speeds, ["a", "b"]) == {
        "a: 1": (1.5, 1.0), "a: 1 beside b*1": (0.5, 1.5), "b: 1 beside a*1": (0.5, 1.5), "b: 1": (2.0, 1.0),
    }  # fmt: skip


def test_a_job_that_is_stopped_in_the_instant_in_which_it_begins_is_not_seen() -> None:
    events: list[Event] = [
        (0, "START", 0, {0: 1}),
        (1, "STARTED", 0, {}),
        (1, "PREEMPT", 0, {}),
        (2, "START", 1, {0: 1}),
    ]
    assert seen(events, [(1, 0, 1.0), (2, 1, 1.0), (3, 1, 1.5)], ["a", "b"]) == {"b: 1": (1.0, 1.0)}


def test_a_resized_or_rebatched_job_is_elsewhere_or_pauses() -> None:
    events: list[Event] = [
        (0, "START", 0, {0: 1}), (1, "RESIZE", 0, {0: 6}), (1.5, "RESIZED", 0, {}), (2, "REBATCH", 0, {}),
        (3, "RESIZED", 0, {}), (4, "FINISH", 0, {}),
    ]  # fmt: skip
    speeds = [(0, 0, 1.0), (1.5, 0, 1.25), (3, 0, 1.25)]
    assert seen(events, speeds, ["a"]) == {"a: 1": (1.0, 1.0), "a: 2": (1.5, 1.25)}


@pytest.mark.parametrize(("masks", "models"), [((1, 3), ["a", "b"]), ((1, 2), ["a", None])])
def test_shared_gpus_and_unknown_models_tell_nothing(masks: tuple[int, int], models: list[str | None]) -> None:
    events: list[Event] = [(0, "START", row, {0: mask}) for row, mask in enumerate(masks)]
    events += [(1, "FINISH", 1, {}), (2, "FINISH", 0, {})]
    assert seen(events, [(0, 0, 2.0), (0, 1, 2.0), (1, 0, 1.0)], models) == {"a: 1": (1.0, 1.0)}


def test_means_are_geometric_over_time_and_exact_where_all_are_alike() -> None:
    third = 1.3333333333333333
    events: list[Event] = [(0, "START", 0, {0: 1}), (1, "START", 1, {1: 1}), (4, "FINISH", 0, {}), (4, "FINISH", 1, {})]
    found = seen(events, [(0, 0, 1.5), (1, 1, 1.2)], ["a", "a"])
    assert found == {"a: 1": (7.0, pytest.approx(exp((4 * log(1.5) + 3 * log(1.2)) / 7)))}
    assert seen(events, [(0, 0, third), (1, 1, third)], ["a", "a"]) == {"a: 1": (7.0, third)}


def test_kinds_of_servers_are_kept_apart() -> None:
    events: list[Event] = [(0, "START", 0, {0: 1}), (0, "START", 1, {1: 1}), (1, "FINISH", 0, {}), (1, "FINISH", 1, {})]
    found: Observations = {}
    rows = [
        (round(at * HOUR), i, kind, row, *[*place.items(), (-1, 0)][0])
        for i, (at, kind, row, place) in enumerate(events)
    ]
    log_of = pl.DataFrame(rows, schema=["time_ms", "seq", "kind", "row", "node", "gpu_mask"], orient="row")
    table = pl.DataFrame({"time_ms": [0, 0], "row": [0, 1], "computing_slowdown": [1.5, 2.0]})
    observe(Recorded(log_of, table, ["a", "a"], [V100, T4]), found)
    alone = Combination("a", 1, ())
    assert {key: one.slow_down for key, one in found.items()} == {(V100, alone): 1.5, (T4, alone): 2.0}


def test_combinations_have_one_text() -> None:
    assert combination_of("a", "2 beside c*1 + b*10") == Combination("a", 2, (("b", 10), ("c", 1)))
    assert Combination("a", 2, (("b", 10), ("c", 1))).text == "2 beside b*10 + c*1"
    for wrong in ("", "0", "x", "1 beside", "1 beside b", "1 beside b*0", "1 beside b*1 + b*2", "1 beside b*1, c*1"):
        with pytest.raises(ValueError, match=r"is no combination|names a model twice"):
            combination_of("a", wrong)
