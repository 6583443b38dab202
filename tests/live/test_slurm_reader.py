"""When the controller is asked what, and when absence is believed; Slurm's commands are played."""

import json
import os
import time
from collections import Counter
from dataclasses import replace

import pytest

from pointsman.errors import UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.answers.accounting import FIELDS
from pointsman.live.backends.slurm.commands import Answer, Commands, kind_of
from pointsman.live.backends.slurm.reader import Habits, Reader
from pointsman.live.backends.slurm.records import GpuDemand, NodeGpus, SlurmJob
from tests.live import slurm_printed as printed

NOW = 1_800_000_000
NODE = ["gpu1", "gpu*", "idle", "gpu:a100:8", "gpu:a100:0(IDX:N/A)", "up", "infinite", "1", "OFF", "none"]
HABITS = Habits(alone=2, most_alone=3)


class Played(Commands):
    """Answers as the cluster is; `asked` counts the commands."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[SlurmJob] = []
        self.up_s = 1000
        self.private = ""
        self.complaint = ""
        self.fails: set[str] = set()
        self.json = True
        self.asked: Counter[str] = Counter()

    def run(self, *command: str) -> Answer:
        kind = kind_of(command)
        self.asked[kind] += 1
        if kind in self.fails:
            return Answer(1, "", "Unable to contact slurm controller", 0.01)
        mark = command[-1].rpartition(":")[2]
        complaint = self.complaint if kind == "squeue" else ""
        return Answer(0, self._text(kind, mark, command[-1]), complaint, 0.01)

    def _text(self, kind: str, mark: str, last: str) -> str:
        if kind == "squeue":
            return printed.squeue(self.jobs, mark)
        if kind == "sinfo":
            return printed.table([["X"] * len(NODE), NODE], mark)
        if kind == "squeue --json":
            return printed.json_22_05(self.jobs) if self.json else json.dumps({"jobs": [{"odd": 1}]})
        if kind == "scontrol show job":
            return next(printed.shown(job) for job in self.jobs if job.number == int(last))
        if kind == "sacct":
            assert last == "--jobs=7,8"
            return f"{'|'.join(FIELDS)}\n7|7|FAILED|3:0|{NOW}|{NOW}|{NOW}|gpu1\n"
        return (
            f"Configuration data as of {NOW}\nBOOT_TIME = {NOW - self.up_s}\nClusterName = c\nMinJobAge = 300 sec\n"
            f"PriorityType = priority/basic\nPrivateData = {self.private}\nSchedulerType = sched/backfill\n"
            "SlurmUser = slurm(64030)\nSLURM_VERSION = 22.05.8\n"
        )

    def since(self) -> dict[str, int]:
        """What was asked since this was asked last."""
        found, self.asked = dict(self.asked), Counter()
        return found


def job(number: int, state: str = "PENDING", *nodes: str, restarts: int = 0) -> SlurmJob:
    held = tuple(NodeGpus(node, 2, (0, 1)) for node in nodes)
    return SlurmJob(
        str(number), number, f"job {number}", "u", 1000, "a", ("gpu",), "normal", state, submit_unix_s=NOW,
        eligible_unix_s=NOW, start_unix_s=NOW if nodes else None, gpus=GpuDemand(2, 2, "a100"), held=held,
        excluded_nodes=("gpu9",), restarts=restarts,
    )  # fmt: skip


@pytest.fixture
def slurm() -> Played:
    return Played()


@pytest.fixture
def reader(slurm: Played) -> Reader:
    return Reader(slurm, habits=HABITS)


QUIET = {"squeue": 1, "sinfo": 1}


def test_a_quiet_look_asks_twice(slurm: Played, reader: Reader) -> None:
    slurm.jobs = [job(1)]
    found = reader.look()
    assert found.complete and found.jobs == (job(1),)
    assert slurm.since() == {**QUIET, "scontrol show config": 1, "scontrol show job": 1}
    assert reader.look().jobs == (job(1),)
    assert slurm.since() == QUIET


def test_details_are_asked_once_for_each_start(slurm: Played, reader: Reader) -> None:
    for known in (job(1), job(1, "RUNNING", "gpu1"), job(1, restarts=1), job(1, "RUNNING", "gpu2", restarts=1)):
        slurm.jobs = [known]
        for _ in range(3):
            assert reader.look().jobs == (known,)
        assert slurm.since()["scontrol show job"] == 1
    slurm.jobs = [job(1, "COMPLETED", "gpu2", restarts=1)]
    assert reader.look().jobs == tuple(slurm.jobs)
    assert slurm.since() == QUIET


def test_details_of_many_are_asked_at_once(slurm: Played, reader: Reader) -> None:
    slurm.jobs = [job(number, "RUNNING", "gpu1") for number in range(1, 9)]
    assert reader.look().jobs == tuple(slurm.jobs)
    assert slurm.since() == {**QUIET, "scontrol show config": 1, "squeue --json": 1}


@pytest.mark.parametrize("fails", [set(), {"squeue --json"}])
def test_without_json_details_are_asked_a_few_at_a_time(slurm: Played, reader: Reader, fails: set[str]) -> None:
    slurm.json, slurm.fails = False, fails
    slurm.jobs = [job(number, "RUNNING", "gpu1") for number in range(1, 9)]
    known = [part.indexes for job in reader.look().jobs for part in job.held]
    assert known == [(0, 1)] * 3 + [None] * 5
    assert slurm.since()["squeue --json"] == 1
    for _ in range(2):
        reader.look()
    assert reader.look().jobs == tuple(slurm.jobs)
    assert "squeue --json" not in slurm.since()


def test_a_job_that_is_missing_is_believed_gone_once_the_controller_is_up(slurm: Played, reader: Reader) -> None:
    slurm.jobs = [job(1), job(2)]
    reader.look()
    slurm.jobs, slurm.up_s = [job(1)], 3
    slurm.since()
    doubtful = reader.look()
    assert not doubtful.complete and "booted 3 s ago" in doubtful.doubts[0]
    assert slurm.since() == {**QUIET, "scontrol show config": 1}
    assert not reader.look().complete
    slurm.up_s = 12
    assert reader.look().complete
    slurm.since()
    assert reader.look().complete
    assert slurm.since() == QUIET


def test_whoever_expects_a_job_has_the_controller_asked(slurm: Played, reader: Reader) -> None:
    reader.look()
    slurm.since()
    slurm.up_s = 0
    assert reader.look().complete  # nothing is missed
    assert not reader.look([7]).complete
    assert slurm.since()["scontrol show config"] == 1


def test_jobs_that_ended_may_go(slurm: Played, reader: Reader) -> None:
    slurm.jobs = [job(1, "COMPLETED", "gpu1")]
    reader.look()
    slurm.jobs = []
    slurm.since()
    assert reader.look().complete
    assert slurm.since() == QUIET


@pytest.mark.parametrize("kind", ["squeue", "sinfo"])
def test_after_trouble_the_controller_is_asked_anew(slurm: Played, reader: Reader, kind: str) -> None:
    reader.look()
    slurm.fails, slurm.up_s = {kind}, 2
    with pytest.raises(Unsure):
        reader.look()
    slurm.fails = set()
    assert not reader.look().complete


def test_since_when_nothing_is_forgotten(slurm: Played, reader: Reader) -> None:
    """The controller is asked where an end may be; one that takes over from another may have booted long before."""
    slurm.jobs = [job(1, "COMPLETED", "gpu1")]
    reader.look()
    assert time.monotonic() - reader.remembers_since_s() == pytest.approx(1000, abs=2)
    slurm.jobs, slurm.up_s = [job(1)], 3
    reader.look()
    assert time.monotonic() - reader.remembers_since_s() == pytest.approx(3, abs=2)
    slurm.up_s, slurm.fails = 1000, {"squeue"}
    with pytest.raises(Unsure):
        reader.look()
    slurm.fails = set()
    reader.look()
    assert time.monotonic() - reader.remembers_since_s() == pytest.approx(0, abs=2)


def test_an_error_beside_an_answer_is_a_doubt(slurm: Played, reader: Reader) -> None:
    slurm.complaint = "squeue: error: _parse_next_key: Parsing error at unrecognized key"
    assert reader.look().doubts == (f"Slurm answers with an error: {slurm.complaint}",)


def test_what_others_have_may_be_hidden(slurm: Played, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm.private = "jobs,usage"
    for uid in (0, 64030):
        monkeypatch.setattr(os, "getuid", lambda uid=uid: uid)
        assert Reader(slurm, habits=HABITS).look().complete
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    for _ in range(2):  # which does not pass by itself
        with pytest.raises(UsageError, match="PrivateData=jobs hides"):
            reader.look()
    slurm.private = "usage"
    assert reader.look().complete


def test_the_accounts_say_how_jobs_ended(slurm: Played, reader: Reader) -> None:
    [run] = reader.ended(["7", "8"]) or []
    assert (run.id, run.state, run.ending.code, run.nodes) == ("7", "FAILED", 3, ("gpu1",))
    slurm.fails = {"sacct"}
    with pytest.raises(Unsure):
        reader.ended(["7", "8"])


def test_an_odd_cell_concludes_nothing(slurm: Played, reader: Reader) -> None:
    slurm.jobs = [replace(job(1), required_nodes=("gpu[",))]
    with pytest.raises(Unsure, match="job 1"):
        reader.look()
