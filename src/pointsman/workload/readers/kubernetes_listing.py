"""Jobs of Kubernetes of the objects that ``kubectl`` lists."""

from typing import Final

import polars as pl

from pointsman.sums import total
from pointsman.workload.readers.kubernetes_gpus import product_of
from pointsman.workload.readers.kubernetes_groups import grouped
from pointsman.workload.readers.kubernetes_jobs import Facts, Job, job_of
from pointsman.workload.readers.kubernetes_kinds import rank
from pointsman.workload.readers.kubernetes_objects import Object, count_of, objects
from pointsman.workload.readers.kubernetes_times import times
from pointsman.workload.readers.sdk import LINE, InputError, Quality, Source, left_out, settle, written

_MARKS: Final = ("running", "evicted", "several", "by_controller")
_NUMBERS: Final = (
    "nodes_requested", "gpus_per_node", "fraction", "time_limit_s", "priority", "submit_s", "gpus", "duration_s",
    "start_s", "end_s", "no_share_h",
)  # fmt: skip
_SCHEMA: Final = (
    dict.fromkeys(Job._fields, pl.String())
    | dict.fromkeys(_NUMBERS, pl.Float64())
    | dict.fromkeys(_MARKS, pl.Boolean())
    | {"line": pl.Int64()}
)
_CHANGED: Final = {
    "running": "still running: ran at least until the latest time in the list",
    "several": "ran several times: run time of all its runs",
}
_NOTED: Final = {
    "evicted": "jobs that were evicted before, of which only the last run is told",
    "by_controller": "jobs whose start is when their pods were made, which then may have waited for nodes "
    "(`kubectl get jobs,pods -A -o json` exports the pods, too)",
}


def read(source: Source) -> tuple[pl.DataFrame, Quality]:
    """The jobs of a list.

    Raises:
        InputError: there are none.
    """
    listed = objects(source)
    things = [thing for _, thing in listed if thing is not None]
    parts = [thing for thing in things if rank(thing) is not None]
    if not parts:
        kinds = ", ".join(sorted({thing.kind for thing in things})[:5]) or "nothing of Kubernetes"
        fix = "give what `kubectl get pods,jobs -A -o json` prints"
        raise InputError(f"no pods or jobs of Kubernetes, but {kinds:.80}", path=source.path, fix=fix)
    groups = grouped(parts)
    facts = _facts(things)
    frame = pl.DataFrame([job_of(group, facts) for group in groups], schema=_SCHEMA, orient="row")
    others = [(line, _why(thing)) for line, thing in listed if thing is None or rank(thing) is None]
    strange = pl.DataFrame(others, schema={LINE: pl.Int64, "dropped": pl.String}, orient="row")
    jobs = pl.concat([_table(frame), strange], how="diagonal_relaxed")
    jobs = jobs if jobs[LINE].min() else jobs.drop(LINE)
    kept = frame.filter(pl.col("dropped").is_null() & (pl.col("gpus") > 0))
    return settle(
        source,
        jobs,
        records=len(listed),
        notes=_notes(frame, kept),
        clamped={said: int(kept[mark].sum()) for mark, said in _CHANGED.items()},
        merged={"objects of a job of another object": len(parts) - len(groups)},
        zone="UTC, as Kubernetes has them",
    )


def _facts(things: list[Object]) -> Facts:
    nodes = {thing.name: product_of(thing.labels) for thing in things if thing.kind == "Node"}
    classes = {thing.name: count_of(thing.body.get("value"), 0) for thing in things if thing.kind == "PriorityClass"}
    now_s = max((at for thing in things for at in times(thing)), default=0.0)
    return Facts({name: kind for name, kind in nodes.items() if kind}, classes, now_s)


def _table(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of the job table; a name that jobs of several kinds have is told apart by the kind."""
    twice = pl.col("job_id").is_duplicated()
    named = frame.with_columns(
        job_id=pl.when(twice).then(pl.format("{} ({})", "job_id", "kind")).otherwise("job_id"),
    )
    left = named.drop("kind", "no_share", "no_share_h", *_MARKS)
    return left.rename({"unread_submit": written("submit_s"), "line": LINE})


def _why(thing: Object | None) -> str:
    return "no object of Kubernetes" if thing is None else f"an object of another kind: {thing.kind:.40}"


def _notes(frame: pl.DataFrame, kept: pl.DataFrame) -> list[str]:
    notes = [
        "a job is the objects that owners and labels join; it asks for all its pods at once",
        "the namespace is the account, and the queue where no queue is named",
    ]
    counts = {said: int(kept[mark].sum()) for mark, said in _NOTED.items()}
    notes += [f"{said}: {count:,}" for said, count in counts.items() if count]
    lost = frame.filter(pl.col("start_s").is_not_null())
    return [*notes, *left_out(lost["no_share"], total(lost["no_share_h"]))]
