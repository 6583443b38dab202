import json
import shutil
from pathlib import Path

import pytest

from tests.cli.command import pointsman
from tests.cli.conftest import Command

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(command: Command, jobs: str, policy: str, *more: str) -> None:
    where = () if "--cluster" in more else ("--cluster", "2x4")
    done = command("simulate", jobs, *where, "--policy", policy, "-o", "run", *more)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("job", "at", "said"),
    [
        ("j0", "0", "RUNNING: it holds 6 GPUs on n0000, n0001 since 0 s (the first submit)"),
        ("j1", "50", "PENDING (Resources): needs 8 GPUs; 2 of those it may use are free"),
        ("j2", "50", "PENDING (Priority): it would fit, but job j1 is ahead of it"),
        ("j4", "155", "RUNNING: it holds 4 GPUs"),
        ("j4", "39", "FUTURE: it is submitted only at 40 s (40 s after the first submit)"),
        ("j0", "+2m", "COMPLETED: it ended at 100 s (1.67 min after the first submit)"),
    ],
)
def test_what_a_job_is_doing(job: str, at: str, said: str, command: Command, jobs: str) -> None:
    run(command, jobs, "fifo")
    done = command("explain", job, "--run", "run", "--at", at)
    assert done.code == 0, done.err
    assert said in done.out


def test_a_job_that_waits_for_a_decision(command: Command, jobs: str) -> None:
    """The first job is decided about until 10 s, the others after it."""
    run(command, jobs, "packed", "--decision-time", "10")
    done = command("explain", "j0", "--run", "run", "--at", "5")
    assert "waits for its scheduler, which decides about one job after another, 10 s each" in done.out


def test_a_job_that_claims_its_place(command: Command, here: Path) -> None:
    """It waits for one of two GPUs that job 0 is giving up."""
    Path("jobs.csv").write_text("submit_s,gpus,duration_s\n0,2,900\n200,1,60\n")
    run(command, "jobs.csv", "srtf", "--cluster", "1x2", "--set", "overheads.stop_s=10")
    done = command("explain", "1", "--run", "run", "--at", "205")
    said = "PENDING (Reserved): it claims 1 GPU on n0000; jobs that are stopping still hold 1 of that"
    assert said in done.out, done.out + done.err


