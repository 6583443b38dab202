"""Attempts as real processes: each runs once, ends when nothing of it lives, and outlives the daemon."""

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, Launch, Phase, Refused, Stop
from pointsman.live.backends.local import shim
from pointsman.live.backends.local.backend import Local

ID = AttemptId(3, 1)
PYTHON = (sys.executable, "-S", "-c")
SOON = Stop(grace_s=0.3)


@pytest.fixture
def local(tmp_path: Path) -> Local:
    return Local(load_cluster("2x4"), tmp_path)


def run(local: Local, *command: str, id_: AttemptId = ID, parts: tuple[tuple[str, int], ...] = (("n0", 3),)) -> None:
    local.launch(Launch(id_, parts, command))


def fact(local: Local, id_: AttemptId = ID) -> AttemptFact | None:
    return next((one for one in local.observe().attempts if one.id == id_), None)


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.01)


def wait(local: Local, phase: Phase, id_: AttemptId = ID) -> AttemptFact:
    wait_for(lambda: (one := fact(local, id_)) is not None and one.phase == phase)
    found = fact(local, id_)
    assert found is not None
    return found


def log(local: Local, id_: AttemptId = ID) -> str:
    return (local._folder(id_) / "output.log").read_text()


@pytest.mark.parametrize(("code", "exit_"), [("0", Exit(0)), ("7", Exit(7))])
def test_a_command_runs_and_its_exit_code_is_known(local: Local, code: str, exit_: Exit) -> None:
    run(local, *PYTHON, f"print('hello'); raise SystemExit({code})")
    assert wait(local, Phase.ENDED).exit == exit_
    assert log(local) == "hello\n"


def test_a_signal_is_known(local: Local) -> None:
    run(local, *PYTHON, "import os; os.kill(os.getpid(), 11)")
    assert wait(local, Phase.ENDED).exit == Exit(None, 11)


def test_a_command_that_does_not_exist_fails_and_says_so(local: Local) -> None:
    run(local, "no-such-command")
    ended = wait(local, Phase.ENDED)
    assert ended.exit == Exit(127)
    assert ended.exit.detail == "no-such-command: No such file or directory"


def test_launched_twice_it_runs_once(local: Local, tmp_path: Path) -> None:
    for _ in range(5):
        run(local, *PYTHON, f"open({str(tmp_path / 'runs')!r}, 'a').write('x')")
    wait(local, Phase.ENDED)
    run(local, *PYTHON, f"open({str(tmp_path / 'runs')!r}, 'a').write('x')")
    time.sleep(0.3)
    assert (tmp_path / "runs").read_text() == "x"


def test_it_has_its_gpus_and_what_torchrun_wants(local: Local) -> None:
    names = ["CUDA_VISIBLE_DEVICES", "NODE_RANK", "NNODES", "WORLD_SIZE", "POINTSMAN_JOB_ID", "POINTSMAN_ATTEMPT"]
    run(local, *PYTHON, f"import os; print(*map(os.environ.get, {names}))", parts=(("n0", 6), ("n1", 1)))
    wait(local, Phase.ENDED)
    assert sorted(log(local).splitlines()) == ["0 1 2 3 3 1", "1,2 0 2 3 3 1"]


def test_it_writes_to_the_file_that_its_user_names(local: Local, tmp_path: Path) -> None:
    launch = Launch(
        AttemptId(3, 1), (("n0", 1),), (*PYTHON, "print('hello')"), folder=str(tmp_path), output="%j-%a.out"
    )
    local.launch(launch)
    wait(local, Phase.ENDED)
    assert (tmp_path / "3-1.out").read_text() == "hello\n"


def test_an_output_that_cannot_be_opened_is_said(local: Local, tmp_path: Path) -> None:
    local.launch(Launch(ID, (("n0", 1),), (*PYTHON, "print('hello')"), output=str(tmp_path / "no" / "such")))
    ended = wait(local, Phase.ENDED)
    assert ended.exit == Exit(127)
    assert ended.exit.detail == f"{tmp_path / 'no' / 'such'}: No such file or directory"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can run jobs of others")
