"""Which GPUs jobs held from when to when and why, which jobs waited, which nodes were down: read from the plan log."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.report.metrics.holdings import horizon_s, parts_held
from pointsman.report.units import policy_name
from pointsman.types import NodeState

ENDS: Final = {"PREEMPT": "PREEMPTED", "FAIL": "FAILED", "CANCEL": "CANCELLED", "NODE_DOWN": "NODE_FAIL"}
"""The state to which an event brings a job that it takes GPUs from; a FINISH to the last state of the job."""
RESIZED: Final = "RESIZED"
"""How a holding ends after which the job goes on with other GPUs."""


@dataclass(frozen=True)
class Spells:
    """Stretches of a run, by job and time; times in ms since the first submit."""

    holdings: pl.DataFrame
    """``row, from_ms, to_ms, attempt, started, end, reason``: why each started, and how and why it ended."""
    parts: pl.DataFrame
    """``holding, node, gpu_mask``: the parts of each holding on nodes, by the place of it in `holdings`."""
    waits: pl.DataFrame
    """``row, from_ms, to_ms`` of each time pending, and the places in `holdings` of those `before` and `after`: null
    where the job was just submitted, and where it did not start again. Of length 0 where it started again at once."""
    outages: pl.DataFrame
    """``node, state, from_ms, to_ms``: nodes that were DOWN, or took no more jobs (DRAIN)."""


def check_events(result: RunData) -> pl.DataFrame:
    """The plan log of a run.

    Raises:
        UsageError: it has none.
    """
    name = policy_name(result.info)
    if result.info.get("logged"):
        raise UsageError(f"{name} is the log's own schedule, which names no GPUs: name the run of a policy")
    if result.events is None:
        raise UsageError(f"the run of {name} kept no events, which a timeline requires: run again without --no-log")
    return result.events


def spells_of(result: RunData) -> Spells:
    """The stretches of a run.

    Raises:
        UsageError: the run has no plan log.
    """
    events = check_events(result)
    parts = parts_held(result, events).with_columns(holding=pl.col("holding").rle_id().cast(pl.Int64))
    end_ms = round(1000 * horizon_s(result))
    held = _holdings(result, events, parts)
    return Spells(
        held, parts.select("holding", "node", "gpu_mask"), _waits(result, held, end_ms), _outages(events, end_ms)
    )


def _holdings(result: RunData, events: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    held = parts.unique("holding", keep="first", maintain_order=True)
    log = events.select(pl.col("kind", "reason").cast(pl.String), "attempt")
    begun, ended = (log.select(pl.all().gather(held[place])) for place in ("taken", "given_up"))
    goes_on = (pl.col("row") == pl.col("row").shift(-1)).fill_null(False)
    end = pl.when(goes_on).then(pl.lit(RESIZED)).otherwise("state")
    return held.select(
        "row",
        from_ms=_in_ms("from_s"),
        to_ms=_in_ms("to_s"),
        attempt=begun["attempt"],
        started=begun["reason"],
        end=ended["kind"].replace(ENDS),
        reason=ended["reason"],
        state=result.jobs["state"].cast(pl.String).gather(held["row"]),
    ).with_columns(
        end=pl.when(pl.col("end") == "FINISH").then("state").when(pl.col("end").is_null()).then(end).otherwise("end")
    )


def _in_ms(column: str) -> pl.Expr:
    return (1000 * pl.col(column)).round().cast(pl.Int64)


def _waits(result: RunData, held: pl.DataFrame, end_ms: int) -> pl.DataFrame:
    """What lies before, between and after the holdings of each job, from its submit to its end."""
    since_first = pl.col("submit_s") - pl.col("submit_s").min()
    ended = (pl.col("end_s") - pl.col("submit_s").min()).alias("end_s")
    jobs = result.jobs.select("row", since_first, ended).select(
        "row", submit_ms=_in_ms("submit_s"), end_ms=_in_ms("end_s").fill_null(end_ms)
    )
    submits = jobs.select("row", place=pl.lit(None, pl.Int64), from_ms=pl.lit(None, pl.Int64), to_ms="submit_ms")
    ends = jobs.select("row", place=pl.lit(None, pl.Int64), from_ms="end_ms", to_ms=pl.lit(None, pl.Int64))
    places = held.select("row", pl.int_range(pl.len()).alias("place"), "from_ms", "to_ms")
    told = pl.concat([submits, places, ends]).sort("row", maintain_order=True)
    waits = told.select(
        "row", from_ms="to_ms", to_ms=pl.col("from_ms").shift(-1), before="place", after=pl.col("place").shift(-1)
    ).filter(pl.col("from_ms").is_not_null())
    started_again = pl.all_horizontal(pl.col("before", "after").is_not_null())
    return waits.filter((pl.col("to_ms") > pl.col("from_ms")) | started_again)


def _outages(events: pl.DataFrame, end_ms: int) -> pl.DataFrame:
    told = events.filter(pl.col("row") < 0).sort("node", "seq").select("node", "arg", "time_ms")
    until = pl.col("time_ms").shift(-1).over("node").fill_null(pl.max_horizontal("time_ms", pl.lit(end_ms)))
    states = {state.value: state.name for state in NodeState}
    return told.select(
        "node", pl.col("arg").replace_strict(states, return_dtype=pl.String).alias("state"),
        from_ms="time_ms", to_ms=until,
    ).filter(pl.col("state") != NodeState.UP.name)  # fmt: skip
