"""How much of a daemon one user may take."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

from pointsman.cluster import load_cluster
from pointsman.errors import InputError
from pointsman.live.backends.shadow import Delays, Program, Shadow
from pointsman.live.daemon.daemon import Daemon, TooMany
from pointsman.live.daemon.setting import Setting
from pointsman.live.daemon.submission import Submission

from .test_any_order import SteppedClock


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """Of eight GPUs, in this process."""
    clock, shadow = SteppedClock(), Shadow(load_cluster("2x4"), {job: Program(1e6) for job in range(10)}, Delays())
    setting = Setting(
        tmp_path, "2x4", "fifo", backend=lambda cluster, folder: shadow, clock=lambda store, least_ms: clock  # ty: ignore
    )  # fmt: skip
    one = Daemon(setting)
    yield one
    one.close()


async def submitted(daemon: Daemon, gpus: int) -> int:
    """The number of a job of so many GPUs, once a turn has taken it."""
    task = asyncio.ensure_future(daemon.submit(Submission(command=["train"], gpus=gpus), os.getuid()))
    await asyncio.sleep(0)
    daemon.turn()
    return await task


def test_kinds_of_jobs_that_are_refused_do_not_count(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.live.daemon.daemon._MOST_KINDS", 3)
    for gpus in range(9, 20):
        with pytest.raises(InputError, match="can never have more than 8"):
            asyncio.run(submitted(daemon, gpus))
    assert [asyncio.run(submitted(daemon, gpus)) for gpus in (7, 6, 7, 5)] == [1, 2, 3, 4]
    with pytest.raises(TooMany, match="you have submitted 3 kinds of jobs"):
        asyncio.run(submitted(daemon, 4))
