"""What commands of Slurm print is read back, in the forms of its versions; half an answer is no answer."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.answers import cells, gpus
from pointsman.live.backends.slurm.answers.accounting import read_runs
from pointsman.live.backends.slurm.answers.json_answers import (
    read_jobs_json,
    read_nodes_json,
    read_partitions_json,
    read_runs_json,
)
from pointsman.live.backends.slurm.answers.queue import read_queue
from pointsman.live.backends.slurm.answers.scontrol import read_controller, read_job, read_nodes, read_partitions
from pointsman.live.backends.slurm.answers.sinfo import read_sinfo
from pointsman.live.backends.slurm.answers.table import Table, new_mark
from pointsman.live.backends.slurm.records import Ending, GpuDemand, NodeGpus, SlurmJob
from pointsman.live.backends.slurm.states import node_state, node_words, phase_of
from pointsman.types import NodeState
from tests.live import slurm_printed as printed

MARK = "|4f1c|"
ANY = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
WORD = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
NODES = st.lists(st.integers(1, 40), unique=True, max_size=4).map(lambda found: tuple(f"gpu{i}" for i in sorted(found)))
TIME = st.integers(1_500_000_000, 2_000_000_000)
WAITING, RUNNING, ENDED = ("PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT"), ("RUNNING", "COMPLETING", "SUSPENDED"), (
    "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY",
)  # fmt: skip


@st.composite
def jobs(draw: st.DrawFn, names: st.SearchStrategy[str] = ANY) -> SlurmJob:
    """A job that is no part of an array, with GPUs of one type."""
    state = draw(st.sampled_from((*WAITING, *RUNNING, *ENDED)))
    per_node = draw(st.integers(0, 8))
    on = () if state in WAITING else draw(NODES.filter(bool))
    count = len(on) or draw(st.integers(1, 4))
    kind = draw(st.sampled_from(("a100", "h100"))) if per_node else ""
    number = draw(st.integers(1, 2**31))
    return SlurmJob(
        str(number), number, draw(names), draw(WORD), draw(st.integers(0, 2**31)), draw(WORD), (draw(WORD),),
        draw(WORD), state, (), draw(st.sampled_from(("", "Priority", "BeginTime"))), draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(-(2**31), 2**31)),
        draw(TIME), draw(st.none() | TIME), draw(TIME) if on else None, draw(TIME) if state in ENDED else None,
        draw(st.none() | st.integers(1, 100_000).map(lambda minutes: 60.0 * minutes)), count,
        GpuDemand(per_node * count, per_node, kind),
        tuple(NodeGpus(node, per_node, tuple(range(per_node))) for node in on), draw(st.integers(0, 9)),
        draw(st.booleans()), draw(st.sampled_from(("", "afterok:7(unfulfilled)"))), draw(NODES), draw(NODES), "", "",
        Ending(draw(st.integers(0, 255)), draw(st.integers(0, 64))),
    )  # fmt: skip


def as_squeue_knows(job: SlurmJob) -> SlurmJob:
    held = tuple(NodeGpus(part.node, part.count) for part in job.held)
    return replace(job, held=held, excluded_nodes=None)


@given(st.lists(st.tuples(ANY, ANY, ANY), max_size=5))
def test_cells_hold_anything(rows: list[tuple[str, str, str]]) -> None:
    mark = new_mark()
    text = printed.table([("A", "B", "C"), *rows], mark)
    assert Table("squeue", {"a": "A", "b": "B", "c": "C"}).rows(text, mark) == [
        dict(zip("abc", row, strict=True)) for row in rows
    ]


def test_rows_that_do_not_begin_in_a_new_line_are_none() -> None:
    text = printed.table([["A", "B"], ["1", "2"]], MARK)
    with pytest.raises(Unsure, match="new line"):
        Table("squeue", {"a": "A", "b": "B"}).rows(text.replace("\n1", "1"), MARK)
    with pytest.raises(Unsure, match="half an answer"):
        Table("squeue", {"a": "A", "b": "B"}).rows(f"{text}3", MARK)


@pytest.mark.parametrize("title", ["", "JOBID               "])
def test_a_column_that_a_version_lacks_or_cuts_is_noticed(title: str) -> None:
    with pytest.raises(Unsure, match="column JobID"):
        Table("squeue", {"id": "JobID"}).rows(printed.table([[title], ["1"]], MARK), MARK)


@given(st.lists(jobs(), max_size=4))
def test_what_squeue_prints_is_read_back(listed: list[SlurmJob]) -> None:
    assert read_queue(printed.squeue(listed, MARK), MARK) == [as_squeue_knows(job) for job in listed]


@given(jobs(), ANY)
def test_what_a_comment_holds_is_read_back(job: SlurmJob, comment: str) -> None:
    [read] = read_queue(printed.squeue([replace(job, admin_comment=comment)], MARK), MARK)
    assert read.admin_comment == cells.optional(comment)


@given(st.lists(jobs(), min_size=1, max_size=3), st.data())
def test_half_an_answer_is_none(listed: list[SlurmJob], data: st.DataObject) -> None:
    text = printed.squeue(listed, MARK)
    cut = text[: data.draw(st.integers(0, len(text) - 2))]
    whole = [printed.squeue(listed[:known], MARK) for known in range(len(listed))]
    if cut.rstrip("\n") in [one.rstrip("\n") for one in whole]:
        return  # between two rows: the command's exit status tells
    with pytest.raises(Unsure):
        read_queue(cut, MARK)


@pytest.mark.parametrize("form", [printed.json_22_05, printed.json_23_02, printed.json_24_05])
@given(listed=st.lists(jobs(), max_size=3))
def test_json_of_each_version_is_read_back(form: Callable[[Sequence[SlurmJob]], str], listed: list[SlurmJob]) -> None:
    assert read_jobs_json(form(listed)) == listed


@given(jobs())
def test_what_scontrol_shows_is_read_back(job: SlurmJob) -> None:
    assert read_job(printed.shown(job), job.name) == job


@given(jobs(WORD), st.sampled_from(("\n   UserId=evil(0) X=1\n   JobState=FAILED", "\n\nJobId=7 JobName=x")))
def test_a_name_is_no_field(job: SlurmJob, behind: str) -> None:
    evil = replace(job, name=job.name + behind)
    assert read_job(printed.shown(evil), evil.name) == evil


def test_a_job_of_another_name_is_another_job() -> None:
    with pytest.raises(Unsure):
        read_job(SHOWN_20_11, "ts")


@pytest.mark.parametrize("words", ["", "JobId=7 JobName=x\n   UserId=u(1) GroupId=u(1)\n", "slurm_load_jobs error: x"])
def test_half_a_job_is_none(words: str) -> None:
    with pytest.raises(Unsure):
        read_job(words)


# -- forms of single versions, by hand after recorded output ------------------------------------------------


SHOWN_20_11 = """\
JobId=2423559 ArrayJobId=2423430 ArrayTaskId=72 ArrayTaskThrottle=20 JobName=tsn
   UserId=user4(400) GroupId=group4(404) MCS_label=N/A
   Priority=1409292 Nice=0 Account=account4 QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   DerivedExitCode=0:0
   RunTime=00:02:29 TimeLimit=2-00:00:00 TimeMin=N/A
   SubmitTime=2019-12-02T14:47:13 EligibleTime=2019-12-02T15:28:10
   AccrueTime=Unknown
   StartTime=2019-12-02T15:28:10 EndTime=2019-12-04T15:28:10 Deadline=N/A
   PreemptEligibleTime=2019-12-02T15:28:10 PreemptTime=None
   Partition=short AllocNode:Sid=login:21453
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=cortex-[08-09]
   NumNodes=2 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=2,mem=8G,node=2,billing=1,gres/gpu=3
   JOB_GRES=gpu:3
     Nodes=cortex-08 CPU_IDs=20 Mem=8192 GRES=gpu:2(IDX:0,5)
     Nodes=cortex-09 CPU_IDs=20 Mem=8192 GRES=gpu(IDX:3)
   MinCPUsNode=1 MinMemoryNode=8G MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   Command=tsn
   WorkDir=/tsn/logs
   Power=
   TresPerNode=gpu:1

