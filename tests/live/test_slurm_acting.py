"""A policy decides on a real Slurm: jobs wait at its gate, and are started where the policy says."""

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from pointsman.live.backends.facts import AttemptId, Launch, Phase, Unsure
from pointsman.live.backends.slurm.acting import SlurmBackend
from pointsman.live.backends.slurm.commands import Answer, Commands
from pointsman.live.backends.slurm.marks import Partitions
from pointsman.types import NodeState
from tests.cli.command import pointsman

from .clusters import LONG, SOON, wait
from .daemons import RunningDaemon, wait_for
from .slurm_cluster import SlurmCluster, slurm_cluster, wait_until
from .slurm_under_test import SlurmUnderTest
from .test_slurm_observed import book, observer, rows, wait_for_ends

ORDERS = {
    "cancel": "scancel", "hold": "scontrol hold", "release": "scontrol release", "requeue": "scontrol requeue",
}  # fmt: skip
GATE = ("--partition=inbox",)


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(4) as cluster:
        yield cluster


@pytest.fixture
def backfilling() -> Iterator[SlurmCluster]:
    """Heterogeneous jobs need `sched/backfill`."""
    with slurm_cluster(4, scheduler="sched/backfill") as cluster:
        yield cluster


def actor(slurm: SlurmCluster, folder: Path, *options: str, first: str = "") -> RunningDaemon:
    """`first`: where commands are looked for before Slurm's."""
    folder.mkdir(exist_ok=True)
    of = ("--backend", "slurm", "--act", "--poll", "0.3", "--overheads", "none")
    path = os.pathsep.join((*([first] if first else ()), slurm.path))
    return RunningDaemon(folder, *options, of=of, PATH=path, SLURM_CONF=slurm.environment["SLURM_CONF"])


def ran(slurm: SlurmCluster) -> list[tuple[str, str, float]]:
    """(what, job, s) in order, as jobs themselves say."""
    place = slurm.folder / "jobs" / "told"
    lines = place.read_text().splitlines() if place.exists() else []
    return [(what, job, float(at)) for what, job, at in map(str.split, lines)]


def submit(slurm: SlurmCluster, *options: str, seconds: float = 1.0) -> str:
    """A job that says when it begins, when it is done, and if it runs twice at once."""
    script = slurm.folder / "jobs" / f"tell-{seconds}.sh"
    told = slurm.folder / "jobs" / "told"
    script.write_text(
        f"#!/bin/sh\nexec 9>>{told}.$SLURM_JOB_ID\nflock -n 9 || echo twice $SLURM_JOB_ID 0 >> {told}\n"
        f"echo begin $SLURM_JOB_ID $(date +%s.%N) >> {told}\nsleep {seconds} 9>&-\n"
        f"echo end $SLURM_JOB_ID $(date +%s.%N) >> {told}\n"
    )
    return slurm.call("sbatch", "--parsable", "--output=/dev/null", *GATE, *options, str(script))


def test_jobs_run_where_the_policy_says(slurm: SlurmCluster, tmp_path: Path) -> None:
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        gang = submit(slurm, "--nodes=2", "--gpus-per-node=8", seconds=2)
        small = [submit(slurm, "--nodes=1", "--gpus-per-node=2") for _ in range(4)]
        array = submit(slurm, "--array=1-3", "--nodes=1", "--gpus-per-node=1")
        held = submit(slurm, "--hold", "--nodes=1", "--gpus-per-node=1")
        gone = submit(slurm, "--hold", "--nodes=1", "--gpus-per-node=1")
        long = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=60)
        fails = slurm.submit(*GATE, "--nodes=1", "--gpus-per-node=1", does="false")
        vague = submit(slurm, "--nodes=2", "--gpus=3")
        wait_for(lambda: long in [job for _, job, _ in ran(slurm)])
        slurm.call("scancel", long, gone)
        wait_for(lambda: book(daemon).get(gone, {}).get("state") == "CANCELLED")
        slurm.call("scontrol", "release", held)
        ends = wait_for_ends(daemon, [gang, *small, fails, held, gone, long, *(f"{array}_{k}" for k in (1, 2, 3))])
        states = {job: row["state"] for job, row in ends.items()}
        assert {job: states[job] for job in (gang, fails, held, gone, long)} == {
            gang: "COMPLETED", fails: "FAILED", held: "COMPLETED", gone: "CANCELLED", long: "CANCELLED",
        }  # fmt: skip
        assert {states[job] for job in (*small, *(f"{array}_{k}" for k in (1, 2, 3)))} == {"COMPLETED"}
        assert vague not in states and slurm.state(vague) == "PENDING"
        assert f"job {vague} stays at the gate" in daemon.get("/status")["alarms"][0]
        began = [job for what, job, _ in ran(slurm) if what == "begin"]
        assert len(began) == len(set(began)) == 10
        parts = rows(daemon, "SELECT job, parts FROM attempts")
        assert len(parts) == 11
        refused = daemon.type("submit", "--", "true")
        assert refused.returncode == 2 and "use 'sbatch'" in refused.stderr


