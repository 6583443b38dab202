"""Daemons that observe a real Slurm, and advise it."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .daemons import RunningDaemon, wait_for
from .slurm_cluster import SlurmCluster, slurm_cluster, wait_until

SECONDS = 1.5
"""Slurm's times are whole seconds."""


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(4, scheduler="sched/backfill") as cluster:
        yield cluster


def observer(slurm: SlurmCluster, folder: Path, *options: str) -> RunningDaemon:
    folder.mkdir(exist_ok=True)
    of = ("--backend", "slurm", "--poll", "0.5")
    return RunningDaemon(folder, *options, of=of, PATH=slurm.path, SLURM_CONF=slurm.environment["SLURM_CONF"])


def rows(daemon: RunningDaemon, sql: str) -> list[dict[str, Any]]:
    connection = sqlite3.connect(f"file:{daemon.folder}/state/store?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(sql)]
    finally:
        connection.close()


def book(daemon: RunningDaemon) -> dict[str, dict[str, Any]]:
    """Jobs by Slurm's ids, the last that had one."""
    attempts = "(SELECT {} FROM attempts WHERE job = id)"
    counted = f"{attempts.format('count(*)')} AS runs, {attempts.format('max(parts)')} AS on_"
    sql = f"SELECT id, spec, state, {counted} FROM jobs"
    found = [row | json.loads(row["spec"]) for row in rows(daemon, sql)]
    assert len({row["request_key"] for row in found}) == len(found), "a job is there twice"
    return {row["shown"]: row for row in found}


def wait_for_ends(daemon: RunningDaemon, jobs: list[str]) -> dict[str, dict[str, Any]]:
    def all_ended() -> Any:
        found = book(daemon)
        return all(job in found and found[job]["state"] for job in jobs) and found

    return wait_for(all_ended, 60)


def test_what_slurm_does_is_in_the_book(slurm: SlurmCluster, tmp_path: Path) -> None:
    with observer(slurm, tmp_path / "d", "--observe", "--policy", "gittins") as daemon:
        fails = slurm.submit("--job-name=a|b 'c'", "--nodes=1", "--gpus-per-node=8", does="false")
        gang = slurm.submit("--nodes=2", "--gpus-per-node=4", "--nodelist=gpu[2-3]", does="sleep 1.5")
        array = slurm.submit("--array=1-3%2", "--nodes=1", "--gpus-per-node=1", does="sleep 0.5")
        gone = slurm.submit("--hold", "--nodes=1", "--gpus-per-node=1")
        again = slurm.submit("--nodes=1", "--gpus-per-node=2")
        cpus = slurm.submit("--nodes=1", does="sleep 0.2")
        slurm.wait(again, "RUNNING")
        wait_for(lambda: again in book(daemon) and book(daemon)[again]["runs"] == 1)
        slurm.call("scontrol", "requeuehold", again)
        wait_for(lambda: rows(daemon, "SELECT 1 FROM attempts WHERE cause = 'preempt'"))
        slurm.call("scancel", gone, again)
        found = wait_for_ends(daemon, [fails, gang, gone, again, *(f"{array}_{k}" for k in (1, 2, 3))])
        assert cpus not in found
        assert f"job {cpus} has no GPUs, and is not observed" in daemon.type("explain", cpus).stderr
        mine = {job: row for job, row in found.items() if int(job.split("_")[0]) >= int(fails)}
        assert {job: (row["state"], row["runs"]) for job, row in mine.items()} == {
            fails: ("FAILED", 1), gang: ("COMPLETED", 1), gone: ("CANCELLED", 0), again: ("CANCELLED", 1),
            **{f"{array}_{k}": ("COMPLETED", 1) for k in (1, 2, 3)},
        }  # fmt: skip
        assert found[gang]["on_"] == '[["gpu2", 15], ["gpu3", 15]]' and found[gang]["kind"][0] == 8
        assert rows(daemon, "SELECT count(*) AS n FROM decisions WHERE job IS NOT NULL")[0]["n"] >= 6
        assert daemon.get("/status")["gpus_allocated"] == 0
        slurm.call("scontrol", "update", "NodeName=gpu4", "State=DRAIN", "Reason=bad memory: ECC | 3")
        wait_for(lambda: {row["node"]: row["reason"] for row in daemon.get("/nodes") if row["reason"]})
        assert {row["node"]: row["reason"] for row in daemon.get("/nodes") if row["reason"]} == {
            "gpu4": "bad memory: ECC | 3"
        }
        slurm.call("scontrol", "update", "NodeName=gpu4", "State=RESUME")
        wait_for(lambda: not any(row["reason"] for row in daemon.get("/nodes")))
        deciding = json.loads(rows(daemon, "SELECT value FROM meta WHERE key = 'deciding'")[0]["value"])
        assert deciding["options"]["overheads"]["start_s"] == 0, "what Slurm's jobs run includes their starts"
        refused = daemon.type("submit", "--", "true")
        assert refused.returncode == 2 and "only observes Slurm, and changes nothing: use 'sbatch'" in refused.stderr
        waits = slurm.submit("--hold", "--nodes=1", "--gpus-per-node=1")
        wait_for(lambda: [row["job_id"] for row in daemon.rows("queue")] == [waits])
        assert f"use 'scancel {waits}'" in daemon.type("cancel", waits).stderr
        drains = daemon.type("drain", "gpu1").stderr
        assert "use 'scontrol update NodeName=gpu1 State=DRAIN Reason=TEXT'" in drains


@pytest.mark.slow
def test_daemons_and_controllers_may_die(slurm: SlurmCluster, tmp_path: Path) -> None:
    """What Slurm forgets, has ended; what it runs again, and what gets a number of another, is a job of its own."""
    jobs = [slurm.submit("--nodes=1", f"--gpus-per-node={1 + k % 8}", does=f"sleep {1 + k % 3}") for k in range(12)]
    with observer(slurm, tmp_path / "d", "--observe", "--policy", "gittins") as daemon:
        wait_for(lambda: {*jobs} <= {*book(daemon)})
        daemon.kill()
        jobs += [slurm.submit("--nodes=1", "--gpus-per-node=4", does="sleep 2") for _ in range(4)]
        daemon.begin()
        wait_for(lambda: {*jobs} <= {*book(daemon)})
        slurm.kill_controller()
        time.sleep(1.0)
        slurm.start_controller()
        slurm.wait_for_registration()
        jobs.append(slurm.submit("--nodes=1", "--gpus-per-node=1", does="sleep 1"))
        time.sleep(3.0)
        slurm.call("scancel", "--user=root")  # some are held, because their launch has failed
        wait_until(lambda: slurm.call("squeue", "--noheader"), "")
        found = wait_for_ends(daemon, jobs)
        listed = dict(
            line.split() for line in slurm.call("squeue", "-h", "--states=all", "--format=%i %T").splitlines()
        )
        assert {job: found[job]["state"] for job in jobs if job in listed} == {
            job: state for job, state in listed.items() if job in jobs
        }
        assert {found[job]["state"] for job in jobs if job not in listed} <= {"COMPLETED", "CANCELLED"}
        assert daemon.process.poll() is None
        status = daemon.get("/status")
        assert (status["gpus_allocated"], status["pending"], status["running"]) == (0, 0, 0)


def test_jobs_may_be_changed_while_they_wait(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Also when nobody looks."""
    blocks = slurm.submit("--nodes=4", "--gpus-per-node=8")
    slurm.wait(blocks, "RUNNING")
    waits, other = (slurm.submit("--nodes=1", "--gpus-per-node=8", "--time=60", does="sleep 1") for _ in range(2))
    with observer(slurm, tmp_path / "d", "--observe", "--policy", "fifo") as daemon:
        wait_for(lambda: {waits, other} <= {*book(daemon)})
        slurm.call("scontrol", "update", f"JobId={waits}", "TresPerNode=gres:gpu:4", "TimeLimit=30")
        wait_for(lambda: book(daemon)[waits]["kind"][0] == 4)
        daemon.kill()
        slurm.call("scontrol", "update", f"JobId={other}", "TresPerNode=gres:gpu:2", "JobName=other")
        daemon.begin()
        wait_for(lambda: book(daemon)[other]["kind"][0] == 2)
        assert [row["gpus"] for row in daemon.rows("queue", "-t", "PD")] == [4, 2]
        assert book(daemon)[waits]["limit_ms"] == 30 * 60_000 and book(daemon)[other]["name"] == "other"
        audit = rows(daemon, "SELECT target, detail FROM audit WHERE verb = 'change'")
        assert [row["target"] for row in audit] == [waits, other]
        assert "gpus 8 to 4" in audit[0]["detail"] and "time limit 1 h to 30 min" in audit[0]["detail"]
        slurm.call("scancel", blocks)
        found = wait_for_ends(daemon, [waits, other])
        assert [found[job]["state"] for job in (waits, other)] == ["COMPLETED"] * 2
        assert daemon.get("/status")["alarms"] == [] and daemon.get("/status")["gpus_allocated"] == 0


@pytest.mark.slow
def test_the_policy_and_the_cluster_may_change(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Under way and between two daemons; jobs that do not fit any more come anew."""
    runs = slurm.submit("--nodes=1", "--gpus-per-node=8", "--nodelist=gpu4")
    waits = slurm.submit("--nodes=4", "--gpus-per-node=8")
    with observer(slurm, tmp_path / "d", "--observe", "--policy", "gittins") as daemon:
        wait_for(lambda: {runs, waits} <= {*book(daemon)})
        changed = daemon.type("live", "policy", "las")
        assert changed.returncode == 0, changed.stderr
        daemon.end()
        daemon.options = ("--observe", "--policy", "fifo")
        daemon.begin()
        assert daemon.get("/status")["policy"] == "fifo"
        daemon.end()
        slurm.call("scancel", runs, waits)
        slurm.rewrite(lambda conf: re.sub("NodeName=gpu4 .*|,gpu4", "", conf).replace("=gpu N", "=a100 N"))
        stays = slurm.submit("--nodes=1", "--gpus-per-node=8")
        daemon.begin()
        wait_for(lambda: daemon.get("/status")["gpus_allocated"] == 8)
        assert {job for job, row in book(daemon).items() if row["state"] is None} == {stays}
        assert daemon.get("/status")["gpus"] == 24


def test_advice_is_taken_and_taken_back(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs that Slurm has in another order than `fifo` are brought into its order; others keep their priorities."""
    blocking = [slurm.submit("--nodes=4", "--gpus-per-node=8")]
    waiting = [slurm.submit("--nodes=1", "--gpus-per-node=8", f"--nice={nice}") for nice in (300, 200, 100, 0)]
    slurm.wait(blocking[0], "RUNNING")

    def standing() -> dict[str, tuple[int, int]]:
        lines = slurm.call("squeue", "--noheader", "--states=PD", "--format=%A %Q %y").splitlines()
        return {job: (int(priority), int(nice)) for job, priority, nice in map(str.split, lines)}

    before = standing()
    assert [job for job in sorted(before, key=lambda job: -before[job][0])] == waiting[::-1]
    options = ("--advise", "--policy", "fifo", "--most-changes", "3")
    with observer(slurm, tmp_path / "d", *options) as daemon:
        now = wait_for(lambda: (s := standing()) != before and s)
        time.sleep(5)
        now = standing()
        changed = [job for job in waiting if now[job][1] != before[job][1]]
        assert len(changed) == 3, "the budget of a minute is kept"
        audit = rows(daemon, "SELECT target, detail FROM audit WHERE verb = 'nice'")
        assert [row["target"] for row in audit] == changed
        assert now[waiting[0]][0] == max(priority for priority, _ in before.values())
        slurm.kill_controller()
        refused = daemon.type("live", "stop", "--hand-back")  # its answer is final
        assert refused.returncode == 5 and "it is not known which jobs have their own nice values" in refused.stderr
        assert daemon.get("/status")["pending"] == 4
        slurm.start_controller()
        slurm.wait_for_registration()
        stopped = daemon.type("live", "stop", "--hand-back")
        assert stopped.returncode == 0, stopped.stderr
        assert {job: nice for job, (_, nice) in standing().items()} == {job: nice for job, (_, nice) in before.items()}
        assert standing() == before
        daemon.process.wait(20)


@pytest.mark.slow
def test_arrays_are_advised_and_what_users_set_is_theirs(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Tasks of one have ended, run, wait together and apart; the daemon is killed, and what it did is taken back."""
    array = slurm.submit("--nodes=1", "--gpus-per-node=8", "--array=1-6%1", "--nice=7", does="sleep 4")
    blocking = slurm.submit("--nodes=3", "--gpus-per-node=8")
    first, last = (slurm.submit("--nodes=4", "--gpus-per-node=8", f"--nice={nice}") for nice in (500, 0))
    wait_until(lambda: f"{array}_1 COMPLETED" in slurm.call("squeue", "-h", "--states=all", "--format=%i %T"), True)
    slurm.call("scontrol", "update", f"JobId={array}_6", "Nice=9")

    def nices() -> dict[str, int]:
        lines = slurm.call("squeue", "-h", "--array", "--format=%i %y").splitlines()
        return {job: int(nice) for job, nice in map(str.split, lines)}

    with observer(slurm, tmp_path / "d", "--advise", "--policy", "fifo") as daemon:
        changed = {first: 500, last: 0}
        wait_for(lambda: any(nices()[job] != nice for job, nice in changed.items()))
        slurm.call("scontrol", "hold", first)
        slurm.call("scontrol", "update", f"JobId={blocking}", "Nice=33")
        time.sleep(5)
        daemon.kill()
        given = daemon.type("live", "stop", "--hand-back", "--state", str(daemon.folder / "state"), **slurm.environment)
        assert given.returncode == 0, given.stderr
        now = nices()
        assert {job: nice for job, nice in now.items() if not job.startswith(f"{array}_")} == changed | {blocking: 33}
        assert {nice for job, nice in now.items() if job.startswith(f"{array}_") and job != f"{array}_6"} <= {7}
        assert now.get(f"{array}_6", 9) == 9
        assert rows(daemon, "SELECT * FROM advised") == []
        assert slurm.call("squeue", "-h", f"-j{first}", "--format=%Q %r") == "0 JobHeldAdmin", "it is held still"


@pytest.mark.slow
def test_what_is_out_of_scope_now_gets_its_own_back(slurm: SlurmCluster, tmp_path: Path) -> None:
    """An earlier daemon might change it; what is in scope still stays."""
    slurm.wait(slurm.submit("--nodes=4", "--gpus-per-node=8"), "RUNNING")
    small = ("--nodes=1", "--gpus-per-node=8")
    array = slurm.submit(*small, "--array=1-2", "--nice=300")
    waiting = [slurm.submit(*small, f"--nice={nice}", f"--account={account}") for nice, account in
               ((200, "a"), (100, "b"), (0, "a"))]  # fmt: skip

    def nices() -> dict[str, int]:
        lines = slurm.call("squeue", "--noheader", "--states=PD", "--format=%A %y").splitlines()
        return {job: int(nice) for job, nice in map(str.split, lines)}

    own = nices()
    with observer(slurm, tmp_path / "d", "--advise", "--policy", "fifo") as daemon:
        wait_for(lambda: array in (changed := {job for job, nice in nices().items() if nice != own[job]})
                 and {*waiting} & changed)  # fmt: skip
        daemon.end()
        daemon.options = ("--advise", "--policy", "fifo", "--account", "a")
        daemon.begin()
        out = {job for job in own if job not in (waiting[0], waiting[2])}
        wait_for(lambda: all(nices()[job] == own[job] for job in out))
        wait_for(lambda: {row["unit"] for row in rows(daemon, "SELECT unit FROM advised")} <= {waiting[0], waiting[2]})
        again = rows(daemon, "SELECT target FROM audit WHERE detail = 'its own again'")
        assert {array} <= {row["target"] for row in again} <= out
        daemon.end()
        daemon.options = ("--observe", "--policy", "fifo")
        daemon.begin()
        wait_for(lambda: nices() == own and rows(daemon, "SELECT * FROM advised") == [])


def test_what_is_out_of_scope_is_left_alone(slurm: SlurmCluster, tmp_path: Path) -> None:
    slurm.submit("--nodes=4", "--gpus-per-node=8")
    for nice in (300, 0):
        slurm.submit("--nodes=1", "--gpus-per-node=8", f"--nice={nice}")
    with observer(slurm, tmp_path / "d", "--advise", "--policy", "fifo", "--partition", "inbox") as daemon:
        wait_for(lambda: daemon.get("/status")["pending"] == 2)
        time.sleep(5)
        assert rows(daemon, "SELECT * FROM audit") == []