"""
"""20.11; the second node's form is that of 19.05."""


def test_a_job_of_20_11() -> None:
    job = read_job(SHOWN_20_11)
    assert (job.id, job.number, job.user, job.uid) == ("2423430_72", 2423559, "user4", 400)
    assert job.held == (NodeGpus("cortex-08", 2, (0, 5)), NodeGpus("cortex-09", 1, (3,)))
    assert job.gpus.total == 3 and job.time_limit_s == 172_800.0
    local = time.mktime(time.strptime("2019-12-02T15:28:10", "%Y-%m-%dT%H:%M:%S"))
    assert job.start_unix_s == int(local) and job.end_unix_s is None


def test_a_job_of_24_11_says_what_it_asked_and_got() -> None:
    text = SHOWN_20_11.replace("TRES=cpu=2", "ReqTRES=cpu=2,node=2\n   AllocTRES=cpu=2").replace(
        "TresPerNode=gpu:1", "TresPerNode=gres/gpu:h100:1"
    )
    assert read_job(text).gpus == GpuDemand(3, 1, "h100")


def test_resources_beside_gpus_are_no_gpus() -> None:
    """23.02: a site with a resource of its own."""
    assert gpus.node_gpus("n", "gpu:rtx2080:1(IDX:1),gg:g0(CNT:1)") == NodeGpus("n", 1, (1,))
    assert gpus.node_gpus("n", "gpu(IDX:0,5)") == NodeGpus("n", 2, (0, 5))
    assert gpus.node_gpus("n", "") == NodeGpus("n", 0, ())
    assert gpus.demand(gpus.Asked(per_node="gpu:rtx2080,gg:g0")) == GpuDemand(1, 1, "rtx2080")
    assert gpus.node_gpus("n", "gpu:a100:2") == NodeGpus("n", 2, None)  # without files there are no indexes


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (gpus.Asked(per_node="gres:gpu:a100:4", nodes=2), GpuDemand(8, 4, "a100")),
        (gpus.Asked(per_node="gres/gpu:4", nodes=2), GpuDemand(8, 4, "")),
        (gpus.Asked(per_job="gres:gpu:6", nodes=2), GpuDemand(6, None, "")),
        (gpus.Asked(per_job="gres/gpu=6"), GpuDemand(6, 6, "")),
        (gpus.Asked(per_task="gres:gpu:1", nodes=2, tasks=8), GpuDemand(8, None, "")),
        (gpus.Asked(per_socket="gres:gpu:1", nodes=2), GpuDemand(None, None, "")),
        (gpus.Asked(tres="cpu=4,gres/gpu=3,gres/gpu:a100=3,node=2", nodes=2), GpuDemand(3, None, "a100")),
        (gpus.Asked(tres="cpu=4,mem=62.50G,node=1,billing=1", per_node="N/A"), GpuDemand()),
    ],
)
def test_what_a_job_asks_for(asked: gpus.Asked, found: GpuDemand) -> None:
    assert gpus.demand(asked) == found