def test_jobs_of_others_run_as_them_and_open_files_as_them(local: Local, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:-2]:
        folder.chmod(0o755)
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o777)
    open_to_all.chmod(0o777)
    who = ("sh", "-c", "id -u; id -g; id -G")
    user = pwd.getpwnam("nobody")
    local.launch(Launch(ID, (("n0", 1),), who, output=str(open_to_all / "out"), uid=user.pw_uid))
    wait(local, Phase.ENDED)
    assert (open_to_all / "out").read_text() == f"{user.pw_uid}\n{user.pw_gid}\n{user.pw_gid}\n"
    assert (open_to_all / "out").stat().st_uid == user.pw_uid
    local.launch(Launch(AttemptId(3, 2), (("n0", 1),), who, output=str(tmp_path / "out"), uid=user.pw_uid))
    ended = wait(local, Phase.ENDED, AttemptId(3, 2))
    assert ended.exit and ended.exit.detail == f"{tmp_path / 'out'}: Permission denied"


def test_a_gang_ends_when_one_of_it_fails(local: Local) -> None:
    command = "import os, time; time.sleep(60 if os.environ['NODE_RANK'] == '0' else 0); raise SystemExit(5)"
    run(local, *PYTHON, command, parts=(("n0", 1), ("n1", 1)))
    ended = wait(local, Phase.ENDED)
    assert ended.exit is not None
    assert not ended.exit.succeeded


def test_it_stops_when_it_is_told_and_may_write_a_checkpoint(local: Local) -> None:
    hears = "signal.signal(15, lambda *_: (print('saved'), sys.exit(0)))"
    run(local, *PYTHON, f"import signal, sys, time; {hears}; print('up', flush=True); time.sleep(60)")
    wait_for(lambda: fact(local) is not None and (local._folder(ID) / "output.log").exists() and "up" in log(local))
    local.stop(ID, Stop(grace_s=10))
    assert wait(local, Phase.ENDED).exit == Exit(0, asked=True)
    assert log(local) == "up\nsaved\n"


def test_a_signal_asks_for_a_checkpoint_first(local: Local) -> None:
    hears = "signal.signal(10, lambda *_: print('saved', flush=True))"
    run(local, *PYTHON, f"import signal, time; {hears}; print('up', flush=True); time.sleep(60)")
    wait_for(lambda: fact(local) is not None and (local._folder(ID) / "output.log").exists() and "up" in log(local))
    local.stop(ID, Stop(checkpoint_s=0.5, grace_s=5))
    assert wait(local, Phase.ENDED).exit == Exit(None, 15, asked=True)
    assert "saved" in log(local)


def test_what_does_not_hear_is_killed_and_its_children_wherever_they_have_gone(local: Local) -> None:
    deaf = (
        "import os, signal, time; signal.signal(15, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
        "print('up', flush=True); time.sleep(60)"
    )
    run(local, *PYTHON, deaf)
    wait_for(lambda: (local._folder(ID) / "output.log").exists() and log(local).count("up") == 3)
    mark = json.loads((local._folder(ID) / "launch.json").read_text())["mark"]
    assert len(shim.marked(mark)) == 3
    local.stop(ID, SOON)
    assert wait(local, Phase.ENDED).exit == Exit(None, 9, asked=True)
    assert shim.marked(mark) == []


def test_gpus_are_free_when_all_that_it_left_behind_is_gone(local: Local) -> None:
    run(
        local,
        *PYTHON,
        "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(1.5)\n    print('late', flush=True)",
    )
    wait(local, Phase.ENDED)
    assert shim.marked(f"3.1@{local._attempts}") == []


def test_it_outlives_the_daemon_and_another_finds_it(local: Local, tmp_path: Path) -> None:
    run(local, *PYTHON, "import time; time.sleep(1); raise SystemExit(4)")
    wait(local, Phase.RUNNING)
    other = Local(load_cluster("2x4"), tmp_path)
    found = fact(other)
    assert found is not None
    assert (found.phase, found.parts) == (Phase.RUNNING, (("n0", 3),))
    assert wait(other, Phase.ENDED).exit == Exit(4)


def test_one_that_was_written_down_and_not_begun_is_absent_and_can_be_launched(local: Local) -> None:
    local._write(local._folder(ID), Launch(ID, (("n0", 3),), (*PYTHON, "pass")))
    assert fact(local) is None
    run(local, *PYTHON, "print('other')")
    assert wait(local, Phase.ENDED).exit == Exit(0)
    assert log(local) == ""


def test_one_whose_shim_died_before_it_ran_anything_never_ran(local: Local) -> None:
    local._write(local._folder(ID), Launch(ID, (("n0", 3),), (*PYTHON, "pass")))
    (local._folder(ID) / "begun").touch()
    assert wait(local, Phase.ENDED).exit == Exit(ran=False)


