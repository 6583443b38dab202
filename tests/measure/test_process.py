"""A job is a process: what it answers, and what becomes of it when something fails."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.measure.messages import Run, Setting
from pointsman.measure.pool import Pool, name_job
from pointsman.measure.process import JobFailed, JobProcess, Slot

OWN = Path(__file__).with_name("own_jobs.py")
RUN = Run(0.05, 3)
CPU = Slot("cpu")


def setting(function: str) -> Setting:
    return Setting(f"{OWN}:{function}", 1)


@pytest.fixture
def job() -> Iterator[JobProcess]:
    one = JobProcess(CPU, deadline_s=120.0)
    yield one
    one.close()


def ran(job: JobProcess) -> None:
    job.begin(RUN)
    job.wait_until_enough(RUN)
    job.stop()


def test_a_run_says_when_each_step_ended(job: JobProcess) -> None:
    job.prepare(setting("quick"), warm_up_steps=1)
    before = time.monotonic()
    job.begin(Run(0.1, 3))
    job.wait_until_enough(Run(0.1, 3))
    steps = job.stop()
    assert before <= steps.times_s[0] < steps.times_s[-1] <= time.monotonic()
    assert steps.times_s[-1] - steps.times_s[0] >= 0.1
    assert steps.times_s == sorted(steps.times_s)
    assert 0 < steps.cpu_s < 1
    assert 1 << 20 < steps.memory_bytes < 1 << 33


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forgets the most memory")
def test_memory_of_a_training_is_not_that_of_the_one_before(job: JobProcess) -> None:
    memory = []
    for batch in (1, 100_000, 1):
        job.prepare(setting("hoards")._replace(batch=batch), warm_up_steps=0)
        job.begin(RUN)
        memory.append(job.stop().memory_bytes)
    small, large, again = memory
    assert large > small + 80e6
    assert again < small + 20e6


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the processes of a group")
def test_workers_of_a_job_are_the_job() -> None:
    core = min(os.sched_getaffinity(0))
    job = JobProcess(Slot("cpu", (core,)), deadline_s=120.0)
    try:
        job.prepare(setting("works"), warm_up_steps=1)
        job.begin(Run(1.0, 3))
        job.wait_until_enough(Run(1.0, 3))
        steps = job.stop()
    finally:
        job.close()
    count, span_s = len(steps.times_s) - 1, steps.times_s[-1] - steps.times_s[0]
    assert 0.05 * count + 0.2 * span_s < steps.cpu_s <= 1.1 * span_s


def test_files_of_the_working_directory_replace_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    with Pool(deadline_s=120.0) as pool:
        assert pool.describe(CPU).name


def test_at_least_some_steps_are_run(job: JobProcess) -> None:
    job.prepare(setting("quick"), warm_up_steps=0)
    job.begin(Run(0.0, 5))
    job.wait_until_enough(Run(0.0, 5))
    assert len(job.stop().times_s) >= 6


def test_it_may_be_stopped_before_it_is_enough(job: JobProcess) -> None:
    job.prepare(setting("quick"), warm_up_steps=0)
    job.begin(RUN)
    assert len(job.stop().times_s) > 3


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("crashes", r"crash: ValueError: the loss \(own_jobs\.py:[0-9]+\)$"),
        ("lacks_memory", "out of memory: "),
        ("is_killed", "killed: by SIGKILL"),
        ("leaves", "crash: exit code 7: nothing left to train"),
        ("crashes_oddly", r"crash: ValueError: \[31mno file x{470,490} \(own_jobs\.py:[0-9]+\)$"),
    ],
)
def test_a_failure_has_a_reason(job: JobProcess, function: str, reason: str) -> None:
    job.prepare(setting(function), warm_up_steps=3)
    with pytest.raises(JobFailed, match=reason):
        ran(job)


def test_what_does_not_answer_hangs() -> None:
    job = JobProcess(CPU, deadline_s=8.0)
    try:
        job.prepare(setting("hangs"), warm_up_steps=3)
        with pytest.raises(JobFailed, match=r"hang: no answer within 8\.05 s"):
            ran(job)
    finally:
        begin = time.monotonic()
        job.close()
    assert time.monotonic() - begin < 2
    with pytest.raises(ProcessLookupError):
        os.kill(job.pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a zombie")
def test_workers_end_with_a_job_that_has_ended_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = JobProcess(CPU, deadline_s=120.0)
    begin = time.monotonic()
    try:
        job.prepare(setting("leaves_a_worker"), warm_up_steps=3)
        with pytest.raises(JobFailed, match="killed: by SIGKILL"):
            ran(job)
    finally:
        job.close()
    assert time.monotonic() - begin < 60
    (worker,) = (int(path.name.removeprefix("worker-")) for path in tmp_path.iterdir())
    assert has_ended(worker)


def test_a_failing_start_has_a_reason(job: JobProcess) -> None:
    with pytest.raises(JobFailed, match="crash: RuntimeError: no data"):
        job.prepare(setting("crashes_at_once"), warm_up_steps=1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("nonsense", "own_jobs.py has no function 'nonsense'"),
        ("returns_nothing", "own_jobs.py:returns_nothing returned NoneType; return a step"),
        ("returns_a_coroutine", "returned a step that a call only begins; return one that ends"),
        ("returns_a_generator", "returned a step that a call only begins; return one that ends"),
    ],
)
def test_what_is_no_job_is_the_users_error(job: JobProcess, function: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        job.prepare(setting(function), warm_up_steps=1)


@pytest.mark.parametrize("how", [{"parts": 2}, {"precision": "bf16"}])
def test_a_step_that_would_be_measured_as_another_is_refused(job: JobProcess, how: dict[str, Any]) -> None:
    (name,) = how
    with pytest.raises(UsageError, match=f"own_jobs.py:dozes has no parameter '{name}', so its step is the same"):
        job.prepare(setting("dozes")._replace(**how), warm_up_steps=1)


@pytest.mark.parametrize("function", ["saves", "saves_elsewhere"])
def test_a_job_that_is_terminated_saves_its_state(
    job: JobProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    monkeypatch.chdir(tmp_path)
    job.prepare(setting(function), warm_up_steps=1)
    saved = job.save(Path("saved.pt"))
    assert saved.size_bytes == (tmp_path / "saved.pt").stat().st_size > 100_000
    assert saved.write_s > 0
    assert saved.read_s > 0
    assert job.terminate_after(0.05, Path("stopped.pt")) > 0
    assert (tmp_path / "stopped.pt").stat().st_size == saved.size_bytes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_job_does_not_outlive_its_parent() -> None:
    code = f"""