def test_arrays_and_gangs_in_json() -> None:
    """22.05, then 24.05."""
    plain = {
        "job_id": 9,
        "job_state": "PENDING",
        "array_job_id": 8,
        "array_task_id": None,
        "array_task_string": "4-9%2",
    }
    newer = {
        "job_id": 290094, "job_state": ["RUNNING", "CONFIGURING"], "array_job_id": printed.number(289497),
        "array_task_id": printed.number(7), "nodes": "gpu14", "gres_detail": ["gpu:l40s:4(IDX:0-3)"],
        "job_resources": {"allocated_nodes": None},
    }  # fmt: skip
    gang = {
        "job_id": 13, "job_state": ["RUNNING"], "array_job_id": printed.number(0), "het_job_id": printed.number(12),
        "het_job_offset": printed.number(1), "array_task_id": printed.number(0, known=False),
    }  # fmt: skip
    found = read_jobs_json(json.dumps({"jobs": [plain, newer, gang], "errors": []}))
    assert [job.id for job in found] == ["8_[4-9%2]", "289497_7", "12+1"]
    assert found[1].held == (NodeGpus("gpu14", 4, (0, 1, 2, 3)),)
    assert found[1].phase == Phase.ACCEPTED and found[1].flags == ("CONFIGURING",)