def test_one_that_is_stopped_before_it_begins_never_runs(local: Local) -> None:
    folder = local._folder(ID)
    local._write(folder, Launch(ID, (("n0", 3),), (*PYTHON, "print('ran')")))
    local.stop(ID, SOON)
    run(local, *PYTHON, "print('ran')")
    assert wait(local, Phase.ENDED).exit == Exit(None, 15, ran=False, asked=True)
    assert not (folder / "output.log").exists()


def test_one_that_is_stopped_before_its_shim_has_begun_it_never_runs(local: Local) -> None:
    """Whoever claims it first has it: the shim that runs it, or the stop that forbids it."""
    for number in range(1, 30):
        id_ = AttemptId(4, number)
        run(local, *PYTHON, "print('ran', flush=True); import time; time.sleep(60)", id_=id_)
        time.sleep(0.004 * (number % 15))
        local.stop(id_, SOON)
        told = fact(local, id_)
        assert told is not None, "it is either begun or forbidden now"
        if told.phase == Phase.ENDED:
            time.sleep(0.1)
            assert not (local._folder(id_) / "output.log").exists()
    for number in range(1, 30):
        wait(local, Phase.ENDED, AttemptId(4, number))


def test_its_folder_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local = Local(load_cluster("2x4"), Path("state"))
    run(local, *PYTHON, "print('ran')")
    wait(local, Phase.ENDED)
    assert log(local) == "ran\n"


def test_a_deep_checkpoint_is_removed(local: Local) -> None:
    deep = "for _ in range(1500): os.mkdir('d'); os.chdir('d')"
    run(local, *PYTHON, f"import os; os.chdir(os.environ['POINTSMAN_CHECKPOINT_DIR'])\n{deep}")
    wait(local, Phase.ENDED)
    local.forget([], [3])
    wait_for(lambda: not list(local._checkpoints.iterdir()))


def test_a_shell_hears_a_signal_before_its_commands_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "launch.json").write_text("{}")
    eldest_first = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    heard: list[int] = []
    monkeypatch.setattr(shim.Shim, "_family", lambda _: [process.pid for process in reversed(eldest_first)])
    monkeypatch.setattr(os, "kill", lambda pid, _: heard.append(pid))
    shim.Shim(tmp_path)._signal(signal.SIGTERM)
    monkeypatch.undo()
    for process in eldest_first:
        process.terminate()
        process.wait()
    assert heard == [process.pid for process in eldest_first]


def test_when_its_shim_dies_it_runs_on_and_can_be_stopped(local: Local) -> None:
    run(local, *PYTHON, "import time; time.sleep(60)")
    wait(local, Phase.RUNNING)
    pid = local._shim_of(local._folder(ID))
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: local._shim_of(local._folder(ID)) is None)
    assert wait(local, Phase.RUNNING).exit is None
    found = fact(local)
    assert found is not None
    assert found.phase == Phase.RUNNING
    local.stop(ID, SOON)
    assert wait(local, Phase.ENDED).exit == Exit(asked=True)


def test_what_has_put_off_its_mark_stays_in_its_cgroup_when_its_shim_dies(local: Local) -> None:
    if local._cgroups is None:
        pytest.skip("this system has no cgroups of version 2, or gives none away")
    run(local, "sh", "-c", "env -i setsid sleep 1000 & sleep 1000")
    wait(local, Phase.RUNNING)
    cgroup = shim_file(local, "launch.json")["cgroup"]
    wait_for(lambda: len(shim.members(cgroup)) >= 3)
    pid = local._shim_of(local._folder(ID))
    assert pid is not None
    assert pid not in shim.members(cgroup)
    os.kill(pid, signal.SIGKILL)
    os.kill(max(shim.marked(shim_file(local, "launch.json")["mark"])), signal.SIGKILL)
    local.stop(ID, SOON)
    assert wait(local, Phase.ENDED).exit == Exit(asked=True)
    assert shim.members(cgroup) == []
    local.forget([ID], [])
    assert not Path(cgroup).exists()


def shim_file(local: Local, name: str) -> Any:
    return json.loads((local._folder(ID) / name).read_text())


