"""``pointsman capacity``, as users call it."""

import csv
import json
from pathlib import Path

import pytest

from .conftest import Command

FOUR = "submit_s,gpus,duration_s\n" + "0,1,100\n" * 4
"""Four jobs of 100 s at once. With n nodes of one GPU the mean time pending is 150, 50, 25 and 0 s."""


@pytest.fixture
def four(here: Path) -> str:
    (here / "four.csv").write_text(FOUR)
    return "four.csv"


@pytest.mark.parametrize(("limit", "nodes"), [("150", 1), ("149", 2), ("50", 2), ("25", 3), ("24.9", 4), ("0", 4)])
def test_worked_by_hand(limit: str, nodes: int, four: str, command: Command) -> None:
    target = f"pending_mean_s<={limit}"
    done = command("capacity", four, "--cluster", "2x1", "--policy", "fifo", "--target", target, "--format", "csv")
    assert done.code == 0, done.err
    (answer,) = [row for row in csv.DictReader(done.out.splitlines()) if row["is_answer"] == "True"]
    assert answer["nodes"] == answer["gpus"] == str(nodes)


def test_the_answer_is_a_sentence_and_a_curve(four: str, command: Command, here: Path) -> None:
    done = command(
        "capacity", four, "--cluster", "2x1", "--policy", "fifo", "--policy", "srtf", "--target", "pending_p90_s<=0",
        "-o", "answer",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (
        "Target pending_p90_s <= 0 s: fifo meets it with 4 GPUs (4 nodes), srtf meets it with 4 GPUs (4 nodes)."
        in done.out
    )
    rows = list(csv.DictReader((here / "answer/capacity.csv").read_text().splitlines()))
    assert {row["policy"] for row in rows} == {"fifo", "srtf"}
    assert json.loads((here / "answer/manifest.json").read_text())["kind"] == "capacity"


def test_a_gang_needs_its_nodes(command: Command, here: Path) -> None:
    """One job of 6 GPUs: three nodes of two."""
    (here / "gang.csv").write_text("submit_s,gpus,duration_s\n0,6,100\n")
    done = command("capacity", "gang.csv", "--cluster", "1x2", "--policy", "fifo", "--target", "pending_mean_s<=0")
    assert "fifo meets it with 6 GPUs" in done.out, done.err


def test_what_no_cluster_can_do(four: str, command: Command) -> None:
    done = command("capacity", four, "--cluster", "2x1", "--policy", "fifo", "--target", "jct_mean_s<=99")
    assert (done.code, "fifo does not meet it with up to 128 GPUs" in done.out) == (0, True), done.err


def test_no_cluster_is_larger_than_any_may_be(four: str, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.cluster.parts.MAX_NODES", 500)
    done = command("capacity", four, "--cluster", "500x8", "--policy", "fifo", "--target", "pending_mean_s<=0")
    assert "fifo meets it with 8 GPUs (1 node)" in done.out, done.err
    monkeypatch.setattr("pointsman.cluster.parts.MAX_NODES", 3)
    done = command("capacity", four, "--cluster", "2x1", "--policy", "fifo", "--target", "pending_mean_s<=0")
    assert "fifo does not meet it with up to 3 GPUs" in done.out, done.err


@pytest.mark.parametrize("more", [["--policy", "easy", "--estimate", "limit"], ["--enforce-limits"]])
def test_what_keeps_jobs_from_running_is_no_want_of_gpus(more: list[str], four: str, command: Command) -> None:
    done = command("capacity", four, "--cluster", "2x1", "--policy", "fifo", *more)
    assert done.code == 3 and "time_limit_s" in done.err and done.out == "", (done.out, done.err)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--target", "jct_mean_s<=-5%"], "is a change to a baseline"),
        (["--target", "wait"], "is not a condition"),
        (["--target", "engine_s<=1"], "is about this computer"),
        (["--target", "speed>1"], "does not name a metric"),
        (["--target", "gpu_allocated_ratio>=0.6"], "more nodes lower this metric"),
        (["--target", "jct_mean_s>=5"], "more nodes lower this metric"),
        (["--oversized", "drop"], "--oversized drop: capacity requires that every job fits"),
        (["--oversized", "clamp"], "--oversized clamp: capacity requires that every job fits"),
        (["--cluster", "fat-tree:4"], "a fat-tree has a fixed number of nodes"),
        (["--policy", "kueue", "--set", "kueue.cohort={nobody: x}"], "kueue.cohort names the queue 'nobody'"),
    ],
)
def test_mistakes_are_found_before_any_run(
    more: list[str], said: str, four: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.capacity.trials.figures_of", lambda *_: pytest.fail("a run began"))
    where = [] if "--cluster" in more else ["--cluster", "2x1"]
    done = command("capacity", four, *where, "--policy", "fifo", *more)
    assert (done.code, said in done.err, done.out) == (2, True, ""), done.err


def test_side_by_side_it_is_the_same(four: str, command: Command) -> None:
    given = ("capacity", four, "--cluster", "2x1", "--policy", "fifo", "--policy", "las", "--format", "csv")
    assert command(*given, "--workers", "2").out == command(*given).out


PARTED = """\
metadata: {name: parted}
spec:
  node_types: {n: {gpus: 1, gpu_type: v100}}
  nodes:
    - {type: n, count: 1, partitions: [gpu]}
    - {type: n, count: 1, partitions: [debug]}
"""


def test_nodes_are_told_by_partition_and_equal_figures_explained(command: Command, here: Path) -> None:
    """Only nodes of `gpu` help, of which three nodes have two: 0, 0 and 100 s of waiting."""
    (here / "parted.yaml").write_text(PARTED)
    (here / "gpu.csv").write_text("submit_s,gpus,duration_s,partition\n" + "0,1,100,gpu\n" * 3)
    done = command(
        "capacity", "gpu.csv", "--cluster", "parted.yaml", "--policy", "fifo", "--target", "pending_mean_s<=40"
    )
    assert "fifo meets it with 3 GPUs (3 nodes: 2 gpu, 1 debug)" in done.out, (done.out, done.err)
    assert "fifo: some neighbouring sizes have the same value" in done.err


def test_quotas_do_not_grow_with_the_cluster(four: str, command: Command, here: Path) -> None:
    """Four jobs in a queue that may hold one GPU."""
    (here / "quota.csv").write_text("submit_s,gpus,duration_s,queue\n" + "0,1,100,a\n" * 4)
    quota = ("--policy", "kueue", "--set", "kueue.nominal_quota={a: 1}")
    done = command("capacity", "quota.csv", "--cluster", "2x1", *quota, "--target", "pending_mean_s<=50")
    assert (done.code, "kueue does not meet it" in done.out) == (0, True), done.err
    assert "kueue: with more GPUs it stays as it is: quotas or limits of queues hold jobs back" in done.err


@pytest.mark.parametrize("cluster", ["6x8/rack=3+2x8/rack=2", "4x1/rack=2"])
def test_clusters_of_racks_have_every_size(cluster: str, four: str, command: Command) -> None:
    done = command("capacity", four, "--cluster", cluster, "--policy", "fifo", "--target", "pending_mean_s<=25")
    assert (done.code, "fifo meets it with" in done.out) == (0, True), done.err


def test_a_partition_that_the_cluster_lacks_is_no_want_of_nodes(command: Command, here: Path) -> None:
    (here / "parted.yaml").write_text(PARTED)
    (here / "lost.csv").write_text("submit_s,gpus,duration_s,partition\n0,1,100,gpus\n")
    done = command("capacity", "lost.csv", "--cluster", "parted.yaml", "--policy", "fifo", "--target", "jct_mean_s<=1h")
    assert (done.code, "asks for partition 'gpus', which the cluster does not have" in done.err) == (3, True), done.err


@pytest.mark.parametrize(("shape", "nodes"), [("", 2), (",nodes_requested", 3), (",gpus_per_node", 3)])
def test_a_shape_needs_its_nodes(shape: str, nodes: int, command: Command, here: Path) -> None:
    """Two jobs of 3 GPUs at once: on two nodes of 4, or each on three nodes with one GPU on each."""
    value = {"": "", ",nodes_requested": ",3", ",gpus_per_node": ",1"}[shape]
    (here / "two.csv").write_text(f"submit_s,gpus,duration_s{shape}\n" + f"0,3,100{value}\n" * 2)
    target = ("--target", "pending_mean_s<=0", "--format", "csv")
    done = command("capacity", "two.csv", "--cluster", "1x4", "--policy", "fifo", *target)
    assert done.code == 0, done.err
    (answer,) = [row for row in csv.DictReader(done.out.splitlines()) if row["is_answer"] == "True"]
    assert answer["nodes"] == str(nodes)


def test_more_nodes_are_no_larger_ones(command: Command, here: Path) -> None:
    (here / "wide.csv").write_text("submit_s,gpus,duration_s,gpus_per_node\n0,16,100,8\n")
    done = command("capacity", "wide.csv", "--cluster", "2x4", "--policy", "fifo", "--target", "pending_mean_s<=0")
    assert done.code == 3
    assert "job '0' asks for 2 nodes with 8 GPUs each, and no node has more than 4" in done.err
    assert "(use a cluster of larger nodes, or --ignore shape)" in done.err