def test_details_that_are_not_of_each_node_are_left_aside() -> None:
    job = {
        "job_id": 1, "job_state": ["RUNNING"], "nodes": "gpu[1-2]", "node_count": printed.number(2),
        "tres_per_node": "gres/gpu:2", "gres_detail": ["gpu:2(IDX:0-1)"],
    }  # fmt: skip
    [read] = read_jobs_json(json.dumps({"jobs": [job], "errors": []}))
    assert read.held == (NodeGpus("gpu1", 2), NodeGpus("gpu2", 2))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"errors": []}', '{"jobs": {}}', '{"jobs": [1]}', '{"jobs": [{}], "errors": []}',
        '{"jobs": [], "errors": [{"error": "Unable to contact slurm controller", "errno": 1}]}',
        '{"jobs": [{"job_id": 1, "job_state": []}]}',
    ],
)  # fmt: skip
def test_json_that_is_no_answer(text: str) -> None:
    with pytest.raises(Unsure):
        read_jobs_json(text)


def test_a_name_in_json_may_be_no_text() -> None:
    [job] = read_jobs_json('{"jobs": [{"job_id": 1, "job_state": "PENDING", "name": "a\nb\\ud800"}]}')
    assert job.name == "a\nb?"


@pytest.mark.parametrize(
    ("words", "phase"),
    [
        (["PENDING"], Phase.ACCEPTED), (["CONFIGURING"], Phase.ACCEPTED), (["REQUEUED"], Phase.ACCEPTED),
        (["RUNNING"], Phase.RUNNING), (["COMPLETING"], Phase.RUNNING), (["COMPLETED", "COMPLETING"], Phase.RUNNING),
        (["PENDING", "COMPLETING"], Phase.RUNNING), (["SUSPENDED"], Phase.RUNNING), (["STAGE_OUT"], Phase.ENDED),
        (["CANCELLED"], Phase.ENDED), (["PENDING", "REQUEUE_HOLD"], Phase.ACCEPTED), (["NEW_WORD"], Phase.RUNNING),
        (["RUNNING", "SIGNALING"], Phase.RUNNING), (["OUT_OF_MEMORY"], Phase.ENDED),
    ],
)  # fmt: skip
def test_how_far_a_job_is(words: list[str], phase: Phase) -> None:
    assert phase_of(words) == phase


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("idle", NodeState.UP), ("MIXED", NodeState.UP), ("allocated", NodeState.UP), ("mixed+planned", NodeState.UP),
        ("completing", NodeState.UP), ("IDLE+DRAIN", NodeState.DRAIN), ("idle*", NodeState.DRAIN),
        ("mixed*+drain", NodeState.DRAIN), ("down*", NodeState.DOWN), ("DOWN+DRAIN", NodeState.DOWN),
        ("idle~", NodeState.DOWN), ("IDLE+CLOUD+POWERED_DOWN", NodeState.DOWN), ("idle#", NodeState.DRAIN),
        ("IDLE+MAINT+RESERVED", NodeState.DRAIN), ("mixed-", NodeState.UP), ("inval", NodeState.DRAIN),
        ("unknown*", NodeState.DRAIN), ("IDLE+POWERING_DOWN", NodeState.DRAIN), ("", NodeState.DRAIN),
        ("future", NodeState.DOWN),
    ],
)  # fmt: skip
def test_whether_a_node_takes_work(text: str, state: NodeState) -> None:
    assert node_state(node_words(text)) == state


