"""Changes that share one `scontrol`: each has its own answer, whatever becomes of the others."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pointsman.live.backends.facts import AttemptId, Launch, Refused, Unsure
from pointsman.live.backends.slurm import acting
from pointsman.live.backends.slurm.changes import leave, move, requeue_and_hold, set_nice
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.console import can_be_typed
from pointsman.live.backends.slurm.reader import Habits, Reader

from .slurm_cluster import SlurmCluster, slurm_cluster, wait_until
from .slurm_under_test import SlurmUnderTest

GATE = ("--partition=inbox", "--nodes=1", "--gpus-per-node=1")
UNKNOWN = """echo "invalid keyword: $line" >&2"""
"""What `scontrol` says of our word."""


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(2) as cluster:
        yield cluster


def test_each_error_is_of_its_own_command(slurm: SlurmCluster) -> None:
    commands = Started(slurm.environment)
    one, two = (slurm.submit(*GATE) for _ in range(2))
    with commands.together():
        for _ in range(3):
            move(commands, one, "gpu", ["gpu1"], "mark:1")
            with pytest.raises(Refused, match="Invalid job id specified for job 99999"):
                leave(commands, "99999", "gpu")
            move(commands, one, "inbox", [], "")
            with pytest.raises(Refused, match="Invalid partition name specified for job 2"):
                leave(commands, two, "nowhere")
            with pytest.raises(Refused, match="Invalid node name"):
                move(commands, two, "gpu", ["gpu77"], "mark:2")
            with pytest.raises(Refused, match="Invalid job id"):
                requeue_and_hold(commands, "99999")
            set_nice(commands, two, 7)
        move(commands, one, "gpu", ["gpu2"], "mark:3")
    assert commands.started == ["scontrol"]
    assert slurm.state(one) in ("PENDING", "RUNNING", "CONFIGURING")
    told = slurm.call("scontrol", "show", "job", one)
    assert "Partition=gpu" in told and "ReqNodeList=gpu2" in told and "AdminComment=mark:3" in told
    assert "Nice=7" in slurm.call("scontrol", "show", "job", two)
    slurm.call("scancel", one, two)


def test_a_turn_changes_what_it_can_in_its_time(
    slurm: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are not asked for before the next look."""
    monkeypatch.setattr(acting, "CHANGING_S", 0.0)
    cluster = SlurmUnderTest(tmp_path, slurm)
    jobs = {AttemptId(k, 1): slurm.submit(*GATE) for k in (1, 2)}
    one, two = (Launch(id_, (("gpu1", id_.job),), (job,)) for id_, job in jobs.items())
    cluster.backend.observe()
    cluster.backend.launch(one)
    assert not cluster.backend.is_behind
    with pytest.raises(Unsure, match="the next look comes first"):
        cluster.backend.launch(two)
    assert cluster.backend.is_behind and not cluster.backend.failed
    assert [fact.id for fact in cluster.backend.observe().attempts] == [one.id]
    assert not cluster.backend.is_behind
    cluster.backend.launch(two)
    assert {fact.id for fact in cluster.backend.observe().attempts} == {one.id, two.id}
    slurm.call("scancel", *jobs.values())
    cluster.end()


