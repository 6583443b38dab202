"""A live world runs for years: what it keeps does not grow with the jobs that have ended."""

import resource

import pytest

from pointsman.cluster import load_cluster
from pointsman.live.world.kind import Kind
from pointsman.live.world.roster import Deciding, Roster
from pointsman.types import Event, Verb

JOBS_AT_ONCE, GPUS = 100, 64


def highest_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["fifo-backfill", "gittins"])
def test_memory_is_flat_over_a_million_jobs(policy: str) -> None:
    """A hundred jobs are there at once, and each second all that run end."""
    roster = Roster(load_cluster("8x8"), Deciding(policy, {}, {"overheads": "none"}), [Kind(user="ann")])
    world = roster.world()
    ask = roster.ask(0)
    starting: list[int] = []
    running: list[int] = []
    known_mb = 0.0
    for now_ms in range(1_000, 100_000_000, 1_000):
        for row in starting:
            world.tell(Event.STARTED, row, now_ms)
        for row in running:
            world.tell(Event.FINISH, row, now_ms)
        for _ in range(JOBS_AT_ONCE - len(world.rows())):
            world.submit(ask, now_ms)
        running, starting = starting, [a.row for a in world.advance(now_ms) if a.verb == Verb.START]
        if world.rows_so_far >= 100_000 and not known_mb:
            known_mb = highest_mb()
        if world.rows_so_far >= 1_000_000:
            break
    assert world.rows_so_far >= 1_000_000
    assert highest_mb() - known_mb < 10
    assert len(world.slots) == len(world.rows()) <= 2 * JOBS_AT_ONCE
