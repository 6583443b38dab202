"""What a compiled policy works out of the jobs before a run: compiled code knows no names of users and queues."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

AFTER_SUBMISSION = ("duration_s", "status")
"""Columns of the job table that no scheduler knows when a job is submitted."""


class Briefing(NamedTuple):
    """Numbers of the jobs, and what the policy's memory holds at first."""

    numbers: NDArray[np.float64]
    """(jobs, k) by row; hooks find those of a job in its row of ``State.job_numbers``, which is its slot."""
    memory: NDArray[np.float64]
    """What ``State.memory`` begins with."""


def known_at_submission(jobs: "pl.DataFrame") -> "pl.DataFrame":
    """The columns of the job table that a scheduler knows when a job is submitted."""
    return jobs.drop(AFTER_SUBMISSION, strict=False)
