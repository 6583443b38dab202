"""Job lists of the Tiresias simulator (`docs/formats/tiresias.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import Quality, Source, TraceFormat, has_columns, number, read_rows, settle, text

_COLUMNS = ("job_id", "num_gpu", "submit_time", "duration")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    model = text("model_name") if "model_name" in rows.frame.columns else pl.lit(None, pl.String)
    jobs = rows.frame.select(
        job_id=text("job_id"),
        model=model,
        submit_s=number("submit_time"),
        gpus=number("num_gpu"),
        duration_s=number("duration"),
    )
    return settle(source, jobs, ragged=rows.ragged)


FORMAT = TraceFormat("tiresias", "Tiresias simulator CSV", lambda source: has_columns(source, *_COLUMNS), _read)