def test_nodes_of_scontrol() -> None:
    """22.05; the reason and what stands behind it are an administrator's."""
    text = (
        "NodeName=gpu1 Arch=x86_64 Gres=gpu:a100:8(S:0-1) GresDrain=N/A GresUsed=gpu:a100:5(IDX:0-4) State=MIXED+DRAIN "
        "Partitions=gpu,inbox  BootTime=1 Reason=bad | thing State=x [root@1795897404]\n"
        "NodeName=gpu2 Gres=(null) GresUsed= State=IDLE Partitions=gpu \n"
    )
    one, two = read_nodes(text)
    assert (one.gpus, one.gpus_in_use, one.used_indexes) == ((("a100", 8),), 5, (0, 1, 2, 3, 4))
    assert (one.state, one.reason, one.partitions) == (NodeState.DRAIN, "bad | thing State=x", ("gpu", "inbox"))
    assert (two.state, two.gpus, two.gpus_in_use) == (NodeState.UP, (), 0)
    for half in ("", text.rstrip("\n"), "slurm_load_node error: Unable to contact slurm controller\n"):
        with pytest.raises(Unsure):
            read_nodes(half)


def test_nodes_in_json() -> None:
    """22.05, then 24.11."""
    old = {
        "name": "a", "state": "idle", "state_flags": ["DRAIN"], "gres": "gpu:a100:8",
        "gres_used": "gpu:a100:0(IDX:N/A)", "partitions": ["gpu"], "reason": "fan",
    }  # fmt: skip
    new = {
        "name": "b", "state": ["MIXED"], "gres": "gpu:h100:4(S:0-1),gpu:t4:1",
        "gres_used": "gpu:h100:1(IDX:3),gpu:t4:0(IDX:N/A)", "partitions": ["x"], "reason": "",
    }  # fmt: skip
    one, two = read_nodes_json(json.dumps({"nodes": [old, new], "errors": []}))
    assert (one.state, one.gpus, one.used_indexes, one.reason) == (NodeState.DRAIN, (("a100", 8),), (), "fan")
    assert (two.state, two.gpus, two.gpus_in_use) == (NodeState.UP, (("h100", 4), ("t4", 1)), 1)
    assert two.used_indexes == (3,)


def test_partitions_of_each_form() -> None:
    """`scontrol` of 22.05, slurmrestd of 22.05, `scontrol --json` of 24.11."""
    text = (
        "PartitionName=gpu AllowGroups=ALL Default=YES Nodes=gpu[1-4] PriorityTier=2 PreemptMode=OFF State=UP "
        "MaxTime=1-00:00:00\n"
    )
    flat = {
        "name": "gpu",
        "state": "UP",
        "nodes": "gpu[1-4]",
        "max_time_limit": 1440,
        "priority_tier": 2,
        "flags": ["default"],
    }
    nested = {
        "name": "gpu", "nodes": {"configured": "gpu[1-4]", "total": 4}, "partition": {"state": ["UP"]},
        "maximums": {"time": printed.number(1440)}, "priority": {"tier": 2},
    }  # fmt: skip
    [shown] = read_partitions(text)
    plain, newer = read_partitions_json(json.dumps({"partitions": [flat, nested]}))
    assert replace(shown, preempt_mode="") == plain == replace(newer, default=True)
    assert shown.max_time_s == 86_400.0 and shown.nodes == ("gpu1", "gpu2", "gpu3", "gpu4")


CONFIG = """\
Configuration data as of {now}
AccountingStorageTRES   = cpu,mem,energy,node,billing
BOOT_TIME               = {boot}
ClusterName             = emu
MinJobAge               = 300 sec
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
PriorityWeightTRES      = cpu=15000,gres/gpu=15000
PrivateData             = jobs,usage
SchedulerType           = sched/backfill
SlurmUser               = slurm(64030)
SLURM_VERSION           = {version}

Slurmctld(primary) at vm is UP
"""


