"""Slurm's logs as people attach them to public reports, with the values that are right (`../shared/field`)."""

from pathlib import Path

import pytest

from pointsman.errors import InputError
from pointsman.workload import read_workload

CASES = Path(__file__).parents[3] / "shared/field/cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")

RIGHT = {
    "s02_requeue.txt": (2, 130.0),
    "s04_allocgres.txt": (2, 9.0),
    "s04b_allocgres_only.txt": (2, 9.0),
    "s05_epoch.txt": (2, 12.0),
    "s05b_localized.txt": (2, 8.0),
    "s10_pipe.txt": (5, 18.0),
    "s10c_quoted_names.txt": (4, 10.0),
    "s15_steps_tab.tsv": (1, 4.0),
    "s16_multiline.txt": (2, 12.0),
    "s17_multiline_name.txt": (2, 12.0),
    "s21_lower.txt": (1, 2 * 43213 / 3600),
    "s22_concat.txt": (2, 4 * 43213 / 3600),
    "s22_junk.txt": (1, 2 * 43213 / 3600),
    "s22_tail.txt": (1, 2 * 43213 / 3600),
    "s23_latin1.txt": (2, 12.0),
    "s26_cancelled_waiting.txt": (2, 62.0),
    "sacctD_min.txt": (1, 8 * 36600 / 3600),
    "p08_multi_part.txt": (1, 4.0),
}
"""Jobs and GPU-hours."""


@pytest.mark.parametrize("name", RIGHT)
def test_jobs_and_gpu_hours(name: str) -> None:
    read = read_workload(CASES / name)
    assert read.provenance.format == "sacct"
    gpu_h = float((read.jobs["gpus"] * read.jobs["duration_s"]).sum() / 3600)
    assert (read.jobs.height, pytest.approx(gpu_h)) == RIGHT[name]


def test_requeued_runs() -> None:
    jobs = read_workload(CASES / "s02_requeue.txt").jobs
    assert jobs.select("job_id", "gpus", "submit_s", "start_s", "end_s", "duration_s", "status").row(0) == (
        "3501", 8, 0.0, 10.0, 72000.0, 57600.0, "COMPLETED",
    )  # fmt: skip


def test_a_job_that_never_started_is_said_to_be_one() -> None:
    for name in ("s26_cancelled_waiting.txt", "p08_multi_part.txt"):
        assert read_workload(CASES / name).quality.dropped == {
            "never started: cancelled while it waited, without GPUs": 1
        }


def test_relative_dates_cannot_be_read() -> None:
    with pytest.raises(InputError, match=r"2 submit time cannot be read \(lines 2, 3; line 2 has '2 Mar 08:00'\)"):
        read_workload(CASES / "s05c_relative.txt")


def test_fixed_width_is_refused() -> None:
    with pytest.raises(InputError, match=r"columns of fixed width.*export with `sacct -aXP"):
        read_workload(CASES / "s07_fixed.txt")
