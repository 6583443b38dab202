"""Microsoft ITP, one file a cluster, of the ElasticFlow traces (`docs/formats/itp.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import Quality, Source, TraceFormat, has_columns, number, read_rows, settle, text

_COLUMNS = ("job_id", "submission_time", "duration", "num_gpu")
_DRAWN = "models and batch sizes are those that the ElasticFlow artifact drew at random"


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    drawn = {"model": text("model_name"), "batch_size": number("batch_size")}
    drawn = {ours: cell for ours, cell in drawn.items() if set(cell.meta.root_names()) <= set(rows.frame.columns)}
    jobs = rows.select(
        job_id=text("job_id"),
        submit_s=number("submission_time"),
        gpus=number("num_gpu"),
        duration_s=number("duration"),
        **drawn,
    )
    notes = ["times are seconds from the trace's start; the publisher kept no job under 600 s", *[_DRAWN][: len(drawn)]]
    return settle(source, jobs, rows=rows, notes=notes)


FORMAT = TraceFormat("itp", "Microsoft ITP 2021", lambda source: has_columns(source, *_COLUMNS), _read)
