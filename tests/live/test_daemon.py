"""A real daemon, real jobs, and what users type."""

import json
import os
import pwd
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

from pointsman.live.client.connection import Refused, call
from pointsman.live.daemon.views import QUEUED

from .daemons import RunningDaemon, wait_for

Begin = Callable[..., RunningDaemon]
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("daemon"), "--policy", "fifo-backfill") as daemon:
        yield daemon
        assert daemon.end() == 0, daemon.log()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., RunningDaemon]]:
    """A daemon with options of the test's own, which ends with it."""
    begun: list[RunningDaemon] = []

    def one(*options: str) -> RunningDaemon:
        begun.append(RunningDaemon(tmp_path, *options))
        return begun[-1]

    yield one
    for daemon in begun:
        if daemon.process.poll() is None:
            daemon.kill()


def test_a_job_runs_and_its_output_is_where_its_user_was(daemon: RunningDaemon) -> None:
    number = daemon.submit(
        "-G", "2", "-J", "hello", "--", "sh", "-c", "echo $POINTSMAN_JOB_ID on $CUDA_VISIBLE_DEVICES of $WORLD_SIZE"
    )
    job = daemon.wait(number, *ENDED)
    assert (job["state"], job["name"], job["gpus"]) == ("COMPLETED", "hello", 2)
    printed = (daemon.folder / f"pointsman-{number}.out").read_text()
    assert re.fullmatch(rf"{number} on \d,\d of 2\n", printed)
    assert daemon.type_as_process("logs", str(number)).stdout == printed
    assert json.loads(daemon.type_as_process("show", str(number), "--format", "json").stdout) == job
    (row,) = [row for row in daemon.rows("history") if row["job_id"] == number]
    assert (row["state"], row["exit_code"], row["attempts"]) == ("COMPLETED", 0, 1)


def test_standard_error_may_have_a_file_of_its_own(daemon: RunningDaemon) -> None:
    script = daemon.folder / "both.sh"
    script.write_text("#!/bin/sh\n#SBATCH -o %x.out --error=%x.err\necho said\necho complained >&2\n")
    number = daemon.submit("-J", "both", str(script))
    assert daemon.wait(number, *ENDED)["state"] == "COMPLETED"
    assert (daemon.folder / "both.out").read_text() == "said\n"
    assert (daemon.folder / "both.err").read_text() == "complained\n"
    number = daemon.submit("-e", "no/such/folder", "--", "true")
    assert daemon.wait(number, *ENDED)["state"] == "FAILED"
    (attempt,) = daemon.job(number)["attempts"]
    assert attempt["detail"].endswith("no/such/folder: No such file or directory")


