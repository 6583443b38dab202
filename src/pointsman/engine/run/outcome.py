"""From the arrays of a finished run to a `Result`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster import Cluster
from pointsman.engine.run.result import RunData
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.snapshot import copied
from pointsman.engine.run.view import unsettled_ms
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.state.records import LOG
from pointsman.types import Event, JobState, Locality, Reason, Verb
from pointsman.workload import Workload
from pointsman.workload.columns import SHAPE
from pointsman.workload.rules.kept_columns import kept_columns
from pointsman.workload.transforms.enforce_limits import KILLED

_STATES = {int(s): s.name for s in JobState}
_KINDS = {int(k): k.name for k in (*Event, *Verb)}
_REASONS = {int(r): r.name for r in Reason}
_LOCALITIES = {int(x): x.name.lower() for x in Locality}
_NOWHERE = -1
_COLUMNS = ("job_id", "user", "queue", "partition", "model", "gpu_type", "gpus", "priority", "submit_s", "duration_s")


def make_result(
    simulation: Simulation, prepared: Prepared, workload: Workload, cluster: Cluster, choices: dict[str, Any]
) -> RunData:
    """The result of a run that has ended or was cut.

    `choices` are the entries of ``Result.info`` that say what was asked for: policy, needs, params, placement,
    overheads, seed.
    """
    layout = prepared.layout
    info = {
        **choices,
        "knowledge": prepared.terms.knowledge
        if prepared.terms.knowledge in ("none", "history", "oracle")
        else f"estimate {prepared.terms.knowledge}",
        "cluster": cluster.name,
        "gpus": int(layout.node_gpus.sum()),
        "nodes": len(layout.node_gpus),
        "node_names": list(layout.node_names),
        "node_gpus": layout.node_gpus.tolist(),
        "node_gpu_types": [layout.gpu_types[k] for k in layout.node_gpu_type],
        **({"node_partitions": [*map(list, layout.node_partitions)]} if any(layout.node_partitions) else {}),
        **({"node_racks": layout.node_rack.tolist()} if layout.node_rack.any() else {}),
        **({"node_pods": layout.node_pod.tolist()} if layout.node_pod.any() else {}),
        "engine_s": simulation.engine_s,
        "decisions": simulation.decisions,
        "events": int(simulation.handle.world.clock[0]["events"]),
        "workload": workload.provenance.as_dict(),
        "quality": prepared.quality.as_dict(),
        "assumptions": _assumptions(prepared, choices["needs"]),
        **prepared.terms.base_model.info(layout),
    }
    if simulation.kept.dropped:
        info["assumptions"].append("the plan log became too large and is dropped: means over the window are of samples")
    if prepared.pools.schedulers > 1:
        counted = getattr(simulation.policy, "forwards", lambda _: 0)(simulation.handle.state.memory)
        info |= {"schedulers": prepared.pools.schedulers, "forwards": counted}
    origin_s = float(prepared.jobs["submit_s"][0])
    jobs = _jobs(simulation, prepared, origin_s)
    events = _events(simulation, jobs) if simulation.handle.state.g[0]["log_on"] else None
    if prepared.terms.base_model.tells_done:
        jobs = jobs.with_columns(done_s=_done_s(simulation, jobs, choices.get("until_s")))
    learnt = getattr(simulation.policy, "learnt", dict)()
    return RunData(jobs, events, _series(simulation), info, _speeds(simulation), learnt)


def _assumptions(prepared: Prepared, needs: str) -> list[str]:
    told = [
        "arrivals are open-loop: submissions do not depend on the length of the queue",
        prepared.terms.base_model.recorded,
        "a job runs its recorded duration whatever its recorded status",
    ]
    if prepared.jobs["model"].null_count() == len(prepared.jobs):
        told.append(prepared.terms.base_model.without_models)
    if prepared.terms.knowledge == "oracle" and needs != "none":
        told.append("the policy uses true durations, which no real scheduler has")
    return [*told, *prepared.assumptions]


def _seconds(ms: NDArray[np.int64], known: NDArray[np.bool_], origin_s: float = 0.0) -> pl.Series:
    if known.all():
        return pl.Series(ms / 1000.0 + origin_s)
    return pl.Series(np.where(known, ms / 1000.0 + origin_s, np.nan)).fill_nan(None)


def _jobs(simulation: Simulation, prepared: Prepared, origin_s: float) -> pl.DataFrame:
    """One row for each job, its times in the engine's whole ms; jobs still in the system get what is known of them."""
    outcomes = _with_unfinished(simulation)
    trace, state = prepared.trace, outcomes["state"].astype(np.int64)
    if KILLED in prepared.jobs.columns:
        state[prepared.jobs[KILLED].to_numpy() & (state == JobState.COMPLETED)] = JobState.TIMEOUT
    known = outcomes["state"] != 0
    started, ended = known & (outcomes["start"] >= 0), known & (outcomes["end"] >= 0)
    asked = ("fraction",) if int(simulation.handle.state.g[0]["jobs_per_gpu"]) > 1 else ()
    billed = ("account",) if prepared.jobs["account"].null_count() < prepared.jobs.height else ()
    shaped = SHAPE if any(prepared.jobs[name].null_count() < prepared.jobs.height for name in SHAPE) else ()
    protected = () if prepared.jobs["preemptible"].all() else ("preemptible",)
    told = np.where(known, outcomes["estimate"], np.nan) if prepared.terms.knowledge == "history" else trace["estimate"]
    locality = np.where(started & (outcomes["nodes"] > 0), outcomes["locality"], _NOWHERE)
    own = kept_columns(prepared.jobs.columns)
    jobs = prepared.jobs.select(*_COLUMNS, *shaped, *billed, *protected, *asked, *own)
    if asked or prepared.terms.factors:
        jobs = jobs.with_columns(slowed_s=pl.Series(outcomes["slowed"] / 1000.0))
    return jobs.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        submit_s=pl.Series(trace["submit"] / 1000.0 + origin_s),
        duration_s=pl.Series(trace["work"] / 1000.0),
        estimate_s=pl.Series(told / 1000.0).fill_nan(None),
        start_s=_seconds(outcomes["start"], started, origin_s),
        end_s=_seconds(outcomes["end"], ended, origin_s),
        wait_s=_seconds(outcomes["start"] - trace["submit"], started),
        jct_s=_seconds(outcomes["end"] - trace["submit"], ended),
        pending_s=pl.Series(outcomes["pended"] / 1000.0),
        run_s=pl.Series(outcomes["run"] / 1000.0),
        held_gpu_s=pl.Series(outcomes["held"] / 1000.0),
        preemptions=pl.Series(outcomes["preempts"].astype(np.int64)),
        lost_s=pl.Series(outcomes["lost"] / 1000.0),
        comm_s=pl.Series(outcomes["waited"] / 1000.0),
        nodes=pl.Series(outcomes["nodes"].astype(np.int64)),
        locality=_names_of_codes(locality, {**_LOCALITIES, _NOWHERE: None}, pl.String()),
        state=_names_of_codes(state, _STATES, pl.String()),
    )