import time
from pointsman.measure.messages import Run, Setting
from pointsman.measure.process import JobProcess, Slot
job = JobProcess(Slot("cpu"), 120.0)
job.prepare(Setting({f"{OWN}:hangs"!r}, 1), 3)
job.begin(Run(100.0, 3))
print(job.pid, flush=True)
time.sleep(100)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert has_ended(pid)


def has_ended(pid: int) -> bool:
    """Whether a process ends within some seconds; ends it."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if "Z (zombie)" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes")
def test_a_job_stays_on_its_cores() -> None:
    core = max(os.sched_getaffinity(0))
    job = JobProcess(Slot("cpu", (core,)), deadline_s=120.0)
    try:
        job.prepare(setting("quick"), warm_up_steps=1)
        assert os.sched_getaffinity(job.pid) == {core}
    finally:
        job.close()


def test_processes_are_kept_from_one_measurement_to_the_next() -> None:
    a, b = setting("quick"), setting("spin")
    with Pool(deadline_s=120.0) as pool:
        first, second = pool.take([(a, CPU), (b, CPU)])
        assert [job.setting for job in (first, second)] == [a, b]
        assert pool.take([(b, CPU)]) == [second]
        assert first.setting is None  # it holds no memory
        assert pool.take([(b, CPU), (a, CPU)]) == [second, first]
        os.kill(first.pid, signal.SIGKILL)
        first._process.wait()
        assert pool.take([(b, CPU)]) == [second]
        pool.drop()
        (new,) = pool.take([(a, CPU)])
        assert new not in (first, second)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the processes of a group")
def test_workers_of_a_training_end_before_the_next() -> None:
    a, b = setting("works"), setting("works")._replace(batch=2)
    with Pool(deadline_s=120.0) as pool:
        (first,) = pool.take([(a, CPU)])
        (second,) = pool.take([(b, CPU)])
        assert (second.setting, first.is_alive) == (b, False)
        pool.check(a, CPU)
        assert not second.is_alive
        (third,) = pool.take([(setting("quick"), CPU)])
        assert pool.take([(setting("dozes"), CPU)]) == [third]


def test_files_of_two_folders_have_modules_of_their_own(tmp_path: Path) -> None:
    places = []
    for folder, seconds in (("a", 0.01), ("b", 0.03)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "speed.py").write_text(f"SECONDS = {seconds}")
        code = "import time, speed\ndef job():\n    return lambda: time.sleep(speed.SECONDS)"
        (tmp_path / folder / "mine.py").write_text(code)
        places.append((Setting(f"{tmp_path / folder}/mine.py:job", 1), CPU))
    with Pool(deadline_s=120.0) as pool:
        for setting, slot in places:
            pool.check(setting, slot)
        for place, seconds in zip(places * 2, (0.01, 0.03) * 2, strict=True):
            (job,) = pool.take([place])
            ended = job.prepare(place[0], warm_up_steps=8).reached[-9:]
            assert seconds <= min(after - before for before, after in pairwise(ended)) < seconds + 0.015
        (one, two) = pool.take(places)
        assert {one.setting, two.setting} == {setting for setting, _ in places}


def test_of_several_jobs_the_one_that_fails_is_named() -> None:
    with Pool(deadline_s=120.0) as pool, pytest.raises(JobFailed, match="job b: crash: RuntimeError: no data"):
        pool.take([(setting("quick"), CPU), (setting("crashes_at_once"), CPU)])


def test_more_jobs_than_letters_have_names() -> None:
    names = [str(name_job(JobFailed("hang"), range(64), i)) for i in (0, 25, 26, 63)]
    assert names == ["job a: hang", "job z: hang", "job 27: hang", "job 64: hang"]