@pytest.mark.parametrize("version", ["20.11.6", "22.05.8", "23.02.7", "24.05.4", "25.11.4"])
def test_the_controller(version: str) -> None:
    found = read_controller(CONFIG.format(now=1_795_897_407, boot=1_795_897_378, version=version))
    assert (found.version, found.weights) == (version, (("PriorityWeightAge", 1000),))
    assert found.asked_unix_s - found.boot_unix_s == 29
    assert (found.slurm_uid, found.private, found.min_job_age_s) == (64030, ("jobs", "usage"), 300.0)


@pytest.mark.parametrize(
    "text", ["", CONFIG.partition("SLURM_VERSION")[0], CONFIG.format(now="x", boot=1, version="22")]
)
def test_half_a_configuration_is_none(text: str) -> None:
    with pytest.raises(Unsure):
        read_controller(text)


def test_sinfo_lists_a_node_once() -> None:
    row = ["gpu1", "gpu*", "idle+drain", "gpu:a100:8", "gpu:a100:1(IDX:2)", "up", "1-00:00:00", "1", "OFF", "a|b\nc"]
    text = printed.table([["X"] * 10, row, ["gpu1", "inbox", *row[2:5], "down", "infinite", *row[7:]]], MARK)
    [node], partitions = read_sinfo(text, MARK)
    assert (node.partitions, node.reason, node.used_indexes) == (("gpu", "inbox"), "a|b\nc", (2,))
    assert [(one.name, one.default, one.state, one.max_time_s) for one in partitions] == [
        ("gpu", True, "UP", 86_400.0), ("inbox", False, "DOWN", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1:30:00", 5400.0), ("5:00", 300.0), ("1-02:03:04", 93_784.0), ("90", 5400.0), ("UNLIMITED", None),
     ("Partition_Limit", None), ("NOT_SET", None), ("infinite", None), ("N/A", None)],
)  # fmt: skip
def test_limits_of_time(text: str, seconds: float | None) -> None:
    assert cells.limit_s(text) == seconds


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("2-4", 2), ("2K", 2048), ("1.5K", 1536), ("2K-4K", 2048)])
def test_whole_numbers(text: str, number: int) -> None:
    assert cells.whole(text) == number


def test_endings_of_each_form() -> None:
    assert cells.ending("3:0") == cells.ending("768") == Ending(3, 0)
    assert cells.ending("139") == Ending(0, 11)  # with a core
    assert cells.ending("0:9") == cells.ending("9") == Ending(0, 9)


def test_how_jobs_ended() -> None:
    """`sacct` of 22.05 in text, of 23.11 in JSON: the same run."""
    text = (
        "JobID|JobIDRaw|State|ExitCode|Submit|Start|End|NodeList\n"
        "8_3|11|CANCELLED by 1000|0:15|1000000000|1000000010|1000000020|gpu[1-2]\n"
        "12|12|RUNNING|0:0|1000000000|1000000010|Unknown|gpu1\n"
    )
    job = {
        "job_id": 11, "array": {"job_id": 8, "task_id": printed.number(3)}, "het": {"job_id": 0}, "nodes": "gpu[1-2]",
        "state": {"current": ["CANCELLED"], "reason": "None"},
        "time": {"submission": 1_000_000_000, "start": 1_000_000_010, "end": 1_000_000_020},
        "exit_code": {"status": ["SIGNALED"], "return_code": printed.number(0),
                      "signal": {"id": printed.number(15), "name": "TERM"}},
    }  # fmt: skip
    cancelled, runs = read_runs(text)
    assert [cancelled] == read_runs_json(json.dumps({"jobs": [job], "errors": []}))
    assert (cancelled.state, runs.end_unix_s) == ("CANCELLED", None)
    for half in ("", text[:-1], "Slurm accounting storage is disabled\n", text.replace("|gpu1", "")):
        with pytest.raises(Unsure):
            read_runs(half)