def _done_s(simulation: Simulation, jobs: pl.DataFrame, until_s: float | None) -> pl.Series:
    """Nominal seconds of work that each job has done by `until_s`, or now; null if it was cancelled."""
    done = np.where(jobs["state"] == "COMPLETED", jobs["duration_s"].to_numpy(), np.nan)
    unfinished = np.asarray(simulation.handle.jobs)
    unfinished = unfinished[unfinished["state"] != 0]
    by_ms = simulation.now_ms if until_s is None else 1000 * until_s
    runs = unfinished["state"] == JobState.RUNNING
    gone_on = np.where(
        runs, unfinished["done_when_rated"] + unfinished["rate"] * (by_ms - unfinished["rated"]), unfinished["done"]
    )
    done[unfinished["row"]] = gone_on / 1000.0
    return pl.Series(np.minimum(done, jobs["duration_s"].to_numpy())).fill_nan(None)


def _with_unfinished(simulation: Simulation) -> NDArray[np.void]:
    """The outcomes of all jobs, of those that have not ended what is known of them."""
    state, outcomes = simulation.handle.state, simulation.handle.world.outcomes
    jobs = np.asarray(simulation.handle.jobs)
    jobs = jobs[jobs["state"] != 0]
    if not len(jobs):
        return outcomes
    outcomes = copied(outcomes)
    row, now = jobs["row"], int(state.g[0]["now"])
    outcomes["start"][row] = jobs["first_start"]
    outcomes["end"][row] = -1
    outcomes["run"][row] = jobs["executed"] + unsettled_ms(jobs, now)
    waits = np.where(jobs["state"] == JobState.PENDING, now - jobs["pend_since"], 0)
    outcomes["pended"][row] = jobs["pended"] + waits
    outcomes["held"][row] = jobs["held"] + jobs["gpus"] * (now - jobs["held_since"])
    for name in ("estimate", "lost", "waited", "slowed", "preempts", "nodes", "locality", "state"):
        outcomes[name][row] = jobs[name]
    return outcomes