def test_times_are_on_the_clock_of_the_log(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,job_id\n1506000000,8,7200,a\n1506000060,8,60,b\n")
    run(command, "jobs.csv", "fifo")
    asked = [command("explain", "a", "--run", "run", "--at", at) for at in ("1506007200", "+2h", "2017-09-21T15:20:00")]
    assert [done.out for done in asked] == [
        "job a at 1506007200 s (2 h after the first submit) under fifo: "
        "COMPLETED: it ended at 1506007200 s (2 h after the first submit)\n"
    ] * 3
    (answer,) = json.loads(command("explain", "b", "--run", "run", "--format", "json").out)
    assert (answer["time_s"], answer["since_first_submit_s"]) == (1506000060, 60)
    early = command("explain", "a", "--run", "run", "--at", "7200")
    assert (early.code, early.out) == (2, "")
    assert "--at 7200 is before the first submit, which is at 1506000000.000 s on the log's clock" in early.err
    early = command("explain", "a", "--run", "run", "--at", "2017-09-20 08:00")
    assert (early.code, early.out) == (2, "")
    assert "--at 2017-09-20 08:00 is before the first submit" in early.err
    assert "+2017" not in early.err


def test_a_date_is_no_time_of_a_log_without_dates(command: Command, jobs: str) -> None:
    run(command, jobs, "fifo")
    done = command("explain", "j0", "--run", "run", "--at", "2017-09-20 08:00")
    assert (done.code, done.out) == (2, "")
    assert "2017-09-20 08:00 is a date, and the log's times are none: they begin at 0.000 s" in done.err


def test_a_comparison_is_no_run_and_its_runs_are_named(command: Command, jobs: str) -> None:
    given = ("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "easy", "-o", "both")
    assert command(*given).code == 0
    done = command("explain", "j1", "--run", "both")
    assert (done.code, done.out) == (2, "")
    assert "this is a comparison; name one of its runs with --run (both/runs/fifo_s0, both/runs/easy_s0)" in done.err
    assert command("explain", "j1", "--run", "both/runs/easy_s0", "--at", "1e300").code == 0
    assert command("report", "both", "-o", "page").code == 0
    assert "comparison without its runs" in command("explain", "j1", "--run", "page").err


def test_the_default_instant_is_the_submission(command: Command, jobs: str) -> None:
    run(command, jobs, "fifo")
    (answer,) = json.loads(command("explain", "j1", "--run", "run", "--format", "json").out)
    assert (answer["time_s"], answer["state"], answer["reason"]) == (10.0, "PENDING", "Resources")


def test_scattered_gpus_are_fragmentation(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,job_id\n0,3,9,a\n0,3,9,b\n1,2,1,c\n2,8,1,d\n")
    run(command, "jobs.csv", "fifo-backfill")
    assert (
        "(Fragmentation): needs 2 GPUs on one node; best node has 1 free" in command("explain", "c", "--run", "run").out
    )
    Path("wide.csv").write_text("submit_s,gpus,duration_s,job_id\n0,1,9,a\n1,6,1,b\n")
    run(command, "wide.csv", "fifo", "--cluster", "3x4", "--placement", "spread", "--force")
    assert "RUNNING" in command("explain", "b", "--run", "run").out


def test_a_full_queue_is_named(command: Command, jobs: str) -> None:
    Path("cluster.yaml").write_text(
        """\
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: small}
spec:
  node_types: {node: {gpus: 4, gpu_type: V100}}
  nodes: [{type: node, count: 2}]
  queues: {test: {gpu_limit: 1}}
"""
    )
    Path("two.csv").write_text("submit_s,gpus,duration_s,job_id,queue\n0,1,9,a,test\n1,1,9,b,test\n")
    run(command, "two.csv", "fifo", "--cluster", "cluster.yaml")
    said = command("explain", "b", "--run", "run").out
    assert "PENDING (QuotaExceeded): needs 1 GPU; queue 'test' holds 1 of the 1 it may hold" in said


def test_only_jobs_that_could_use_the_same_nodes_are_ahead(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text(
        "submit_s,gpus,duration_s,job_id,gpu_type\n"
        "0,3,100,a0,v100\n0,3,100,b0,a100\n1,4,9,a-head,v100\n2,4,9,b-head,a100\n3,1,500,late,a100\n"
    )
    on = ("--cluster", "1x4/gpu=v100+1x4/gpu=a100")
    for policy, said in (
        ("fifo", "(Priority): it would fit, but job b-head is ahead of it"),
        ("easy", "(Reserved): it would fit, but only on GPUs reserved for job b-head"),
    ):
        run(command, "jobs.csv", policy, *on, "--force")
        assert said in command("explain", "late", "--run", "run", "--at", "50").out


def test_reserved_gpus_are_named(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,job_id\n0,6,100,a\n1,8,10,head\n2,2,500,late\n3,2,20,early\n")
    run(command, "jobs.csv", "easy")
    assert (
        "(Reserved): it would fit, but only on GPUs reserved for job head"
        in command("explain", "late", "--run", "run").out
    )
    assert "RUNNING" in command("explain", "early", "--run", "run").out


def test_runs_of_a_comparison_can_be_asked(command: Command, jobs: str) -> None:
    done = command("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "srtf", "-o", "both")
    assert done.code == 0, done.err
    assert "PENDING" in command("explain", "j2", "--run", "both/runs/fifo_s0").out
    assert "RUNNING" in command("explain", "j2", "--run", "both/runs/srtf_s0").out


def test_a_run_copied_out_of_its_comparison_says_so(command: Command, jobs: str) -> None:
    given = ("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "easy", "-o", "both")
    assert command(*given).code == 0
    shutil.copytree("both/runs/fifo_s0", "alone")
    done = command("explain", "j1", "--run", "alone")
    assert (done.code, done.out) == (2, "")
    assert "alone: this run was copied out of its comparison" in done.err


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["j44", "--run", "run"], 2, "the run has no job 'j44' (did you mean 'j4'?)"),
        (["j1", "--run", "run", "--at", "noon"], 2, "--at: 'noon' is no duration"),
        (["j1", "--run", "nowhere"], 3, "no run found"),
        (["j1", "--at", "+3h"], 2, "--at requires --run DIR"),
    ],
)
def test_mistakes(args: list[str], code: int, sentence: str, command: Command, jobs: str) -> None:
    run(command, jobs, "fifo")
    done = command("-q", "explain", *args)
    assert (done.code, sentence in done.err, done.out) == (code, True, "")


def test_a_changed_log_is_noticed(command: Command, jobs: str) -> None:
    run(command, jobs, "fifo")
    Path(jobs).write_text(Path(jobs).read_text().replace(",50", ",51"))
    done = command("explain", "j1", "--run", "run", "-q")
    assert (done.code, "the log has changed since the run" in done.err) == (3, True)


def test_a_changed_policy_is_noticed(command: Command, jobs: str) -> None:
    Path("mine.py").write_text((EXAMPLES / "my_policy.py").read_text())
    run(command, jobs, "mine.py:MyPolicy")
    assert command("explain", "j1", "--run", "run", "-q").code == 0
    Path("mine.py").write_text(Path("mine.py").read_text() + "\n")
    done = command("explain", "j1", "--run", "run", "-q")
    assert (done.code, "mine.py: this file has changed since the run" in done.err) == (3, True)


@pytest.mark.slow
def test_a_log_from_standard_input_is_not_kept(here: Path, jobs: str) -> None:
    given = ("simulate", "-", "--cluster", "2x4", "--policy", "fifo", "-o", "run")
    assert pointsman(*given, stdin=Path(jobs).read_text(), cwd=here).returncode == 0
    done = pointsman("explain", "j1", "--run", "run", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert "run: its job log came from standard input and was not kept; simulate from a file instead" in done.stderr


HOLDING = "submit_s,gpus,duration_s,job_id,model\n0,2,20,a,\n0,2,30,b,\n1,2,10,c,vgg16\n2,4,10,wide,vgg16\n"
TIMERS = ("--set", "dally-manual.node_timer_s=8", "--set", "dally-manual.rack_timer_s=11.5")


@pytest.mark.parametrize(
    ("policy", "job", "at", "said"),
    [
        # n0  AA.  rack 0    c asks for 2, of which one is free on each node, in two racks, until a ends at 20;
        # n1  BB.  rack 1    it came at 1 and takes a rack from 9, anything from 12.5
        ("dally-manual", "c", "5", "(HeldByDelay): needs 2 GPUs on one node; best node has 1 free; holds out for one "
         "node until 9 s (9 s after the first submit), 4 s more"),
        ("dally-manual", "c", "9", "(HeldByDelay): needs 2 GPUs in one rack; best rack has 1 free; holds out for one "
         "rack until 12.5 s (12.5 s after the first submit), 3.5 s more"),
        ("dally-manual", "c", "12.5", "RUNNING: it holds 2 GPUs on n0000, n0001 since 12.5 s"),
        ("dally-consolidated", "c", "12.5", "(HeldByDelay): needs 2 GPUs on one node; best node has 1 free; holds out "
         "for one node, however long it takes"),
        ("dally-nowait", "c", "1", "RUNNING: it holds 2 GPUs on n0000, n0001 since 1 s"),
        ("dally-manual", "wide", "5", "(Resources): needs 4 GPUs; 2 of those it may use are free\n"),
    ],
)  # fmt: skip
def test_a_job_says_which_level_it_holds_out_for(
    policy: str, job: str, at: str, said: str, command: Command, here: Path
) -> None:
    Path("jobs.csv").write_text(HOLDING)
    run(command, "jobs.csv", policy, "--cluster", "2x3/rack=1,gpu=v100", *(TIMERS if policy == "dally-manual" else ()))
    assert said in command("explain", job, "--run", "run", "--at", at).out


def test_a_job_that_lacks_gpus_says_what_it_holds_out_for_too(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,job_id,model\n0,3,20,a,\n0,2,20,b,\n1,2,10,c,vgg16\n")
    run(command, "jobs.csv", "dally-manual", "--cluster", "2x3/rack=2,gpu=v100", *TIMERS)
    assert (
        "(Resources): needs 2 GPUs; 1 of those it may use are free; holds out for one node until 9 s"
        in command("explain", "c", "--run", "run", "--at", "5").out
    )


def test_a_job_killed_at_its_limit_timed_out(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,job_id,time_limit_s\n0,1,500,a,100\n0,1,50,b,100\n")
    run(command, "jobs.csv", "fifo", "--enforce-limits")
    said = command("explain", "a", "--run", "run", "--at", "600").out
    assert "TIMEOUT: it was killed at its time limit of 1.67 min, at 100 s" in said
    assert "COMPLETED: it ended at 50 s" in command("explain", "b", "--run", "run", "--at", "600").out


SHARED = """\
submit_s,gpus,duration_s,job_id,model
0,4,1000,a,vgg16
1,8,1000,b,resnet50
2,4,1000,c,resnet50
3,8,1000,d,
4,1,1000,e,vgg16
"""


@pytest.mark.parametrize(
    ("job", "sharing", "said"),
    [
        ("a", 8, "RUNNING: it holds 4 GPUs on n0000, shared with 2 other jobs, since 0 s (the first"),
        ("a", 1, "RUNNING: it holds 4 GPUs on n0000 since 0 s"),
        ("b", 8, "RUNNING: it holds 8 GPUs on n0000, n0001, shared with 3 other jobs, since 1 s"),
        ("d", 8, "(Resources): needs 8 GPUs; 0 of those it may use have room for it (32 GiB of memory, and fewer than "
         "8 jobs)"),
        ("e", 2, "(Resources): needs 1 GPU; 0 of those it may use have room for it (6.33 GiB of memory, and fewer than "
         "2 jobs)"),
        ("b", 1, "(Resources): needs 8 GPUs; 0 of those it may use are free"),
    ],
)  # fmt: skip
def test_where_gpus_are_shared_room_is_told_not_free_gpus(
    job: str, sharing: int, said: str, command: Command, here: Path
) -> None:
    Path("jobs.csv").write_text(SHARED)
    given = ("--cluster", "2x4/gpu=v100", "--rate-model", f"iterations:sharing={sharing}")
    run(command, "jobs.csv", "lwf", *given)
    assert said in command("explain", job, "--run", "run", "--at", "5").out


HELD = """
from pointsman.types import Reason

class Held:
    name = "held"
    needs = "none"

    def decide(self, view):
        if len(view.pending) and not len(view.running):
            view.start(int(view.pending[0]))

    def why_waiting(self, view, job, name):
        return ANSWER
"""


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ("(Reason.Dependency, f'{name(job)} goes after {view.now_s:g} s')", 0, "(Dependency): j2 goes after 20 s"),
        ("None", 0, "(Priority): it would fit, but job j1 is ahead of it"),
        ("1 / 0", 1, "policy 'held': why_waiting failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_policy_of_ones_own_speaks_for_its_jobs(
    answer: str, code: int, said: str, command: Command, jobs: str
) -> None:
    Path("held.py").write_text(HELD.replace("ANSWER", answer))
    run(command, jobs, "held.py:Held")
    done = command("explain", "j2", "--run", "run")
    assert done.code == code
    assert said in done.out + done.err


SHAPED = """job_id,submit_s,gpus,duration_s,nodes_requested,gpus_per_node
a,0,3,100,,
b,0,3,100,,
c,1,6,50,3,2
d,2,4,50,,4
e,3,4,50,4,
"""
TO_SHARE = "that have room for it (32 GiB of memory, and fewer than 8 jobs)"


@pytest.mark.parametrize(
    ("policy", "job", "said"),
    [
        ("fifo-backfill", "c", "PENDING (Fragmentation): needs 3 nodes with 2 free GPUs each; 1 has them"),
        ("fifo-backfill", "d", "RUNNING: it holds 4 GPUs"),
        ("fifo-backfill", "e", "PENDING (Fragmentation): needs 4 nodes with 1 free GPU each; 3 have them"),
        ("dally", "e", "PENDING (Fragmentation): needs 4 nodes with 1 free GPU each; 3 have them"),
        ("sjf-bsbf", "e", "PENDING (Fragmentation): needs 4 nodes with 1 free GPU each; 3 have them"),
        ("lwf", "c", f"PENDING (Resources): needs 3 nodes with 2 GPUs each {TO_SHARE}; 1 has them"),
    ],
)
def test_what_a_shape_waits_for(policy: str, job: str, said: str, command: Command) -> None:
    Path("shaped.csv").write_text(SHAPED)
    run(command, "shaped.csv", policy, "--cluster", "4x4", "--overheads", "none")
    done = command("explain", job, "--run", "run", "--at", "10")
    assert done.code == 0, done.err
    assert said in done.out


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("tiresias-skew", "(HeldByDelay): needs 2 nodes with 2 free GPUs each in one rack; best rack has 1; holds out"),
        ("fifo-backfill", "RUNNING: it holds 4 GPUs on n0001, n0003"),
    ],
)
def test_a_shape_that_holds_out_for_a_rack(policy: str, said: str, command: Command) -> None:
    """Of each rack one node is taken; the job is much slower across racks."""
    rows = ["job_id,submit_s,gpus,duration_s,nodes_requested,model", "a,0,4,100,,", "b,0,2,100,,", "c,0,4,100,,",
            "d,1,4,50,2,vgg16"]  # fmt: skip
    Path("shaped.csv").write_text("\n".join(rows) + "\n")
    more = ("--cluster", "4x4/rack=2", "--overheads", "none", "--congestion", "pod=50")
    run(command, "shaped.csv", policy, *more)
    done = command("explain", "d", "--run", "run", "--at", "10")
    assert done.code == 0, done.err
    assert said in done.out


def test_a_date_is_on_the_clock_of_a_log_whose_submits_count_from_its_first(command: Command, here: Path) -> None:
    lines = ["JobID|Submit|Start|End|State|AllocTRES"]
    ran = "2026-03-02T09:00:00|2026-03-02T10:00:00|COMPLETED|gres/gpu=8"
    lines += [f"{k}|2026-03-02T08:{k:02}:00|{ran}" for k in (1, 2)]
    Path("sacct.txt").write_text("\n".join(lines) + "\n")
    run(command, "sacct.txt", "fifo")
    asked = [command("explain", "2", "--run", "run", "--at", at).out for at in ("2026-03-02T08:31:00", "+30m")]
    assert "PENDING" in asked[0]
    assert asked[0] == asked[1]
