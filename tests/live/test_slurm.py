"""A real Slurm of four nodes is looked at while jobs come, run and go, nodes are drained and the controller dies."""

import re
from collections.abc import Iterator

import pytest

from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.commands import RPCS, Commands
from pointsman.live.backends.slurm.reader import Habits, Reader
from pointsman.live.backends.slurm.records import Ending, GpuDemand, NodeGpus, SlurmJob, Snapshot
from pointsman.types import NodeState
from tests.live.slurm_cluster import SlurmCluster, slurm_cluster, wait_until

NAMES = ("plain", "a|b 'c' \"d\" JobState=FAILED", "new\nline\n   UserId=evil(0)\n", "tab\t%j $(id) \\n", "naïve ∑")


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(4, scheduler="sched/backfill") as cluster:
        yield cluster


@pytest.fixture
def reader(slurm: SlurmCluster) -> Iterator[Reader]:
    yield Reader(Commands(environment=slurm.environment), habits=Habits(settled_s=0.0))
    slurm.call("scancel", "--user=root")
    wait_until(lambda: slurm.call("squeue", "--noheader"), "")


def found(reader: Reader, number: str) -> SlurmJob:
    return one_of(reader.look(), number)


def one_of(snapshot: Snapshot, id_: str) -> SlurmJob:
    return next(job for job in snapshot.jobs if job.id == id_)


def test_the_cluster(reader: Reader) -> None:
    seen = reader.look()
    assert [(node.name, node.gpus, node.state) for node in seen.nodes] == [
        (f"gpu{i}", (("a100", 8),), NodeState.UP) for i in range(1, 5)
    ]
    assert [(part.name, part.state, part.default, len(part.nodes)) for part in seen.partitions] == [
        ("gpu", "UP", True, 4), ("inbox", "DOWN", False, 4),
    ]  # fmt: skip
    assert seen.complete and seen.controller.cluster == "emulated"
    assert seen.controller.asked_unix_s >= seen.controller.boot_unix_s


def test_a_gang_runs_and_ends(slurm: SlurmCluster, reader: Reader) -> None:
    gang = slurm.submit("--nodes=2", "--gpus-per-node=3", "--time=90", "--nodelist=gpu[2-3]", does="sleep 0.5")
    slurm.wait(gang, "RUNNING")
    seen = reader.look()
    job = one_of(seen, gang)
    assert (job.state, job.phase, job.user, job.time_limit_s) == ("RUNNING", Phase.RUNNING, "root", 5400.0)
    assert job.gpus == GpuDemand(6, 3, "") and job.required_nodes == ("gpu2", "gpu3")
    assert job.held == (NodeGpus("gpu2", 3, (0, 1, 2)), NodeGpus("gpu3", 3, (0, 1, 2)))
    assert {node.name: node.gpus_in_use for node in seen.nodes} == {"gpu1": 0, "gpu2": 3, "gpu3": 3, "gpu4": 0}
    slurm.wait(gang, "COMPLETED")
    job = found(reader, gang)
    assert job.phase == Phase.ENDED and job.submit_unix_s and job.start_unix_s and job.end_unix_s
    assert job.submit_unix_s <= job.start_unix_s <= job.end_unix_s <= seen.unix_s + 60.0


@pytest.mark.parametrize(("does", "ending"), [("sh -c 'exit 7'", Ending(7, 0)), ("sh -c 'kill -9 $$'", Ending(0, 9))])
def test_how_a_job_failed(slurm: SlurmCluster, reader: Reader, does: str, ending: Ending) -> None:
    job = slurm.submit(does=does)
    slurm.wait(job, "FAILED")
    assert (found(reader, job).ending, found(reader, job).phase) == (ending, Phase.ENDED)


def test_a_name_may_be_anything(slurm: SlurmCluster, reader: Reader) -> None:
    options = ("--gpus-per-node=1", "--exclude=gpu1")
    ids = [slurm.submit(*options, f"--job-name={name}", f"--comment={name}") for name in NAMES]
    for id_ in ids:
        slurm.wait(id_, "RUNNING")
    seen = reader.look()
    assert [one_of(seen, id_).name for id_ in ids] == [*NAMES]
    for job in (one_of(seen, id_) for id_ in ids):
        assert reader.job(job.number).held == job.held and job.excluded_nodes == ("gpu1",)
        assert job.held[0].indexes is not None


def test_a_name_may_be_no_text(slurm: SlurmCluster, reader: Reader) -> None:
    job = slurm.submit("--gpus-per-node=1", b"--job-name=a\xff\xfe|b", "--partition=inbox")
    assert found(reader, job).name == "a\ufffd\ufffd|b"
    assert found(reader, job).excluded_nodes == ()  # its details were read


def test_an_array_waits_in_one_and_runs_in_parts(slurm: SlurmCluster, reader: Reader) -> None:
    tasks = ",".join(map(str, range(1, 80, 2)))
    array = slurm.submit("--gpus-per-node=8", "--exclusive", f"--array={tasks}%2")
    slurm.wait(f"{array}_1", "RUNNING")
    slurm.wait(f"{array}_3", "RUNNING")
    seen = reader.look()
    assert one_of(seen, f"{array}_[5-79:2%2]").phase == Phase.ACCEPTED
    assert one_of(seen, f"{array}_1").held[0].count == 8
    assert one_of(seen, f"{array}_1").number != one_of(seen, f"{array}_3").number
    assert reader.look().complete