def test_the_queue_by_columns_says_what_the_whole_rows_say(
    daemon: RunningDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = daemon.submit("-H", "-G", "3", "-J", "later", "--", "true")
    (row,) = [row for row in daemon.rows("queue") if row["job_id"] == held]
    assert tuple(row) == QUEUED
    line = next(line for line in daemon.type("queue").stdout.splitlines() if line.startswith(f"{held} "))
    assert line.split() == [str(held), "later", row["user"], "PD", "0:00", "1", "3", "(JobHeldUser)"]
    monkeypatch.setenv("POINTSMAN_SOCKET", str(daemon.socket))
    assert [held, "later"] in call("GET", "/jobs?columns=job_id,name")
    with pytest.raises(Refused, match=r"jobs have no column 'colour' \(there are job_id, name, "):
        call("GET", "/jobs?columns=job_id,colour")
    daemon.type("cancel", str(held))


def test_run_leaves_with_the_exit_code_of_the_job(daemon: RunningDaemon) -> None:
    done = daemon.type_as_process("run", "--", "sh", "-c", "echo out; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert "FAILED" in done.stderr
    done = daemon.type_as_process("run", "--", "no-such-command")
    assert done.returncode == 127
    assert "no-such-command: No such file or directory" in done.stderr
    assert daemon.type_as_process("run", "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_a_script_says_what_it_needs_and_may_change_afterwards(daemon: RunningDaemon) -> None:
    script = daemon.folder / "train.sh"
    script.write_text(
        '#!/bin/sh\n#SBATCH --gres=gpu:3 -N 2\n#SBATCH -t 5 # minutes\nsleep 0.5; echo "$WORLD_SIZE $@"\n'
    )
    number = daemon.submit(str(script), "a", "b")
    script.write_text("#!/bin/sh\nexit 1\n")
    job = daemon.wait(number, *ENDED)
    assert (job["state"], job["gpus"], job["time_limit_s"], job["name"]) == ("COMPLETED", 6, 300.0, "train.sh")
    assert (daemon.folder / f"pointsman-{number}.out").read_text() == "6 a b\n" * 2


def test_a_script_of_a_login_shell_is_read_when_it_is_submitted(daemon: RunningDaemon) -> None:
    script = daemon.folder / "my login.sh"
    script.write_text("#!/bin/sh -e\n#SBATCH -H\necho first $SLURM_JOB_ID\n")
    number = daemon.submit(str(script))
    script.write_text("#!/bin/sh -e\necho second\n")
    daemon.type("release", str(number))
    assert daemon.wait(number, *ENDED)["name"] == "my_login.sh"
    assert (daemon.folder / f"pointsman-{number}.out").read_text() == f"first {number}\n"


def test_a_command_may_be_wrapped_and_tasks_may_say_how_many_nodes_there_are(daemon: RunningDaemon) -> None:
    words = ("-n", "4", "--ntasks-per-node", "2", "--gres=gpu", "--qos", "high", "--wrap", "echo $NNODES | tr 2 b")
    job = daemon.wait(daemon.submit(*words), *ENDED)
    assert (job["state"], job["gpus"], job["nodes"], job["queue"]) == ("COMPLETED", 2, 2, "high")
    assert (daemon.folder / f"pointsman-{job['job_id']}.out").read_text() == "b\nb\n"


def test_a_job_that_is_held_starts_when_it_is_released(daemon: RunningDaemon) -> None:
    number = daemon.submit("-H", "--", "true")
    daemon.submit("--", "true")
    (row,) = [row for row in daemon.rows("queue") if row["job_id"] == number]
    assert (row["state"], row["reason"]) == ("PENDING", "JobHeldUser")
    assert "held by its user" in daemon.type("explain", str(number)).stdout
    daemon.type("release", str(number))
    assert daemon.wait(number, *ENDED)["state"] == "COMPLETED"


def test_a_job_can_be_cancelled_whether_it_runs_waits_or_is_held(daemon: RunningDaemon) -> None:
    runs = daemon.submit("-G", "8", "--", "sleep", "60")
    daemon.wait(runs, "RUNNING")
    waits, held = daemon.submit("-G", "8", "--", "true"), daemon.submit("-H", "--", "true")
    said = daemon.type("explain", str(waits)).stdout
    assert said.startswith(f"job {waits}: PENDING (Resources): needs 8 GPUs")
    assert daemon.type("cancel", str(runs), str(waits), str(held)).returncode == 0
    for number in (runs, waits, held):
        assert daemon.wait(number, *ENDED)["state"] == "CANCELLED"
    done = daemon.type("cancel", str(runs))
    assert (done.returncode, done.stderr) == (2, f"pointsman: job {runs} has ended\n")


def test_a_job_is_killed_at_its_time_limit(daemon: RunningDaemon) -> None:
    number = daemon.submit("-t", "1s", "--", "sleep", "60")
    assert daemon.wait(number, *ENDED)["state"] == "TIMEOUT"


def test_a_job_that_is_queued_again_runs_again(daemon: RunningDaemon) -> None:
    number = daemon.submit(
        "--requeue", "--", "sh", "-c", "echo $POINTSMAN_ATTEMPT; [ $POINTSMAN_ATTEMPT = 2 ] || exec sleep 60"
    )
    output = daemon.folder / f"pointsman-{number}.out"
    wait_for(lambda: output.exists() and output.read_text() == "1\n")  # else it may be stopped before it says so
    daemon.wait(number, "RUNNING")
    daemon.type("requeue", str(number))
    job = daemon.wait(number, *ENDED)
    assert (job["state"], [attempt["cause"] for attempt in job["attempts"]]) == ("COMPLETED", ["requeue", None])
    assert output.read_text() == "1\n2\n"


def test_a_node_that_is_drained_takes_no_jobs(daemon: RunningDaemon) -> None:
    daemon.type("drain", "n0000", "--reason", "bad GPU")
    number = daemon.submit("-G", "8", "--", "true")
    row = daemon.rows("nodes")[0]
    assert (row["state"], row["reason"]) == ("DRAIN", "bad GPU")
    assert daemon.wait(number, "PENDING")["reason"] == "Resources"
    assert "; n0000 with 4 GPUs takes no jobs; it is" in daemon.type("explain", str(number)).stdout
    daemon.type("resume", "n0000")
    assert daemon.wait(number, *ENDED)["state"] == "COMPLETED"


def test_several_nodes_are_drained_by_one_name(daemon: RunningDaemon) -> None:
    assert daemon.type("drain", "n[0000-0001]").returncode == 0
    assert [row["state"] for row in daemon.rows("nodes")] == ["DRAIN", "DRAIN"]
    assert daemon.type("resume", "n[0000-0001]").returncode == 0
    assert [row["state"] for row in daemon.rows("nodes")] == ["UP", "UP"]
    done = daemon.type("drain", "n[0000-0002]")
    assert (done.returncode, done.stderr) == (2, "pointsman: there is no node 'n0002'\n")
    assert [row["state"] for row in daemon.rows("nodes")] == ["UP", "UP"]
    assert "is no node name" in daemon.type("drain", "n[0-").stderr


def test_jobs_are_cancelled_by_users_and_states(daemon: RunningDaemon) -> None:
    runs = daemon.submit("-G", "8", "--", "sleep", "60")
    daemon.wait(runs, "RUNNING")
    waiting = [daemon.submit("-G", "8", "--", "true") for _ in range(2)]
    assert daemon.type("cancel", "-u", "nobody").returncode == 0
    assert daemon.type("cancel", "-t", "PD", str(waiting[0]), str(runs)).returncode == 0
    assert daemon.wait(waiting[0], *ENDED)["state"] == "CANCELLED"
    assert [row["job_id"] for row in daemon.rows("queue")] == [runs, waiting[1]]
    assert daemon.type("cancel", "--me").returncode == 0
    for number in (runs, waiting[1]):
        assert daemon.wait(number, *ENDED)["state"] == "CANCELLED"
    done = daemon.type("cancel")
    assert (done.returncode, done.stderr) == (2, "pointsman: name jobs, or say which: --me, --user, --states\n")


def test_habits_of_slurm_are_understood(daemon: RunningDaemon) -> None:
    words = (
        "--gpus=v100:2",
        "-c",
        "8",
        "--mem=4G",
        "-t",
        "UNLIMITED",
        "--export=GREETING=hi",
        "-J",
        "x",
        "-o",
        "%x-%u.out",
    )
    done = daemon.type("submit", "--parsable", *words, "--", "sh", "-c", "echo $GREETING; cd; pwd")
    assert "processors, memory and mail are not managed here" in done.stderr
    job = daemon.wait(int(done.stdout), *ENDED)
    assert (job["state"], job["gpus"], job["time_limit_s"]) == ("COMPLETED", 2, None)
    user = pwd.getpwuid(os.getuid())
    assert (daemon.folder / f"x-{user.pw_name}.out").read_text() == f"hi\n{user.pw_dir}\n"
    assert daemon.wait(daemon.submit("-N", "2", "--", "true"), *ENDED)["gpus"] == 2


def test_an_output_file_begins_anew_with_each_job_and_not_with_each_attempt(daemon: RunningDaemon) -> None:
    (daemon.folder / "same.out").write_text("before\n")
    daemon.wait(daemon.submit("-o", "same.out", "-N", "2", "--", "echo", "one"), *ENDED)
    assert (daemon.folder / "same.out").read_text() == "one\none\n"


def test_a_gang_has_the_exit_code_of_what_failed_first(daemon: RunningDaemon) -> None:
    command = "[ $NODE_RANK = 1 ] && exit 4; sleep 30"
    assert daemon.type_as_process("run", "-N", "2", "--", "sh", "-c", command).returncode == 4


def test_a_job_is_asked_for_a_checkpoint_before_its_limit(daemon: RunningDaemon) -> None:
    command = "trap 'echo asked; exit 3' USR1; while :; do sleep 0.05; done"
    number = daemon.submit("-t", "60s", "--signal", "USR1@59", "--", "sh", "-c", command)
    job = daemon.wait(number, *ENDED)
    assert job["state"] == "TIMEOUT"
    assert "asked\n" in (daemon.folder / f"pointsman-{number}.out").read_text()


def test_a_request_that_is_repeated_is_the_same_job(daemon: RunningDaemon) -> None:
    words = ("--request-key", "once", "--", "true")
    assert daemon.submit(*words) == daemon.submit(*words)


def test_another_policy_takes_over(daemon: RunningDaemon) -> None:
    runs = daemon.submit("-G", "5", "--requeue", "--", "sleep", "1")
    waits = daemon.submit("-G", "5", "--", "true")
    assert daemon.type("live", "policy", "las", "--set", "las.thresholds_gpu_s=[3600]").returncode == 0
    assert daemon.type("live", "status").stdout.split()[:2] == ["policy", "las"]
    assert {daemon.wait(number, *ENDED)["state"] for number in (runs, waits)} == {"COMPLETED"}
    assert daemon.type("live", "policy", "fifo-backfill").returncode == 0


WRONG = {
    "more GPUs than there are": (("submit", "-G", "9", "--", "true"), 3, "can never have more than 8 at once"),
    "a type that is not there": (("submit", "--gpu-type", "H900", "--", "true"), 3, "GPU type 'H900'"),
    "no number": (("submit", "-G", "x", "--", "true"), 2, "a type and a number"),
    "no such script": (("submit", "nothere.sh"), 3, "there is no such script (a command comes after --)"),
    "no duration": (("submit", "-t", "soon", "--", "true"), 2, "write minutes, as in 90"),
    "a pattern that is not known": (("submit", "-o", "%z.out", "--", "true"), 2, "%j, %a, %x and %u"),
    "no such state": (("queue", "-t", "bogus"), 2, "there is no state BOGUS"),
    "nodes that do not divide": (("submit", "-G", "3", "-N", "2", "--", "true"), 3, "does not divide"),
    "no GPUs": (("submit", "-G", "0", "--", "true"), 2, "greater than or equal to 1"),
    "nothing to run": (("submit",), 2, "give a script, or a command"),
    "escapes in a name": (("submit", "-J", "a\x1b[31m", "--", "true"), 2, r"name 'a\x1b[31m': it may have letters"),
    "another resource": (("submit", "--gres=gpu:2,nvme:1", "--", "true"), 2, "only GPUs can be requested"),
    "an unknown option": (("submit", "--gpu", "1", "--", "true"), 2, "did you mean --gpus?"),
    "no such job": (("cancel", "99999"), 2, "there is no job 99999"),
    "no such node": (("drain", "n7"), 2, "there is no node 'n7'"),
    "a policy that cannot run live": (("live", "policy", "sjf-bsbf"), 2, "share a GPU"),
    "no such policy": (("live", "policy", "fifi"), 2, "did you mean 'fifo'?"),
    "durations that are not known": (("live", "policy", "srtf", "--set", "srtf.nothing=1"), 2, "nothing"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_a_sentence(what: str, daemon: RunningDaemon) -> None:
    words, code, said = WRONG[what]
    done = daemon.type(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_wrong_line_of_a_script_is_named(daemon: RunningDaemon) -> None:
    script = daemon.folder / "wrong.sh"
    script.write_text("#!/bin/sh\n#SBATCH -N 1\n#SBATCH --grse=gpu:1\ntrue\n")
    done = daemon.type("submit", str(script))
    assert done.returncode == 3
    assert "wrong.sh:3: unknown option '--grse=gpu:1' (did you mean --gres?)" in done.stderr


def test_options_are_listed_without_a_daemon(daemon: RunningDaemon) -> None:
    done = daemon.type_as_process("submit", "--help")
    assert (done.returncode, "--gpus-per-node" in done.stdout, done.stderr) == (0, True, "")


def test_without_a_daemon_the_backend_is_away(tmp_path: Path, daemon: RunningDaemon) -> None:
    done = daemon.type("queue", POINTSMAN_SOCKET=str(tmp_path / "none"))
    assert done.returncode == 5
    assert "no daemon answers" in done.stderr


def test_a_second_daemon_is_refused(daemon: RunningDaemon) -> None:
    words = ("--cluster", "2x4", "--state", str(daemon.folder / "state"), "--socket", str(daemon.folder / "other"))
    done = daemon.type_as_process("live", "start", *words)
    assert (done.returncode, "another process owns" in done.stderr) == (5, True)
    done = daemon.type_as_process(
        "live", "start", "--cluster", "2x4", "--state", str(daemon.folder / "2"), "--socket", str(daemon.socket)
    )
    assert (done.returncode, "another daemon listens" in done.stderr) == (5, True)


def test_killed_and_begun_anew_it_goes_on(tmp_path: Path, begin: Begin) -> None:
    daemon = begin("--policy", "gittins")
    runs = daemon.submit("-G", "4", "--", "sh", "-c", "echo begun; sleep 1.5; echo done")
    daemon.wait(runs, "RUNNING")
    waits, held = daemon.submit("-G", "3", "--", "true"), daemon.submit("-H", "-A", "other", "--", "true")
    daemon.kill()
    assert daemon.type("queue").returncode == 5
    daemon.begin()
    assert daemon.wait(runs, *ENDED)["state"] == "COMPLETED"
    assert (tmp_path / f"pointsman-{runs}.out").read_text() == "begun\ndone\n"
    assert daemon.wait(waits, *ENDED)["state"] == "COMPLETED"
    assert daemon.job(held)["reason"] == "JobHeldUser"
    assert daemon.end() == 0
    daemon.options = ("--policy", "fifo")  # another takes over at the next start
    daemon.begin()
    assert daemon.type("live", "status").stdout.split()[:2] == ["policy", "fifo"]
    daemon.type("release", str(held))
    assert daemon.wait(held, *ENDED)["state"] == "COMPLETED"
    assert wait_for(lambda: not daemon.rows("queue"))
    assert daemon.end() == 0


def test_it_goes_on_with_another_cluster_file_and_other_overheads(tmp_path: Path, begin: Begin) -> None:
    daemon = begin("--policy", "gittins")
    runs = daemon.submit("-G", "3", "--requeue", "--", "sleep", "100")
    waits, held = daemon.submit("-G", "8", "-t", "1h", "--", "true"), daemon.submit("-H", "--", "true")
    daemon.wait(runs, "RUNNING")
    daemon.type("drain", "n0001")
    started_s = daemon.job(runs)["started_s"]
    stops = (("3x4",), daemon.kill), (("2x4",), daemon.kill), (("3x4", "--overheads", "none"), daemon.end)
    for clusters, stop in stops:
        stop()
        daemon.options = ("--cluster", *clusters)  # the last of two counts
        daemon.begin()
        nodes = ["UP", "DRAIN", "UP"] if clusters[0] == "3x4" else ["UP", "DRAIN"]
        assert [row["state"] for row in daemon.rows("nodes")] == nodes
        states = {row["job_id"]: (row["state"], row["reason"]) for row in daemon.rows("queue")}
        assert states == {runs: ("RUNNING", ""), waits: ("PENDING", "Resources"), held: ("PENDING", "JobHeldUser")}
        assert abs(daemon.job(runs)["started_s"] - started_s) < 0.1
    daemon.type("cancel", str(runs))
    assert daemon.wait(waits, *ENDED)["state"] == "COMPLETED"
    assert [attempt["attempt"] for attempt in daemon.job(runs)["attempts"]] == [1]
    assert daemon.end() == 0


def test_what_another_policy_decides_is_decided_when_it_takes_over(tmp_path: Path, begin: Begin) -> None:
    """Eight GPUs: 4 are busy, a gang of 8 is first in line, and one of 4 might go first."""
    daemon = begin("--policy", "fifo")
    runs = daemon.submit("-G", "4", "--", "sleep", "100")
    daemon.wait(runs, "RUNNING")
    daemon.submit("-G", "8", "--", "true")
    narrow = daemon.submit("-G", "4", "--", "true")
    time.sleep(0.3)
    before_s = time.time()
    assert daemon.type("live", "policy", "fifo-backfill").returncode == 0
    (attempt,) = daemon.wait(narrow, *ENDED)["attempts"]
    assert before_s <= attempt["decided_s"] <= attempt["started_s"]
    assert daemon.end() == 0


FILE_POLICY = """
class Mine:
    \"\"\"First come, first served.\"\"\"

    name = "mine"
    needs = "none"

    def decide(self, view):
        for job in view.pending.tolist():
            if not view.start(job):
                return
"""


@pytest.mark.slow
def test_a_policy_whose_file_is_gone_can_be_left(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "mine.py").write_text(FILE_POLICY)
    daemon = begin("--policy", "fifo")
    assert daemon.type("live", "policy", "mine.py:Mine").returncode == 0
    runs, waits = daemon.submit("-G", "8", "--", "sleep", "100"), daemon.submit("-G", "8", "--", "true")
    daemon.wait(runs, "RUNNING")
    assert "has no copy()" in daemon.type("explain", str(waits)).stdout
    assert daemon.end() == 0
    (tmp_path / "mine.py").unlink()
    daemon.options = ("--policy", "fifo")
    daemon.begin()
    assert daemon.job(runs)["state"] == "RUNNING"
    assert daemon.end() == 0
    daemon.options = ("--policy", "fifo", "--cluster", "1x4")
    with pytest.raises(AssertionError, match=f"job {runs} cannot go on here"):
        daemon.begin()
    daemon.options = ("--policy", "fifo", "--simulate", "10")
    with pytest.raises(AssertionError, match="really run: name another directory with --state"):
        daemon.begin()
    daemon.options = ("--policy", "fifo")
    daemon.begin()
    daemon.type("cancel", str(runs))
    assert daemon.wait(waits, *ENDED)["state"] == "COMPLETED"
    assert daemon.end() == 0


HANGS = """
class Hangs:
    \"\"\"Starts what fits, and never decides about a job of three GPUs.\"\"\"

    name = "hangs"
    needs = "none"

    def decide(self, view):
        for job in view.pending.tolist():
            while view.jobs["asked"][job] == 3:
                pass
            view.start(job)
"""


def test_a_policy_that_hangs_is_relieved(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    daemon = begin("--policy", f"{tmp_path / 'hangs.py'}:Hangs", "--longest-turn", "1")
    runs = daemon.submit("--", "sleep", "1.5")
    daemon.wait(runs, "RUNNING")
    done = daemon.type("submit", "-G", "3", "--", "true")
    assert done.returncode == 5
    assert daemon.process.wait(10) == -9
    daemon.begin()
    status = daemon.type("live", "status").stdout
    assert re.search(r"^decides +fifo-backfill$", status, re.MULTILINE)
    assert "had not decided after 1 s" in status
    assert {daemon.wait(job, *ENDED)["state"] for job in (runs, daemon.submit("-G", "3", "--", "true"))} == {
        "COMPLETED"
    }
    assert daemon.end() == 0


CLUSTER_FILE = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: named}
spec:
  node_types: {four: {gpus: 4, gpu_type: v100}}
  nodes:
"""


@pytest.mark.slow
def test_nodes_are_known_by_their_names(tmp_path: Path, begin: Begin) -> None:
    """Their order in the cluster file may change, and what a job that has ended asked for need not fit any more."""
    file = tmp_path / "cluster.yaml"

    def write(*nodes: str) -> None:
        each = "".join(f"  - {{type: four, names: {name}}}\n" for name in nodes)
        file.write_text(CLUSTER_FILE + each)

    write("a", "b")
    daemon = begin("--cluster", str(file))
    daemon.wait(daemon.submit("-G", "8", "--", "true"), *ENDED)
    runs = daemon.submit("-G", "3", "--", "sleep", "100")
    (place,) = daemon.wait(runs, "RUNNING")["attempts"]
    assert daemon.end() == 0
    other = {"a": "b", "b": "a"}[place["node_list"]]
    write("b", "a")
    daemon.begin()
    assert {row["node"]: row["gpus_allocated"] for row in daemon.rows("nodes")} == {place["node_list"]: 3, other: 0}
    assert daemon.end() == 0
    write(place["node_list"])
    daemon.begin()
    assert [row["gpus_allocated"] for row in daemon.rows("nodes")] == [3]
    assert daemon.end() == 0
    write(other)
    with pytest.raises(AssertionError, match=f"jobs run on node '{place['node_list']}'"):
        daemon.begin()
    write("a", "b")
    daemon.begin()
    daemon.type("cancel", str(runs))
    assert daemon.wait(runs, *ENDED)["state"] == "CANCELLED"
    assert daemon.end() == 0


POLICY = """
from pointsman.types import Reason


class Own:
    name, needs = "own", "none"

    def decide(self, view):
        for job in view.pending.tolist(){}:
            if view.start(job) is not Reason.OK:
                return
{}"""
BROKEN = """
    def on_event(self, view, kind, job):
        pass

    def remember(self):
        {}

    def recall(self, memory):
        {}
"""


@pytest.mark.slow
def test_a_policy_file_that_was_mended_decides_from_the_next_start_on(tmp_path: Path, begin: Begin) -> None:
    """Its decisions before are in the tables; what it would have decided is not."""
    file = tmp_path / "own.py"
    file.write_text(POLICY.format("", ""))
    daemon = begin("--cluster", "1x1", "--policy", f"{file}:Own")
    jobs = [daemon.submit("--", "sh", "-c", f"sleep {s}; echo done") for s in (0.1, 1, 0.1, 0.1)]
    daemon.wait(jobs[1], "RUNNING")
    daemon.kill()
    file.write_text(POLICY.format("[::-1]", ""))
    daemon.begin()
    for job in jobs:
        assert daemon.wait(job, *ENDED)["state"] == "COMPLETED"
        assert (tmp_path / f"pointsman-{job}.out").read_text() == "done\n"
    starts = {job: daemon.job(job)["attempts"][-1]["started_s"] for job in jobs}
    assert sorted(jobs, key=lambda job: starts[job]) == [jobs[0], jobs[1], jobs[3], jobs[2]]


@pytest.mark.parametrize("breaks", [pytest.param("remember", marks=pytest.mark.slow), "recall"])
def test_a_policy_that_cannot_remember_is_replaced_or_begins_anew(breaks: str, tmp_path: Path, begin: Begin) -> None:
    file = tmp_path / "own.py"
    wrong, right = "raise ValueError('no')", "return []"
    bodies = (wrong, right) if breaks == "remember" else (right, wrong)
    file.write_text(POLICY.format("", BROKEN.format(*bodies)))
    daemon = begin("--cluster", "1x1", "--policy", f"{file}:Own")
    runs, waits = daemon.submit("--", "sleep", "1"), daemon.submit("--", "true")
    daemon.wait(runs, "RUNNING")
    assert daemon.end() == 0, daemon.log()
    daemon.begin()
    status = json.loads(daemon.type("live", "status", "--format", "json").stdout)
    assert status["decides"] == ("fifo-backfill" if breaks == "remember" else "own")
    assert ["failed to remember" in alarm for alarm in status["alarms"]] == [True] * (breaks == "remember")
    for job in (runs, waits):
        assert daemon.wait(job, *ENDED)["state"] == "COMPLETED"


def test_how_far_a_job_says_it_is(daemon: RunningDaemon) -> None:
    says = "echo 0.42 > $POINTSMAN_CHECKPOINT_DIR/.progress; sleep 60"
    number = daemon.submit("--", "sh", "-c", says)
    wait_for(lambda: daemon.job(number)["progress"] == 0.42)
    assert "; it says that 42% of its work is done" in daemon.type("explain", str(number)).stdout
    folder = daemon.folder / "state" / "checkpoints" / str(number)
    for text in ("2.0", "nan", "much", ""):
        (folder / ".progress").write_text(text)
        assert daemon.job(number)["progress"] is None
    (folder / ".progress").unlink()
    (folder / "elsewhere").write_text("0.5")
    (folder / ".progress").symlink_to(folder / "elsewhere")
    assert daemon.job(number)["progress"] is None
    (folder / ".progress").unlink()
    os.mkfifo(folder / ".progress")
    assert daemon.job(number)["progress"] is None
    daemon.type("cancel", str(number))
    assert daemon.wait(number, *ENDED)["progress"] is None
