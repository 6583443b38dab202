"""Standard Workload Format 2.2, read (`docs/formats/swf.md`)."""

from itertools import takewhile

import polars as pl

from pointsman.workload.readers.sdk import Quality, Rows, Source, TraceFormat, settle, text_lines

FIELDS = (
    "job", "submit", "wait", "run", "allocated", "cpu", "memory", "requested", "limit", "memory_limit", "status",
    "user", "group", "executable", "queue", "partition", "preceding", "think",
)  # fmt: skip
"""The 18 fields, in order. −1 is *not known*."""
_READ = {*FIELDS} - {"cpu", "memory", "memory_limit", "group", "executable", "preceding", "think"}
STATUSES = {0: "FAILED", 1: "COMPLETED", 5: "CANCELLED"}


def _matches(source: Source) -> bool:
    """`;` comments or a first line of 18 numbers."""
    if source.data[:1] == b"{":
        return False
    lines = (line.strip() for line in source.data[:1_000_000].splitlines())
    data = next((line for line in lines if line and not line.startswith(b";")), b"")
    return len(data.split()) == len(FIELDS) and all(_is_number(cell) for cell in data.split())


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    lines = text_lines(source)
    comments = list(takewhile(lambda line: not line.strip() or line.lstrip().startswith(";"), lines))
    rows, begun, ragged, silent = [], [], [], 0
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or cells[0].startswith(";"):
            silent += 1
        elif len(cells) == len(FIELDS):
            rows.append(cells)
            begun.append(number)
        else:
            ragged.append(number)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(FIELDS, pl.String), orient="row")
    notes = ["processors are taken as GPUs: those allocated, or, where not known, those requested", *_zone(comments)]
    known = frame.select(name for name in FIELDS if (frame[name] != "-1").any())
    found = Rows(known, begun, ragged, read=_READ, others={"comment": silent})
    return settle(source, _jobs(frame), rows=found, notes=notes)


def _null_if_negative(name: str) -> pl.Expr:
    value = pl.col(name).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite() & (value >= 0)).then(value)


def _word(name: str) -> pl.Expr:
    return pl.when(~pl.col(name).str.starts_with("-")).then(pl.col(name))


def _jobs(frame: pl.DataFrame) -> pl.DataFrame:
    state = pl.col("status").cast(pl.Int64, strict=False)
    partial = pl.when(state.is_in([2, 3, 4])).then(pl.lit("part of a job that has its own summary line"))
    positive = [
        pl.when(_null_if_negative(name) > 0).then(_null_if_negative(name))
        for name in ("allocated", "requested", "limit")
    ]
    return frame.select(
        job_id=_word("job"),
        user=_word("user"),
        queue=_word("queue"),
        partition=_word("partition"),
        status=state.replace_strict(STATUSES, default=None, return_dtype=pl.String),
        time_limit_s=positive[2],
        submit_s=_null_if_negative("submit"),
        gpus=pl.coalesce(positive[0], _null_if_negative("requested")),
        duration_s=_null_if_negative("run"),
        start_s=_null_if_negative("submit") + _null_if_negative("wait"),
        end_s=_null_if_negative("submit") + _null_if_negative("wait") + _null_if_negative("run"),
        dropped=partial,
    )


def _zone(comments: list[str]) -> list[str]:
    """What the header says of the clock; submit times count from its UnixStartTime."""
    words = ("UnixStartTime", "TimeZoneString", "TimeZone")
    said = [line.lstrip("; \t").strip() for line in comments if line.lstrip("; \t").startswith(words)]
    return [f"the header says {', '.join(said)}"] if said else ["times are seconds from the log's start"]


FORMAT = TraceFormat("swf", "Standard Workload Format 2.2", _matches, _read)