def test_what_has_put_off_its_mark_is_known_by_its_session_when_its_shim_dies(tmp_path: Path) -> None:
    """Without cgroups."""
    local = Local(load_cluster("2x4"), tmp_path)
    local._cgroups = None
    run(local, "env", "-i", "sleep", "1000")
    wait(local, Phase.RUNNING)
    watching = local._shim_of(local._folder(ID))
    assert watching is not None
    os.kill(watching, signal.SIGKILL)
    wait_for(lambda: local._shim_of(local._folder(ID)) is None)
    found = fact(local)
    assert found is not None
    assert found.phase == Phase.RUNNING
    (left,) = local._left_over_pids(local._folder(ID))
    os.kill(left, signal.SIGKILL)
    assert wait(local, Phase.ENDED).exit == Exit(detail="")


def test_a_session_whose_leader_is_another_process_by_now_is_not_ours() -> None:
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as other:
        began = shim.start_time(other.pid)
        assert began is not None
        assert shim.in_sessions([[other.pid, began]]) == [other.pid]
        assert shim.in_sessions([[other.pid, began - 1]]) == []
        other.kill()


def test_an_end_is_written_down_as_soon_as_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def full_at_first(path: Path, content: object) -> None:
        tries.append(content)
        if len(tries) < 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(shim, "_LOOK_S", 0.0)
    shim._at_last(lambda: full_at_first(tmp_path, 7))
    assert tries == [7, 7, 7]


def test_ends_are_known_although_whoever_began_the_daemon_ignores_those_of_children(local: Local) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        run(local, *PYTHON, "raise SystemExit(3)")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert wait(local, Phase.ENDED).exit == Exit(3)


def test_a_directory_in_which_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts").chmod(0o777)
    with pytest.raises(UsageError, match="attempts: others may write there"):
        Local(load_cluster("2x4"), tmp_path)


def test_stopping_what_has_ended_or_never_was_does_nothing(local: Local) -> None:
    local.stop(ID, SOON)
    run(local, *PYTHON, "pass")
    wait(local, Phase.ENDED)
    local.stop(ID, SOON)
    assert wait(local, Phase.ENDED).exit == Exit(0)


def test_a_job_of_a_user_that_is_not_known_is_refused(local: Local) -> None:
    with pytest.raises(Refused, match="has no user" if os.getuid() == 0 else "of uid"):
        local.launch(Launch(ID, (("n0", 1),), ("true",), uid=54_321))


def test_forgotten_it_is_gone(local: Local) -> None:
    run(local, *PYTHON, "pass")
    wait(local, Phase.ENDED)
    local.forget([ID, AttemptId(9, 9)], [])
    assert fact(local) is None


def test_a_folder_that_was_half_forgotten_when_the_daemon_died_is_nothing(local: Local, tmp_path: Path) -> None:
    run(local, *PYTHON, "pass")
    wait(local, Phase.ENDED)
    half = local._folder(ID).rename(local._attempts / "3.1.partial")
    (half / "launch.json").unlink()
    other = Local(load_cluster("2x4"), tmp_path)
    assert other.observe().attempts == ()
    assert not half.exists()


@pytest.mark.slow
def test_forty_at_once_each_run_once(local: Local, tmp_path: Path) -> None:
    ids = [AttemptId(job, 1) for job in range(40)]
    for id_ in ids:
        run(local, *PYTHON, f"open({str(tmp_path / 'runs')!r}, 'a').write('{id_.job}\\n')", id_=id_)
    for id_ in ids:
        assert wait(local, Phase.ENDED, id_).exit == Exit(0)
    assert sorted(map(int, (tmp_path / "runs").read_text().split())) == list(range(40))


def test_a_job_finds_what_its_attempt_before_has_left_until_it_has_ended(local: Local) -> None:
    leave = "import os; at = os.environ['POINTSMAN_CHECKPOINT_DIR']; print(os.listdir(at)); open(at + '/a', 'w')"
    for number in (1, 2):
        run(local, *PYTHON, leave, id_=AttemptId(3, number))
        wait(local, Phase.ENDED, AttemptId(3, number))
    assert (log(local, AttemptId(3, 1)), log(local, AttemptId(3, 2))) == ("[]\n", "['a']\n")
    local.forget([], [3])
    run(local, *PYTHON, leave, id_=AttemptId(3, 3))
    wait(local, Phase.ENDED, AttemptId(3, 3))
    assert log(local, AttemptId(3, 3)) == "[]\n"
