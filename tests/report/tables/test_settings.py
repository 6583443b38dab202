"""What overheads are in words: what becomes of the work of a job that is preempted is said, whatever they are."""

import pytest

from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.report.tables.settings import overheads_name


@pytest.mark.parametrize(
    ("overheads", "said"),
    [
        ("none", "none"),
        ("realistic", "realistic (a preempted job writes a checkpoint first)"),
        (
            "periodic",
            "periodic (a preempted job loses its work since the last checkpoint, one every 30 min)",
        ),
        (Overheads(stop_s=5), "stop 5 s (a preempted job writes a checkpoint first)"),
        (Overheads(stop_s=5, lost_s=7200), "stop 5 s (a preempted job loses 2 h of work)"),
        (
            Overheads(stop_s=5, lost_s=60, checkpoint_every_s=3600, loses_since_checkpoint=True),
            "stop 5 s, checkpoint every 1 h against node failures (a preempted job loses its work since the last "
            "checkpoint, one every 1 h, and 1 min of work)",
        ),
    ],
)
def test_what_becomes_of_a_preempted_jobs_work_is_said(overheads: str | Overheads, said: str) -> None:
    stated = (load_overheads(overheads) if isinstance(overheads, str) else overheads).stated()
    assert overheads_name(stated) == said