def test_components_of_a_heterogeneous_job(slurm: SlurmCluster, reader: Reader) -> None:
    first = slurm.submit("--gpus-per-node=1", ":", "--gpus-per-node=2")
    wait_until(lambda: slurm.state(first).split(), ["RUNNING", "RUNNING"])
    seen = reader.look()
    assert [one_of(seen, f"{first}+{k}").held[0].count for k in (0, 1)] == [1, 2]


def test_a_job_is_held_released_and_cancelled(slurm: SlurmCluster, reader: Reader) -> None:
    job = slurm.submit("--hold", "--gpus=2", "--constraint=a100", "--begin=now+1hour", "--no-requeue")
    seen = found(reader, job)
    assert (seen.phase, seen.priority, seen.reason) == (Phase.ACCEPTED, 0, "JobHeldUser")
    assert (seen.features, seen.requeues, seen.start_unix_s) == ("a100", False, None)
    slurm.call("scontrol", "release", job)
    slurm.call("scontrol", "update", f"JobId={job}", "AdminComment=pm:1:1|x")
    seen = found(reader, job)
    assert seen.priority > 0 and seen.admin_comment == "pm:1:1|x"
    assert seen.eligible_unix_s is None or seen.eligible_unix_s > (seen.submit_unix_s or 0)
    slurm.call("scancel", job)
    assert found(reader, job).state == "CANCELLED" and found(reader, job).phase == Phase.ENDED


def test_a_job_is_requeued_and_runs_elsewhere(slurm: SlurmCluster, reader: Reader) -> None:
    job = slurm.submit("--gpus-per-node=2", "--nodelist=gpu1")
    slurm.wait(job, "RUNNING")
    assert found(reader, job).restarts == 0
    slurm.call("scontrol", "requeuehold", job)
    slurm.wait(job, "PENDING", "REQUEUE_HOLD")
    seen = found(reader, job)
    assert (seen.phase, seen.restarts, seen.priority, seen.held) == (Phase.ACCEPTED, 1, 0, ())
    slurm.call("scontrol", "update", f"JobId={job}", "ReqNodeList=gpu4", "StartTime=now")
    slurm.call("scontrol", "release", job)
    slurm.wait(job, "RUNNING")
    seen = found(reader, job)
    assert (seen.restarts, seen.held) == (1, (NodeGpus("gpu4", 2, (0, 1)),))


def test_many_jobs_are_read_at_once(slurm: SlurmCluster, reader: Reader) -> None:
    ids = [slurm.submit("--gpus-per-node=1", f"--job-name=a|{k}\n", "--exclude=gpu1") for k in range(8)]
    for id_ in ids:
        slurm.wait(id_, "RUNNING")
    seen = reader.look()
    given = [(part.node, *(part.indexes or ())) for id_ in ids for part in one_of(seen, id_).held]
    assert len({*given}) == 8 and {len(place) for place in given} == {2}
    assert one_of(seen, ids[0]).excluded_nodes == ("gpu1",)


def test_one_job_with_all_details(slurm: SlurmCluster, reader: Reader) -> None:
    job = slurm.submit("--gpus-per-node=2", "--job-name=x y")
    slurm.wait(job, "RUNNING")
    assert reader.job(int(job)) == found(reader, job)
    with pytest.raises(Unsure, match="Invalid job id"):
        reader.job(4_000_000)
    assert reader.ended([job]) is None  # this cluster keeps no accounts


@pytest.mark.parametrize("kind", [kind for kind in RPCS if kind != "sacct"])
def test_requests_of_the_controller_are_those_we_count(slurm: SlurmCluster, reader: Reader, kind: str) -> None:
    job = slurm.submit()
    slurm.wait(job, "RUNNING")
    slurm.call("sdiag", "--reset")
    program, *words = kind.split()
    slurm.call(program, "--local", *words, *(["-d", job] if kind == "scontrol show job" else []))
    listed = slurm.call("sdiag").partition("by message type")[2].partition("by user")[0]
    counts = re.findall(r"REQUEST_(\w+) .*count:(\d+)", listed)
    assert sum(int(count) for name, count in counts if name != "STATS_INFO") == RPCS[kind], listed


def test_the_controller_dies_and_is_not_taken_for_an_empty_cluster() -> None:
    with slurm_cluster(1) as slurm:
        commands = Commands(timeout_s=1.0, environment=slurm.environment)
        reader = Reader(commands, habits=Habits(settled_s=2.0))
        job = slurm.submit("--partition=inbox")
        slurm.kill_controller()
        with pytest.raises(Unsure, match="squeue gave no answer in 1 s"):
            reader.look()
        assert reader.pace.interval_s == 2.0
        slurm.start_controller()
        assert "booted" in reader.look([int(job)]).doubts[0]  # it may have forgotten the job
        wait_until(lambda: reader.look([int(job)]).complete, True)


def test_a_node_is_drained_and_another_dies() -> None:
    with slurm_cluster(3) as slurm:
        slurm.call("scontrol", "update", "NodeName=gpu1", "State=DRAIN", "Reason=fan | broken\nState=IDLE")
        slurm.call("scontrol", "update", "NodeName=gpu2", "State=DOWN", "Reason=gone")
        one, two, three = Reader(Commands(environment=slurm.environment)).look().nodes
        assert (one.state, one.reason) == (NodeState.DRAIN, "fan | broken\nState=IDLE")
        assert (two.state, two.reason, three.state) == (NodeState.DOWN, "gone", NodeState.UP)
