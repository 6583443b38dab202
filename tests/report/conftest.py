"""Results that several tests look at."""

import pytest

from pointsman.report.result import Result

from .small_results import busy_jobs, simulate


@pytest.fixture(scope="session")
def fifo() -> Result:
    return simulate(busy_jobs(400, 1), nodes=8, size=8, policy="fifo", seed=1)


@pytest.fixture(scope="session")
def srtf() -> Result:
    return simulate(busy_jobs(400, 1), nodes=8, size=8, policy="srtf", seed=1)


@pytest.fixture(scope="session")
def many() -> list[Result]:
    """Three policies on three common seeds."""
    policies = ("fifo", "sjf-backfill", "srtf")
    return [simulate(busy_jobs(300, s), nodes=8, size=8, policy=p, seed=s) for p in policies for s in (1, 2, 3)]
