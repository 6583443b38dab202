"""Questions about what may come are answered in another process as they would be here, and it may die."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

from pointsman.cluster import load_cluster
from pointsman.errors import BackendError, InputError, UsageError
from pointsman.live.backends.shadow import Delays, Program, Shadow
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.daemon.setting import Setting
from pointsman.live.daemon.submission import Submission
from pointsman.live.forecast import process as process_module
from pointsman.live.forecast.calibration import Start
from pointsman.live.forecast.futures import starts
from pointsman.live.forecast.present import Present
from pointsman.live.forecast.process import CHANGED, FilesChanged
from pointsman.live.forecast.record import Record
from pointsman.live.forecast.whatif import Change
from pointsman.live.world.roster import Deciding

from .daemons import RunningDaemon, wait_for
from .test_any_order import SteppedClock

CLUSTER = "2x4"
SIZES = (8, 4, 2, 8, 1)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """Five jobs, of which the first has had all GPUs for a minute."""
    clock = SteppedClock()
    shadow = Shadow(load_cluster(CLUSTER), {job: Program(1e6) for job in range(100)}, Delays())
    setting = Setting(
        tmp_path, CLUSTER, "tiresias", backend=lambda cluster, folder: shadow, clock=lambda store, least_ms: clock  # ty: ignore
    )  # fmt: skip
    daemon = Daemon(setting)
    asyncio.run(submitted(daemon))
    for at_ms in (20_000, 80_000):
        clock.at_ms = at_ms
        shadow.step(at_ms)
        daemon.turn()
    yield daemon
    daemon.close()


async def submitted(daemon: Daemon) -> None:
    wishes = [daemon.submit(Submission(command=["train"], gpus=gpus, time_limit_s=900), os.getuid()) for gpus in SIZES]
    tasks = [asyncio.ensure_future(wish) for wish in wishes]
    await asyncio.sleep(0)
    daemon.turn()
    await asyncio.gather(*tasks)


def here(daemon: Daemon) -> dict[int, Start]:
    """The same forecast without another process."""
    loop, record = daemon.loop, Record()
    record.read_on(daemon.store.path)
    began = {one.id.job: one.started_ms for one in loop.attempts.values() if one.started_ms is not None}
    now_ms = max(daemon.clock.now_ms(), loop.world.now_ms)
    return starts(Present(loop.world.copy(), now_ms, loop.jobs, began, kinds=daemon.roster.numbers), record)


@pytest.mark.parametrize("relieved", [False, True])
def test_the_same_is_foretold_as_here(daemon: Daemon, relieved: bool) -> None:
    if relieved:
        daemon.loop.relieve("it failed")
        daemon.turn()

    async def foretold() -> dict[int, Start]:
        forecaster = Forecaster(daemon)
        try:
            found = await forecaster.foretell()
            assert (await forecaster.foretold()) is found
            return found.starts
        finally:
            forecaster.close()

    found = asyncio.run(foretold())
    assert found == here(daemon)
    assert set(found) == {2, 3, 4, 5}
    assert {job for job in found if job in daemon.loop.promises.made} == {2, 3, 4, 5}


def test_one_that_has_died_begins_anew(daemon: Daemon) -> None:
    async def asked() -> None:
        forecaster = Forecaster(daemon)
        try:
            await forecaster.foretell()
            process = forecaster._starting._process
            assert process is not None and process.pid is not None
            os.kill(process.pid, signal.SIGSTOP)
            asking = asyncio.ensure_future(forecaster.foretell())
            await asyncio.sleep(0.1)
            process.kill()
            with pytest.raises(BackendError, match="has died"):
                await asking
            assert set((await forecaster.foretell()).starts) == {2, 3, 4, 5}
        finally:
            forecaster.close()
        with pytest.raises(BackendError, match="stopping"):
            await forecaster.foretell()

    asyncio.run(asked())


def test_after_an_upgrade_under_a_daemon_an_alarm_says_once_that_it_must_be_started_again(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "package" / "__init__.py"
    module.parent.mkdir()
    module.touch()
    monkeypatch.setattr(process_module, "_PACKAGE", module.parent)

    async def asked() -> None:
        forecaster = Forecaster(daemon)
        try:
            await forecaster.foretell()
            module.write_text("VERSION = 2")
            await forecaster.foretell()  # by what was begun before
            process = forecaster._starting._process
            assert process is not None
            process.kill()
            process.join()
            for _ in range(2):
                with pytest.raises(FilesChanged, match="start it again"):
                    await forecaster.foretell()
                with pytest.raises(FilesChanged):
                    await forecaster.what_if(Change(cancelled=(1,)), 0)
        finally:
            forecaster.close()

    asyncio.run(asked())
    assert [said for _, said in daemon.loop.alarms.last if "files have changed" in said] == [CHANGED]


def test_what_is_wrong_with_a_question_is_said_here(daemon: Daemon) -> None:
    async def asked() -> None:
        forecaster = Forecaster(daemon)
        try:
            with pytest.raises(UsageError, match="cannot run live"):
                await forecaster.what_if(Change(Deciding("pollux", {}, {"overheads": "realistic"})), 0)
            wide = Submission(command=["train"], gpus=99).supposed(os.getuid())
            with pytest.raises(InputError, match="99 GPUs"):
                await forecaster.what_if(Change(submitted=(wide,)), 0)
            answer = await forecaster.what_if(Change(cancelled=(1,)), 0)
            assert answer.until_start is not None and answer.until_start.change_s < 0
        finally:
            forecaster.close()

    asyncio.run(asked())


def spawned(pid: int) -> list[int]:
    """Processes of Python that another one has begun."""
    children = [pid for file in Path(f"/proc/{pid}/task").glob("*/children") for pid in file.read_text().split()]
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_it_dies_with_its_daemon(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, "--policy", "fifo") as daemon:
        runs, waits = (daemon.submit("-G", "8", "--", "sleep", "1000") for _ in range(2))
        daemon.rows("queue", "--start")
        daemon.rows("whatif", "--cancel", str(waits))
        own = spawned(daemon.process.pid)
        assert len(own) == 2
        daemon.kill()
        wait_for(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in own))
        daemon.begin()
        daemon.type("cancel", str(runs), str(waits))
        daemon.wait(runs, "CANCELLED")
        wait_for(lambda: spawned(daemon.process.pid))
        assert daemon.end() == 0, daemon.log()
        assert daemon.log().count("Traceback") == 0, daemon.log()