def _names_of_codes(codes: NDArray[np.int64], names: Mapping[int, str | None], dtype: pl.DataType) -> pl.Series:
    """The name of each code; all codes from the least to the most that has a name have places in one table."""
    least = min(names)
    place = np.full(max(names) + 1 - least, len(names), np.uint32)  # a code without a name is refused as out of bounds
    place[np.array([*names]) - least] = np.arange(len(names))
    return pl.Series([*names.values()], dtype=dtype).gather(place[codes - least])


def _words(names: Mapping[int, str]) -> pl.Enum:
    return pl.Enum(list(dict.fromkeys(names.values())))


def _columns(parts: list[NDArray[np.void]]) -> dict[str, pl.Series]:
    """The fields of records of the plan log, all of which are whole words. `parts` are let go of as they are read, for
    the log of a million jobs is a fifth of what their run takes.
    """
    names = LOG.names or ()
    pieces: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    while parts:
        words = parts.pop(0).view(np.int64).reshape(-1, len(names))
        for name, column in zip(names, words.T, strict=True):
            pieces[name].append(column.copy())
    return {name: pl.Series(name, np.concatenate(pieces.pop(name))) for name in names}


def _events(simulation: Simulation, jobs: pl.DataFrame) -> pl.DataFrame:
    """The plan log as a table, with what was kept of the log about each job."""
    column = _columns(simulation.take_log())
    events = pl.DataFrame(
        {
            "time_ms": column["time"],
            "seq": column["seq"],
            "kind": _names_of_codes(column["kind"].to_numpy(), _KINDS, _words(_KINDS)),
            "row": column["row"],
            "attempt": column["attempt"],
            "arg": column["arg"],
            "reason": _names_of_codes(column["reason"].to_numpy(), _REASONS, _words(_REASONS)),
            "node": column["node"],
            "gpu_mask": column["mask"],
            "gpus": np.bitwise_count(column["mask"].to_numpy().view(np.uint64)).astype(np.int64),
        }
    )
    rows = events["row"].set(events["row"] < 0, None)  # -1: of no job
    return events.with_columns(jobs[name].gather(rows) for name in simulation.columns.names)


def _speeds(simulation: Simulation) -> pl.DataFrame | None:
    """Changes of speed, if they were kept."""
    speeds = simulation.speeds()
    if speeds is None:
        return None
    names = {
        "time_ms": "time",
        "row": "row",
        "rate": "rate",
        "slowdown": "slow",
        "computing_slowdown": "slow_computing",
    }
    table = pl.DataFrame({ours: np.ascontiguousarray(speeds[field]) for ours, field in names.items()})
    return table.with_columns(rate=pl.when(pl.col("rate") > 0.0).then(pl.col("rate")))


def _series(simulation: Simulation) -> pl.DataFrame:
    """Samples of the state."""
    world = simulation.handle.world
    samples = np.asarray(world.samples)[: int(world.clock[0]["samples"])]
    names = {
        "time_ms": "time",
        "used_gpus": "used",
        "running": "running",
        "pending": "pending",
        "queued_gpus": "queued_gpus",
        "largest_free": "largest_free",
        "whole_free_nodes": "whole_free",
        "head_gpus": "head_gpus",
    }
    return pl.DataFrame({ours: np.ascontiguousarray(samples[field]) for ours, field in names.items()})
