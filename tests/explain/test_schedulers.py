"""Which scheduler a job belongs to, and which one forwarded it."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command

OWNERS = (0, 0, 1, 0)
SEED = next(
    seed
    for seed in range(1000)
    if tuple((np.random.default_rng([seed, 0x686F6D65]).random(4) * 2).astype(int).tolist()) == OWNERS
)


@pytest.fixture
def ran(command: Command) -> Command:
    """Four gangs on two racks: the first takes the first rack, and the second, of the same scheduler, the second."""
    Path("jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,8,100\nb,10,7,500\nc,20,2,50\nd,150,4,50\n")
    policy = ("--policy", "packed", "--set", "packed.schedulers=2", "--seed", str(SEED))
    done = command("simulate", "jobs.csv", "--cluster", "4x4/rack=2,gpu=v100", *policy, "-o", "run")
    assert done.code == 0, done.err
    return command


@pytest.mark.parametrize(
    ("job", "at", "said"),
    [
        (
            "a",
            "50",
            "RUNNING: it holds 8 GPUs on n0000, n0001 since 0 s (the first submit); "
            "it belongs to scheduler 1 of 2 (n0000 to n0001)",
        ),
        (
            "b",
            "50",
            "; it belongs to scheduler 2 of 2 (n0002 to n0003), forwarded by scheduler 1 of 2 (n0000 to n0001) "
            "at 10 s (10 s after the first submit)",
        ),
        (
            "c",
            "50",
            "PENDING (Resources): needs 2 GPUs; 1 of those it may use are free; "
            "it belongs to scheduler 2 of 2 (n0002 to n0003)",
        ),
        ("c", "120", "RUNNING: it holds 2 GPUs on n0000 since 100 s (1.67 min after the first submit); it belongs to "),
        ("d", "100", "FUTURE: it is submitted only at 150 s"),
    ],
)
def test_the_owner_is_named(ran: Command, job: str, at: str, said: str) -> None:
    done = ran("explain", job, "--run", "run", "--at", at)
    assert done.code == 0, done.err
    assert said in done.out


def test_one_scheduler_is_not_worth_naming(command: Command, jobs: str) -> None:
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "packed", "-o", "run").code == 0
    assert "scheduler" not in command("explain", "j1", "--run", "run", "--at", "50").out