DIES = """
import os, sys
from pointsman.live.backends.slurm.commands import Commands
commands = Commands()
with commands.together():
    assert commands.run("scontrol", "update", "JobId=" + sys.argv[1], "Nice=5").code == 0
    print(commands._console._process.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_it_ends_with_the_process_that_began_it(slurm: SlurmCluster) -> None:
    job = slurm.submit(*GATE)
    began = subprocess.run([sys.executable, "-c", DIES, job], env={**os.environ, **slurm.environment}, stdout=-1)
    assert began.returncode == -9
    scontrol = Path(f"/proc/{int(began.stdout)}/comm")
    wait_until(lambda: scontrol.exists() and scontrol.read_text() == "scontrol\n", False)
    assert "Nice=5" in slurm.call("scontrol", "show", "job", job)
    slurm.call("scancel", job)


def test_an_answer_comes_late_rather_than_with_another_command(slurm: SlurmCluster) -> None:
    """The controller is away for a while: what it did not take is unsure, and what comes after is not."""
    commands = Commands(environment=slurm.environment, timeout_s=2.0)
    job = slurm.submit(*GATE)
    with commands.together():
        set_nice(commands, job, 1)
        slurm.kill_controller()
        with pytest.raises(Unsure, match="gave no answer in 2 s"):
            set_nice(commands, job, 2)
        slurm.start_controller()
        slurm.wait_for_registration()
        job = slurm.submit(*GATE)
        with pytest.raises(Refused, match="Invalid job id specified for job 99999"):
            set_nice(commands, "99999", 3)
        set_nice(commands, job, 4)
    assert "Nice=4" in slurm.call("scontrol", "show", "job", job)
    slurm.call("scancel", job)


def test_an_option_without_effect_makes_no_answer_doubtful(slurm: SlurmCluster) -> None:
    """Slurm warns of it each time."""
    conf = slurm.folder / "slurm.conf"
    before = conf.read_text()
    conf.write_text(f"{before}ControlMachine=localhost\n")
    commands = Commands(environment=slurm.environment)
    job = slurm.submit(*GATE)
    wait_until(lambda: Reader(commands, habits=Habits(settled_s=0.0)).look().doubts, ())
    set_nice(commands, job, 1)
    with pytest.raises(Refused, match="Invalid job id specified for job 99999"):
        set_nice(commands, "99999", 1)
    conf.write_text(before)
    slurm.call("scancel", job)


def test_what_users_chose_is_not_typed() -> None:
    update = ("scontrol", "update", "JobId=7")
    assert can_be_typed((*update, "ReqNodeList=gpu[1-3,5]", "AdminComment=pointsman:ab:1:2:0", "StartTime=uts17"))
    assert can_be_typed(("scontrol", "requeuehold", "Incomplete", "7_[1-3]"))
    for word in ("Name=a b", "Name=a\nrequeue", "Name='a", 'Name="a', "Name=a\tb", "Name=a\0b", "Name=ä", "Name=$(id)",
                 "Name=a;b", "", "!!", "a\\"):  # fmt: skip
        assert not can_be_typed((*update, word))
    assert not can_be_typed((*update, "ReqNodeList=" + 4000 * "n"))
    for other in (("squeue",), ("scancel", "7"), ("scontrol", "show", "job"), ("scontrol",), ("scontrol", "shutdown")):
        assert not can_be_typed(other)


class Started(Commands):
    """Commands, and which processes of them were started."""

    def __init__(self, environment: dict[str, str], timeout_s: float = 20.0) -> None:
        super().__init__(timeout_s, environment)
        self.started: list[str] = []

    def _start(self, *command: str, stdin: int, stdout: int) -> "subprocess.Popen[bytes]":
        self.started.append(" ".join(command))
        return super()._start(*command, stdin=stdin, stdout=stdout)


def stand_in(folder: Path, script: str, timeout_s: float = 20.0) -> Started:
    """Commands of which `scontrol` is a script."""
    program = folder / "scontrol"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Started({"PATH": f"{folder}:{os.defpath}"}, timeout_s)


def test_a_word_that_is_not_plain_takes_a_process_of_its_own(tmp_path: Path) -> None:
    commands = stand_in(tmp_path, f"[ $# -gt 0 ] || while read -r line; do {UNKNOWN}; done; printf '%s|' \"$@\"")
    with commands.together():
        assert commands.run("scontrol", "update", "Name=a\nshutdown 'b").text == "update|Name=a\nshutdown 'b|"
    assert commands.started == ["scontrol update Name=a\nshutdown 'b"]


def test_a_scontrol_that_reads_no_commands_is_started_for_each(tmp_path: Path) -> None:
    """One of a site that needs arguments, or says something else of our word."""
    for says in ("exit 0", "echo usage >&2; exit 1", 'while read -r line; do echo "no $line" >&2; done'):
        commands = stand_in(tmp_path, f"[ $# -gt 0 ] || {{ {says}; }}; [ $2 = 7 ] || {{ echo bad >&2; exit 3; }}")
        with commands.together():
            assert [commands.run("scontrol", "release", job).code for job in ("7", "8", "7")] == [0, 3, 0]
        assert commands.started == ["scontrol", "scontrol release 7", "scontrol release 8", "scontrol release 7"]


@pytest.mark.parametrize(
    "fault", ["exec sleep 1000", "printf half >&2; exec sleep 1000", "while :; do echo x >&2; done"]
)
def test_one_that_hangs_is_killed_and_the_next_change_begins_another(tmp_path: Path, fault: str) -> None:
    reads = f"while read -r line; do case $line in *' 8') {fault};; pointsman*) {UNKNOWN};; esac; done"
    commands = stand_in(tmp_path, reads, timeout_s=0.5)
    with commands.together():
        assert commands.run("scontrol", "release", "7").code == 0
        with pytest.raises(Unsure, match=r"scontrol gave no answer in 0\.5 s"):
            commands.run("scontrol", "release", "8")
        assert commands.run("scontrol", "release", "9").code == 0
    assert commands.started == ["scontrol", "scontrol"]


def test_one_that_hangs_without_arguments_is_not_begun_again_soon(tmp_path: Path) -> None:
    commands = stand_in(tmp_path, "[ $# -gt 0 ] || exec sleep 1000", timeout_s=0.5)
    with commands.together(), pytest.raises(Unsure, match=r"scontrol gave no answer in 0\.5 s"):
        commands.run("scontrol", "release", "7")
    for _ in range(2):
        with commands.together():
            assert commands.run("scontrol", "release", "7").code == 0
    assert commands.started == ["scontrol", *2 * ["scontrol release 7"]]


def test_what_it_says_when_it_begins_is_no_error_of_a_change(tmp_path: Path) -> None:
    warns = "echo 'scontrol: error: Ignoring obsolete FastSchedule=1 option' >&2"
    reads = f"while read -r line; do case $line in *' 8') echo no >&2;; pointsman*) {UNKNOWN};; esac; done"
    commands = stand_in(tmp_path, f"{warns}; {reads}")
    with commands.together():
        assert [commands.run("scontrol", "release", job).errors for job in ("7", "8", "7")] == ["", "no", ""]


def test_one_that_dies_under_way_leaves_it_open(tmp_path: Path) -> None:
    reads = f"while read -r line; do case $line in *' 8') kill -9 $$;; pointsman*) {UNKNOWN};; esac; done"
    commands = stand_in(tmp_path, reads)
    with commands.together():
        with pytest.raises(Unsure, match="scontrol release failed: scontrol has ended"):
            commands.run("scontrol", "release", "8")
        assert commands.run("scontrol", "release", "9").errors == ""


def test_no_process_is_left(tmp_path: Path) -> None:
    reads = f"echo $$ >> {tmp_path}/pids; while read -r line; do case $line in pointsman*) {UNKNOWN};; esac; done"
    commands = stand_in(tmp_path, reads)
    with pytest.raises(ZeroDivisionError), commands.together():
        assert commands.run("scontrol", "release", "7").code == 0
        raise ZeroDivisionError
    assert commands.started == ["scontrol"]
    assert not [pid for pid in (tmp_path / "pids").read_text().split() if Path(f"/proc/{pid}").exists()]