def test_users_name_jobs_as_slurm_does(slurm: SlurmCluster, tmp_path: Path) -> None:
    """And are told which of Slurm's commands changes them."""
    for _ in range(20):  # so that no number of ours is one of Slurm's
        slurm.submit("--hold", does="true")
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        array = submit(slurm, "--hold", "--array=3-4", "--nodes=1", "--gpus-per-node=1")
        runs = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=600)
        wait_for(lambda: {row["job_id"] for row in daemon.rows("queue", "-t", "R")} == {runs})
        said = {words: daemon.type(*words.split(), f"{array}_4") for words in ORDERS}
        assert {words: done.stderr for words, done in said.items()} == {
            words: f"pointsman: this daemon starts jobs that users keep in Slurm: use '{command} {array}_4'\n"
            for words, command in ORDERS.items()
        }
        assert {done.returncode for done in said.values()} == {2}
        assert daemon.type("explain", f"{array}_4").stdout.startswith(f"job {array}_4: PENDING (JobHeldUser): ")
        assert f"'scontrol release {array}_4'" in daemon.type("explain", f"{array}_4").stdout
        assert f"job {array} is an array: name one of its tasks, such as {array}_" in daemon.type("show", array).stderr
        for ours in ("0", "1", "2"):
            why = "there is no job 0" if ours == "0" else f"job {ours} has no GPUs, and is left to Slurm"
            assert why in daemon.type("explain", ours).stderr
            assert why in daemon.type("whatif", "--cancel", ours).stderr
        assert f"scontrol show job {runs}" in daemon.type("logs", runs).stderr
        assert daemon.type("whatif", "--cancel", runs).returncode == 0
        slurm.call("scancel", runs)
        wait_for(lambda: [row["job_id"] for row in daemon.rows("history")] == [runs])
        assert daemon.get(f"/jobs/{runs}")["state"] == "CANCELLED"
        assert f"job {runs} has ended" in daemon.type("cancel", runs).stderr


def test_a_job_starts_at_the_look_that_sees_it(slurm: SlurmCluster, tmp_path: Path) -> None:
    look_s = 5.0
    with actor(slurm, tmp_path / "d", "--policy", "fifo", "--poll", f"{look_s:g}"):
        came_s = time.time()
        job = submit(slurm, "--nodes=1", "--gpus-per-node=1")
        wait_until(lambda: [what for what, one, _ in ran(slurm) if one == job][:1], ["begin"])
        assert ran(slurm)[0][2] - came_s < look_s + 3.0


def test_a_shorter_job_preempts(slurm: SlurmCluster, tmp_path: Path) -> None:
    """It is requeued and held, and goes on later; a job of a QOS that may not be preempted is not."""
    options = ("--policy", "las", "--set", "las.thresholds_gpu_s=[40]", "--preempt-qos", "*")
    with actor(slurm, tmp_path / "d", *options) as daemon:
        wide = submit(slurm, "--nodes=4", "--gpus-per-node=8", seconds=8)
        stays = submit(slurm, "--no-requeue", "--nodes=1", "--gpus-per-node=8", seconds=3)
        slurm.wait(wide, "RUNNING")
        small = submit(slurm, "--nodes=1", "--gpus-per-node=1")
        found = wait_for_ends(daemon, [wide, stays, small])
        assert {row["state"] for row in found.values()} == {"COMPLETED"}
        causes = rows(daemon, "SELECT job, cause FROM attempts WHERE cause IS NOT NULL")
        assert causes and {row["cause"] for row in causes} == {"preempt"}
        ends = [job for what, job, _ in ran(slurm) if what == "end"]
        assert sorted(ends) == sorted([wide, stays, small])


