"""What would be, as rows of plain values."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from pointsman.live.daemon.submission import user_name
from pointsman.live.forecast.whatif import Answer, Figure
from pointsman.live.records.job import Job

Row = dict[str, Any]


def answered(answer: Answer, jobs: Mapping[int, Job], id_of: Callable[[int], int | str | None]) -> Row:
    """Times are seconds from now; `id_of`: what users call a job."""
    return {
        "until_start": _figure(answer.until_start),
        "until_end": _figure(answer.until_end),
        "sooner": answer.gain,
        "later": answer.lose,
        "jobs": [
            {"job_id": id_of(row)} | _of_job(jobs.get(row)) | figure._asdict() for row, figure in answer.jobs.items()
        ],
        "submitted": [
            {"early_s": _finite(one.early_ms / 1000), "expected_s": _finite(one.likely_ms / 1000),
             "late_s": _finite(one.late_ms / 1000)}
            for one in answer.new.values()
        ],
        "decisions": [
            {"in_s": ms / 1000, "verb": verb, "job_id": id_of(row), "only": who}
            for ms, verb, row, who in answer.decisions
        ],
    }  # fmt: skip


def _of_job(job: Job | None) -> Row:
    return {"name": job.name, "user": user_name(job.uid), "gpus": job.kind.gpus} if job else {}


def _figure(figure: Figure | None) -> Row | None:
    return figure._asdict() if figure is not None else None


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