@pytest.mark.slow
def test_what_others_requeue_runs_again(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Where the policy says: it waits at the gate again, be it that it may not be preempted."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        by_user, by_node = (submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=4) for _ in range(2))
        for job in (by_user, by_node):
            wait_for(lambda job=job: ("begin", job) in [one[:2] for one in ran(slurm)])
            wait_for(lambda job=job: book(daemon)[job]["runs"] == 1)
        slurm.call("scontrol", "requeue", by_user)
        node = slurm.call("squeue", "--noheader", f"--jobs={by_node}", "--format=NodeName=%N")
        slurm.call("scontrol", "update", node, "State=DOWN", "Reason=broken")
        assert {row["preemptible"] for row in daemon.get("/jobs")} <= {False}
        found = wait_for_ends(daemon, [by_user, by_node])
        assert {row["state"] for row in found.values()} == {"COMPLETED"}
        assert sorted(job for what, job, _ in ran(slurm) if what == "end") == [by_user, by_node]
        assert [what for what, *_ in ran(slurm)].count("begin") == 4
        assert [row["n"] for row in rows(daemon, "SELECT count(*) AS n FROM attempts GROUP BY job")] == [2, 2]


@pytest.mark.slow
def test_what_had_ended_runs_again_if_somebody_requeues_it(slurm: SlurmCluster, tmp_path: Path) -> None:
    """And not if its controller, which was killed, has forgotten that it had ended."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        job = submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=4)
        wait_for_ends(daemon, [job])
        slurm.call("scontrol", "requeue", job)
        old = _saved(slurm, rb"pointsman:[0-9a-f]+:[0-9]+:1:1")
        wait_until(lambda: [what for what, *_ in ran(slurm)], ["begin", "end"] * 2)
        wait_for(lambda: not daemon.get("/jobs"))
        slurm.kill_controller()
        shutil.rmtree(slurm.folder / "state")
        shutil.copytree(old, slurm.folder / "state")
        slurm.start_controller()
        slurm.wait_for_registration()
        assert slurm.state(job) != "COMPLETED"
        slurm.wait(job, "CANCELLED")
        assert len(ran(slurm)) == 4
        assert len(rows(daemon, "SELECT 1 FROM jobs")) == 2


@pytest.mark.slow
def test_what_had_ended_runs_again_if_it_was_requeued_while_no_daemon_ran(slurm: SlurmCluster, tmp_path: Path) -> None:
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        job = submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=1)
        wait_for_ends(daemon, [job])
    slurm.call("scontrol", "requeue", job)
    with actor(slurm, tmp_path / "d", "--policy", "fifo"):
        wait_until(lambda: [what for what, *_ in ran(slurm)], ["begin", "end"] * 2)
        slurm.wait(job, "COMPLETED")


def _saved(slurm: SlurmCluster, words: bytes) -> Path:
    """A copy of what a controller has saved, once it has these words of jobs."""
    state, copy = slurm.folder / "state", slurm.folder / "state-before"
    wait_for(lambda: re.search(words, (state / "job_state").read_bytes()))
    assert slurm.controller is not None
    slurm.controller.send_signal(signal.SIGSTOP)  # it saves meanwhile
    shutil.copytree(state, copy)
    slurm.controller.send_signal(signal.SIGCONT)
    return copy


def test_nodes_with_jobs_of_others_take_none(slurm: SlurmCluster, tmp_path: Path) -> None:
    others = slurm.submit("--nodelist=gpu2", "--nodes=1", "--gpus-per-node=3")
    slurm.wait(others, "RUNNING")
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        wait_for(lambda: [row["node"] for row in daemon.get("/nodes") if row["state"] == "DRAIN"] == ["gpu2"])
        assert daemon.get("/nodes")[1]["reason"] == "jobs of others have GPUs there"
        waits = submit(slurm, "--hold", "--job-name=mine", "--nodes=1", "--gpus-per-node=1")
        wait_for(lambda: [(row["job_id"], row["name"]) for row in daemon.get("/jobs")] == [(waits, "mine")])
        slurm.call("scancel", waits)
        three = submit(slurm, "--nodes=3", "--gpus-per-node=8")
        wide = submit(slurm, "--nodes=4", "--gpus-per-node=8")
        wait_for_ends(daemon, [three])
        assert slurm.state(wide) == "PENDING"
        slurm.call("scancel", others)
        wait_for_ends(daemon, [wide])


class Between(Commands):
    """Commands of Slurm, and what happens before those with some word."""

    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__(environment=environment)
        self.before: dict[str, Callable[[], object]] = {}

    def run(self, *command: str) -> Answer:
        for word in command:
            self.before.get(word, lambda: None)()
        return super().run(*command)


def test_a_job_that_starts_while_slurm_is_asked_is_not_of_others(slurm: SlurmCluster, tmp_path: Path) -> None:
    commands = Between(slurm.environment)
    cluster = SlurmUnderTest(tmp_path, slurm).backend.describe()
    backend = SlurmBackend(cluster, tmp_path, Partitions(), commands)
    job = submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=60)
    slurm.call("scontrol", "update", "NodeName=gpu2", "State=DRAIN", "Reason=later")
    backend.observe()
    backend.launch(Launch(AttemptId(1, 1), (("gpu2", 0xFF),), (job,)))

    def start() -> None:
        slurm.call("scontrol", "update", "NodeName=gpu2", "State=RESUME")
        slurm.wait(job, "RUNNING")

    commands.before["sinfo"] = start
    seen = backend.observe()
    assert [fact.phase for fact in seen.attempts] == [Phase.ACCEPTED]
    assert {node.state for node in seen.nodes} == {NodeState.UP}


def test_it_is_not_known_what_became_of_a_change_while_commands_are_replaced(
    slurm: SlurmCluster, tmp_path: Path
) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("squeue", "sinfo", "scontrol"):
        (bin_ / name).symlink_to(shutil.which(name, path=slurm.path) or "")
    commands = Between({**slurm.environment, "PATH": str(bin_)})
    backend = SlurmBackend(SlurmUnderTest(tmp_path, slurm).backend.describe(), tmp_path, Partitions(), commands)
    job = submit(slurm, "--nodes=1", "--gpus-per-node=8")
    backend.observe()
    commands.before["-d"] = (bin_ / "scontrol").unlink  # when it asks whether the job was moved, which it refuses
    with pytest.raises(Unsure, match="no command 'scontrol'"):
        backend.launch(Launch(AttemptId(1, 1), (("nowhere", 0xFF),), (job,)))


@pytest.mark.slow
def test_nodes_come_and_go_and_lose_gpus(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Which an alarm says; nothing is started where GPUs are missing, and nobody dies."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        wait_for(lambda: daemon.get("/status"))
        slurm.rewrite(_with_other_nodes)
        said = "gpu2 has 4 GPUs, not 8; gpu4 has 0 GPUs, not 8; gpu9 has 8 GPUs, not 0; start it again"
        wait_for(lambda: any(said in alarm for alarm in daemon.get("/status")["alarms"]))
        drained = ["gpu2", "gpu4"]
        wait_for(lambda: [row["node"] for row in daemon.get("/nodes") if row["state"] == "DRAIN"] == drained)
        jobs = [submit(slurm, "--nodes=1", "--gpus-per-node=8") for _ in range(3)]
        wait_for_ends(daemon, jobs)
        parts = [row["parts"] for row in rows(daemon, "SELECT parts FROM attempts")]
        assert len(parts) == 3 and not any(node in part for part in parts for node in ("gpu2", "gpu4", "gpu9"))


@pytest.mark.slow
def test_slurm_may_hang_or_refuse(slurm: SlurmCluster, tmp_path: Path) -> None:
    """An alarm says so, the policy is not taken for hung, and all runs once Slurm answers."""
    wrap, does = tmp_path / "bin", tmp_path / "does"
    wrap.mkdir()
    scontrol = shutil.which("scontrol", path=slurm.path)
    changes = f"case $1 in update|'') . {does};; esac"  # alone, or many by one process
    (wrap / "scontrol").write_text(f'#!/bin/sh\n{changes}\nexec {scontrol} "$@"\n')
    (wrap / "scontrol").chmod(0o755)
    does.write_text("sleep 1.5; echo 'Unable to contact slurm controller' >&2; exit 1\n")
    options = ("--policy", "fifo", "--longest-turn", "1")
    with actor(slurm, tmp_path / "d", *options, first=str(wrap)) as daemon:
        first = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=0.1)
        said = "a job was not changed, which is tried again: scontrol update failed with 1: Unable to contact"
        wait_for(lambda: any(said in alarm for alarm in daemon.get("/status")["alarms"]))
        does.write_text("echo 'slurm_update error: Access/permission denied' >&2; exit 1\n")
        wait_for(lambda: any("run the daemon as SlurmUser" in alarm for alarm in daemon.get("/status")["alarms"]))
        does.write_text(":\n")
        second = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=0.1)
        wait_for_ends(daemon, [second])
        assert slurm.state(first) == "PENDING" and slurm.state(second) == "COMPLETED"
        assert "StartFailed" in daemon.type("explain", first).stdout
        assert daemon.process.poll() is None and daemon.get("/status")["decides"] == "fifo"


def test_partitions_may_go_or_change(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Which an alarm says each time; what waits runs once they are as they were."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        for change in ("update", "delete", "update"):
            slurm.call("scontrol", change, "PartitionName=gpu", *(["State=DOWN"] if change == "update" else []))
            many = len(daemon.get("/status")["alarms"])
            wait_for(lambda many=many: len(daemon.get("/status")["alarms"]) > many)
            verb = "create" if change == "delete" else "update"
            slurm.call("scontrol", verb, "PartitionName=gpu", "Nodes=ALL", "State=UP")
            alarms = daemon.get("/status")["alarms"]
            job = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=0.1)
            wait_for_ends(daemon, [job])
        said = [alarm.partition(" partition ")[2] for alarm in alarms if "in which jobs are to run" in alarm]
        assert said[0].startswith("'gpu', in which jobs are to run, is DOWN")
        assert said[1].startswith("'gpu', in which jobs are to run, is not there")
        assert said[2] == said[0]
        slurm.call("scontrol", "update", "PartitionName=inbox", "State=UP")
        wait_for(lambda: "set its State=DOWN" in daemon.get("/status")["alarms"][-1])


def test_a_launched_job_may_be_moved_back_to_the_gate(slurm: SlurmCluster, tmp_path: Path) -> None:
    """The nodes that were chosen for it are not its user's."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        slurm.call("scontrol", "update", "PartitionName=gpu", "State=DOWN")
        job = submit(slurm, "--nodes=1", "--gpus-per-node=1", seconds=0.1)
        wait_for(lambda: slurm.call("squeue", "-h", f"-j{job}", "--format=%P") == "gpu")
        slurm.call("scontrol", "update", f"JobId={job}", "Partition=inbox")
        wait_for(lambda: "StartFailed" in daemon.type("explain", job).stdout)
        slurm.call("scontrol", "update", "PartitionName=gpu", "State=UP")
        assert not any("stays at the gate" in alarm for alarm in daemon.get("/status")["alarms"])
        daemon.kill()
        daemon.options = ("--policy", "srtf")
        daemon.begin()
        assert daemon.get("/status")["decides"] == "srtf"


def _with_other_nodes(text: str) -> str:
    """Another node in place of gpu4, which does not answer, and half of the GPUs of gpu2."""
    lines = []
    for line in text.replace("gpu3,gpu4", "gpu3,gpu9").splitlines():
        if line.startswith("NodeName=gpu2 "):
            line = line.replace(":8 ", ":4 ")
        lines.append(line.replace("NodeName=gpu4 ", "NodeName=gpu9 "))
    return "\n".join(lines) + "\n"


def test_jobs_may_be_changed_while_they_wait(slurm: SlurmCluster, tmp_path: Path) -> None:
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        blocks = submit(slurm, "--nodes=3", "--gpus-per-node=8", seconds=600)
        slurm.wait(blocks, "RUNNING")
        wide = submit(slurm, "--nodes=2", "--gpus-per-node=8", "--time=60")
        vague = submit(slurm, "--nodes=2", "--gpus=3")
        wait_for(lambda: wide in book(daemon) and daemon.get("/status")["alarms"])
        before = rows(daemon, "SELECT id, submit_ms FROM jobs WHERE state IS NULL ORDER BY id")
        slurm.call("scontrol", "update", f"JobId={wide}", "NumNodes=1", "TimeLimit=30")
        slurm.call("scontrol", "update", f"JobId={vague}", "NumNodes=1")
        slurm.call("scontrol", "update", f"JobId={blocks}", "TimeLimit=100")
        found = wait_for_ends(daemon, [wide, vague])
        assert {found[job]["state"] for job in (wide, vague)} == {"COMPLETED"}
        assert found[wide]["kind"][:3] == [8, 1, 8]
        assert found[blocks]["limit_ms"] == 100 * 60_000
        assert before == [row for row in rows(daemon, "SELECT id, submit_ms FROM jobs ORDER BY id")][: len(before)]
        audit = rows(daemon, "SELECT target, detail FROM audit WHERE verb = 'change'")
        assert {row["target"] for row in audit} == {wide, blocks}
        said = next(row["detail"] for row in audit if row["target"] == wide)
        assert "gpus 16 to 8" in said and "time limit 1 h to 30 min" in said


@pytest.mark.parametrize("kills_controller", [pytest.param(False, marks=pytest.mark.slow), True])
def test_daemons_and_controllers_may_die(slurm: SlurmCluster, tmp_path: Path, kills_controller: bool) -> None:
    """No job runs twice at once, and each that Slurm did not forget is done."""
    chance = random.Random(1)
    with actor(slurm, tmp_path / "d", "--policy", "srtf", "--preempt-qos", "*") as daemon:
        jobs = [
            submit(slurm, "--nodes=1", f"--gpus-per-node={gpus}", seconds=seconds)
            for gpus, seconds in zip(chance.choices((1, 4, 8), k=24), chance.choices((0.5, 1, 3), k=24), strict=True)
        ]
        time.sleep(6.0)  # Slurm has saved that they came
        for k in range(4):
            time.sleep(chance.uniform(0.1, 1.5))
            if kills_controller and k == 2:
                slurm.kill_controller()
                time.sleep(0.5)
                slurm.start_controller()
            daemon.kill()
            daemon.begin()
        wait_until(lambda: mend(slurm) or slurm.call("squeue", "--noheader"), "", within_s=150)
        found = wait_for_ends(daemon, jobs)
        assert daemon.process.poll() is None
        assert [job for what, job, _ in ran(slurm) if what == "twice"] == []
        done = [job for what, job, _ in ran(slurm) if what == "end"]
        assert set(done) == set(jobs)
        if not kills_controller:
            assert len(done) == len(jobs)
            assert {found[job]["state"] for job in jobs} == {"COMPLETED"}


def test_what_was_requeued_starts_in_a_later_second(slurm: SlurmCluster, tmp_path: Path) -> None:
    """In the same one its node would refuse it, and Slurm would end it."""
    cluster = SlurmUnderTest(tmp_path, slurm)
    for attempt in range(1, 5):
        cluster.launch(AttemptId(1, attempt), LONG)
        wait(cluster, AttemptId(1, attempt), Phase.RUNNING)
        if attempt > 1:
            seen = cluster.backend.look()
            assert seen is not None
            (job,) = [job for job in seen.jobs if job.phase == Phase.RUNNING]
            assert job.start_unix_s is not None and job.submit_unix_s is not None
            assert job.start_unix_s > job.submit_unix_s
        time.sleep(1.0 - time.time() % 1.0)
        cluster.backend.stop(AttemptId(1, attempt), SOON)
        wait(cluster, AttemptId(1, attempt), Phase.ENDED)
    cluster.end()


def test_a_job_whose_mark_is_gone_is_known_by_the_book(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Also one that had been requeued before it was launched: it still runs."""
    cluster, again = SlurmUnderTest(tmp_path, slurm), AttemptId(1, 2)
    cluster.launch(AttemptId(1, 1), LONG)
    wait(cluster, AttemptId(1, 1), Phase.RUNNING)
    cluster.backend.stop(AttemptId(1, 1), SOON)
    wait(cluster, AttemptId(1, 1), Phase.ENDED)
    cluster.launch(again, LONG)
    wait(cluster, again, Phase.RUNNING)
    (job,) = slurm.call("squeue", "--noheader", "--format=%A").split()
    slurm.call("scontrol", "update", f"JobId={job}", "AdminComment=theirs")
    cluster.reopened()
    assert cluster.backend.observe().attempts == ()
    cluster.reopened()
    cluster.backend.remember(job, again)
    for _ in range(2):
        assert [(one.id, one.phase) for one in cluster.backend.observe().attempts] == [(again, Phase.RUNNING)]
    cluster.backend.stop(again, SOON)
    wait(cluster, again, Phase.ENDED)
    cluster.end()


@pytest.mark.parametrize("dies", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_queue_is_handed_back(slurm: SlurmCluster, tmp_path: Path, dies: bool) -> None:
    """Slurm starts all that waits, in its own order, also what was preempted."""
    options = ("--policy", "las", "--set", "las.thresholds_gpu_s=[40]", "--preempt-qos", "*")
    with actor(slurm, tmp_path / "d", *options) as daemon:
        wide = submit(slurm, "--nodes=4", "--gpus-per-node=8", seconds=5)
        slurm.wait(wide, "RUNNING")
        small = [submit(slurm, "--nodes=4", "--gpus-per-node=8", seconds=0.5) for _ in range(3)]
        wait_for(lambda: rows(daemon, "SELECT 1 FROM attempts WHERE cause = 'preempt'"))
        if dies:
            daemon.kill()
        state = ("--state", str(daemon.folder / "state")) if dies else ()  # else the daemon is to do it
        stopped = daemon.type(
            "live",
            "stop",
            "--hand-back",
            *state,
            PATH=slurm.path,
            SLURM_CONF=slurm.environment["SLURM_CONF"],
        )
        assert stopped.returncode == 0, stopped.stderr
        daemon.process.wait(20)
        wait_until(lambda: slurm.call("squeue", "--noheader"), "", within_s=60)
        shown = slurm.call("squeue", "--noheader", "--states=all", "--format=%i %T %r %S %e")
        assert sorted(job for what, job, _ in ran(slurm) if what == "end") == sorted([wide, *small]), (
            ran(slurm),
            shown,
        )
        assert slurm.call("squeue", "--noheader", "--states=all", "--format=%T").split() == ["COMPLETED"] * 4


def test_what_is_missing_is_named_with_the_line_to_add(slurm: SlurmCluster, tmp_path: Path) -> None:
    environment = {"PATH": slurm.path, "SLURM_CONF": slurm.environment["SLURM_CONF"]}
    with patch.dict(os.environ, environment):
        good = pointsman("live", "check", "--backend", "slurm", "--act")
        bad = pointsman("live", "check", "--backend", "slurm", "--act", "--gate", "nowhere", "--target", "inbox")
        looks = pointsman("live", "check", "--backend", "slurm", "--observe")
    assert looks.returncode == 0 and "ok: Slurm " in looks.stdout and "partition" not in looks.stdout
    both = pointsman("live", "check", "--backend", "slurm", "--observe", "--act")
    assert both.returncode == pointsman("live", "check", "--observe").returncode == 2
    assert "one of them is enough" in both.stderr
    assert good.returncode == 0 and "wrong" not in good.stdout
    assert bad.returncode == 2
    assert "add 'PartitionName=nowhere Nodes=ALL MaxTime=INFINITE State=DOWN' to slurm.conf" in bad.stdout
    assert "wrong: partition 'inbox', in which jobs are to run, is DOWN" in bad.stdout


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_deaths(slurm: SlurmCluster, tmp_path: Path, seed: int) -> None:
    """Of daemons, controllers and the daemons of nodes, in launches, ends and preemptions."""
    chance = random.Random(seed)
    lengths = chance.choices((0.5, 2, 5), k=60)
    with actor(slurm, tmp_path / "d", "--policy", "srtf", "--preempt-qos", "*") as daemon:
        jobs = [submit(slurm, "--nodes=1", f"--gpus-per-node={chance.choice((1, 4, 8))}", seconds=s) for s in lengths]
        time.sleep(6.0)
        for _ in range(25):
            time.sleep(chance.uniform(0.05, 1.5))
            kill(chance.choice(("daemon", "daemon", "controller", "node")), slurm, daemon, chance)
        wait_until(lambda: mend(slurm) or slurm.call("squeue", "--noheader"), "", within_s=240)
        found = wait_for_ends(daemon, jobs)
        assert daemon.process.poll() is None
        told = ran(slurm)
        assert [job for what, job, _ in told if what == "twice"] == []
        assert {job for what, job, _ in told if what == "end"} == set(jobs)
        assert {row["state"] for row in found.values()} <= {"COMPLETED", "FAILED", "NODE_FAIL", "CANCELLED"}
        assert [job for job in jobs if differs(job, found[job]["id"], daemon, told)] == []


def differs(job: str, number: int, daemon: RunningDaemon, told: list[tuple[str, str, float]]) -> bool:
    """Whether a job began more often than the book says, or ended otherwise, and no row of the audit table says why."""
    attempts = rows(daemon, f"SELECT started_ms, cause, exit_code FROM attempts WHERE job = {number}")
    explained = rows(daemon, f"SELECT detail FROM audit WHERE verb = 'found' AND target = '{job}'")
    begins = sum(what == "begin" for what, one, _ in told if one == job)
    ran = [one for one in attempts if one["started_ms"] is not None]
    return (begins > len(ran) or attempts[-1]["exit_code"] != 0) and not explained


def mend(slurm: SlurmCluster) -> None:
    """As an operator does: Slurm says for ever that a job runs whose node's daemon died while it launched it, and it
    drains a node that has a job which the controller had forgotten.
    """
    for line in slurm.call("squeue", "--noheader", "--states=R", "--format=%i %M").splitlines():
        job, ran_for = line.split()
        if ran_for > "0:40" or len(ran_for) > 4:
            slurm.call("scontrol", "requeue", job)
    drained = slurm.call("sinfo", "--noheader", "-N", "--partition=gpu", "--states=drained", "--format=%N|%E")
    for node, reason in (line.split("|") for line in drained.splitlines()):
        if reason == "Duplicate jobid":
            with suppress(AssertionError):  # its daemon has not registered yet: it is resumed later
                slurm.call("scontrol", "update", f"NodeName={node}", "State=RESUME")


def kill(what: str, slurm: SlurmCluster, daemon: RunningDaemon, chance: random.Random) -> None:
    if what == "daemon":
        daemon.kill()
        daemon.begin()
    elif what == "controller":
        slurm.kill_controller()
        time.sleep(chance.uniform(0.0, 1.0))
        slurm.start_controller()
    else:
        node = chance.choice(slurm.nodes)
        slurm.slurmds[node].kill()
        slurm.slurmds[node].wait()
        slurm.start_slurmd(node)


def test_jobs_that_only_slurm_can_place(backfilling: SlurmCluster, tmp_path: Path) -> None:
    """Those without GPUs are left to it, others stay at the gate, and an alarm says why, and what to do."""
    slurm = backfilling
    one = ("--nodes=1", "--gpus-per-node=1")
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        bare, straight = submit(slurm, "--nodes=1"), slurm.submit("--hold", *one)
        long = submit(slurm, "--nodes=1", seconds=600)
        named = submit(slurm, *one, "--nodelist=gpu3")
        excludes = submit(slurm, *one, "--exclude=gpu1")
        later = submit(slurm, *one, "--begin=now+600")
        gang = submit(slurm, *one, ":", *GATE, *one)
        vague = submit(slurm, "--nodes=2", "--gpus=3", "--array=1-2")
        slurm.wait(bare, "COMPLETED")
        said = wait_for(lambda: len(alarms := daemon.get("/status")["alarms"]) == 5 and "\n".join(alarms))
        assert f"job {named} stays at the gate, because it cannot be placed: it says on which nodes it must run" in said
        assert f"('scontrol update JobId={named} Partition=gpu' leaves it to Slurm)" in said
        assert f"job {gang}+1 stays at the gate" in said
        assert f"job {excludes} cannot start on gpu1 (BadConstraints), and is tried again later" in said
        why = {
            straight: "is in partition gpu: only jobs at the gate, inbox, are started here",
            long: "has no GPUs, and is left to Slurm",
            named: "stays at the gate, because it cannot be placed: it says on which nodes it must run",
            gang: "stays at the gate, because it cannot be placed: it is a part of a heterogeneous job",
            f"{gang}+1": f"it is a part of a heterogeneous job ('scontrol update JobId={gang}+1 Partition=gpu'",
            vague: "it does not say how many GPUs it takes of each node",
            f"{vague}_2": "it does not say how many GPUs it takes of each node",
        }
        said = {job: daemon.type("explain", job).stderr for job in (*why, f"{vague}_3")}
        assert all(said[job].startswith(f"pointsman: job {job} ") and words in said[job] for job, words in why.items())
        assert said[f"{vague}_3"] == f"pointsman: there is no job {vague}_3\n"
        wait_for(lambda: slurm.call("squeue", "-h", f"-j{excludes}", "--format=%P %r") == "inbox PartitionDown")
        assert "Slurm may not start it yet: BeginTime" in daemon.type("explain", later).stdout
        assert {row["job_id"]: row["reason"] for row in daemon.get("/jobs")}[later] == "BeginTime"
        assert slurm.call("squeue", "-h", f"-j{later}", "--format=%P") == "inbox"
        wait_for(lambda: daemon.get("/status")["starting"] == 0)  # what excludes nodes is tried again now and then
        assert {row["state"] for row in daemon.get("/nodes")} == {"UP"}
        slurm.call("scontrol", "update", f"JobId={named}", "Partition=gpu")
        slurm.wait(named, "COMPLETED")
        assert slurm.call("squeue", "-h", "--states=all", f"-j{named}", "--format=%N") == "gpu3"


def test_arrays_and_what_names_nodes_are_handed_back(backfilling: SlurmCluster, tmp_path: Path) -> None:
    """As their users submitted them."""
    slurm = backfilling
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        daemon.kill()
        submit(slurm, "--nodes=1", "--gpus-per-node=8", "--array=1-9:4%1", seconds=0.2)
        submit(slurm, "--nodes=2", "--gpus-per-node=8", "--array=1-2", seconds=0.2)
        named = submit(slurm, "--nodes=1", "--gpus-per-node=8", "--nodelist=gpu3", seconds=0.2)
        submit(slurm, "--nodes=1", "--gpus-per-node=1", ":", *GATE, "--nodes=1", seconds=0.2)
        environment = {"PATH": slurm.path, "SLURM_CONF": slurm.environment["SLURM_CONF"]}
        stopped = daemon.type("live", "stop", "--hand-back", "--state", str(daemon.folder / "state"), **environment)
        assert stopped.returncode == 0, stopped.stderr
        wait_until(lambda: slurm.call("squeue", "--noheader"), "", within_s=60)
        ended = slurm.call("squeue", "-h", "--states=all", "--format=%T").split()
        assert ended == ["COMPLETED"] * 8
        assert slurm.call("squeue", "-h", "--states=all", f"-j{named}", "--format=%N") == "gpu3"


def _rename(slurm: SlurmCluster, partition: str, name: str) -> None:
    place = slurm.folder / "slurm.conf"
    place.write_text(place.read_text().replace(f"PartitionName={partition} ", f"PartitionName={name} "))
    slurm.call("scontrol", "reconfigure")


@pytest.mark.slow
def test_partitions_may_go_and_come_back(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Slurm ends what runs or waits there, and brings it back: no job is lost."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        runs = [submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=4) for _ in range(4)]
        waits = submit(slurm, "--nodes=1", "--gpus-per-node=8")
        slurm.wait(runs[-1], "RUNNING")
        _rename(slurm, "inbox", "inbox2")
        _wait_for_alarm(daemon, "there is no partition 'inbox'")
        slurm.wait(waits, "NODE_FAIL")
        _rename(slurm, "inbox2", "inbox")
        slurm.wait(waits, "PENDING")
        _rename(slurm, "gpu", "gpu2")
        slurm.wait(runs[-1], "NODE_FAIL")
        said = _wait_for_alarm(daemon, "'gpu', in which jobs are to run, is not there")
        _rename(slurm, "gpu2", "gpu")
        wait_until(lambda: slurm.call("squeue", "--noheader"), "", within_s=60)
        assert {slurm.state(job) for job in (*runs, waits)} == {"COMPLETED"}
        assert {job for what, job, _ in ran(slurm) if what == "end"} == {*runs, waits}
        assert "runs them again if it comes back within 5 min (MinJobAge)" in said
        assert not [what for what, _, _ in ran(slurm) if what == "twice"]


def _wait_for_alarm(daemon: RunningDaemon, words: str) -> str:
    return wait_for(lambda: words in (said := "\n".join(daemon.get("/status")["alarms"])) and said)


@pytest.mark.slow
def test_two_daemons_are_told_of_each_other(slurm: SlurmCluster, tmp_path: Path) -> None:
    one, other = (actor(slurm, tmp_path / name, "--policy", "fifo") for name in ("one", "other"))
    with one, other, observer(slurm, tmp_path / "third", "--advise", "--policy", "fifo") as third:
        jobs = [submit(slurm, "--nodes=1", "--gpus-per-node=4", seconds=0.5) for _ in range(30)]
        for daemon in (one, other):
            _wait_for_alarm(daemon, "starts jobs of this Slurm, too")
        _wait_for_alarm(third, "a daemon with --act starts jobs of this Slurm")
        wait_until(lambda: slurm.call("squeue", "--noheader"), "", within_s=90)
        assert {slurm.state(job) for job in jobs} == {"COMPLETED"}
        assert not [what for what, _, _ in ran(slurm) if what == "twice"]
