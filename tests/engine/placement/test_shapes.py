"""Shapes by hand (semantics.md §2 and §3): which nodes give how many GPUs, and what is refused."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import InputError
from pointsman.types import Reason
from tests.free import simulate

FREE = (4, 2, 3, 2, 2, 1)
"""Free GPUs of the nodes, three to a rack, of four GPUs each."""
CLUSTER = "6x4/rack=3"


@dataclass
class Fill:
    """Leaves FREE free, with one job a node, on its highest GPUs, and then starts the last job by the placement."""

    name: str = "fill"
    needs: str = "none"
    gpus: Any = None
    """Of the last job; None: where the placement puts it."""
    answers: list[Reason] = field(default_factory=list)

    def decide(self, view: Any) -> None:
        for job in view.pending.tolist():
            row = int(view.jobs["row"][job])
            if row < len(FREE):
                view.start(job, [(row, gpu) for gpu in range(FREE[row], 4)] or [(0, 3)])
            else:
                self.answers.append(view.start(job, self.gpus))


def workload(*rows: dict[str, Any]) -> pointsman.Workload:
    fillers = [{"gpus": 4 - free or 1, "duration_s": 1.0 if free == 4 else 1000.0} for free in FREE]
    last = [{"submit_s": 5.0, "duration_s": 10.0, **row} for row in rows]
    schema = {"submit_s": pl.Float64, "gpus": pl.Int64, "duration_s": pl.Float64, "nodes_requested": pl.Int64,
              "gpus_per_node": pl.Int64}  # fmt: skip
    return pointsman.Workload.of(pl.DataFrame([{"submit_s": 0.0, **row} for row in fillers] + last, schema=schema))


def masks(result: pointsman.Result) -> dict[int, int]:
    """By node, the GPUs that the last job was started on."""
    assert result.events is not None
    starts = result.events.filter((pl.col("kind") == "START") & (pl.col("row") == len(FREE)))
    return dict(starts.select("node", "gpu_mask").rows())


@pytest.mark.parametrize(
    ("placement", "two_by_two", "four_by_two", "one_by_three"),
    [
        ("consolidated", {1, 3}, {1, 2, 3, 4}, 2),
        ("first-fit", {0, 1}, {0, 1, 2, 3}, 0),
        ("spread", {0, 2}, {0, 1, 2, 3}, 0),
        ("few-racks", {3, 4}, {0, 1, 2, 3}, 2),
        ("tightest", {3, 4}, {0, 1, 2, 3}, 2),
    ],
)
def test_which_nodes_give_a_shape(placement: str, two_by_two: set[int], four_by_two: set[int], one_by_three: int):
    for nodes, per_node, wanted in ((2, 2, two_by_two), (4, 2, four_by_two), (1, 3, {one_by_three})):
        job = {"gpus": nodes * per_node, "gpus_per_node": per_node}
        result = simulate(workload(job), CLUSTER, Fill(), placement=placement)
        assert masks(result) == dict.fromkeys(wanted, (1 << per_node) - 1), (nodes, per_node)


@pytest.mark.parametrize(
    "shape", [{"nodes_requested": 2}, {"gpus_per_node": 2}, {"nodes_requested": 2, "gpus_per_node": 2}]
)
def test_either_column_gives_the_shape(shape: dict[str, int]):
    assert set(masks(simulate(workload({"gpus": 4, **shape}), CLUSTER, Fill()))) == {1, 3}
    assert set(masks(simulate(workload({"gpus": 4}), CLUSTER, Fill()))) == {0}
    ignoring = workload({"gpus": 4, **shape}).without(["shape"])
    assert set(masks(simulate(ignoring, CLUSTER, Fill()))) == {0}
    assert ignoring.quality.notes[-1] == "columns ignored as told: nodes_requested, gpus_per_node"


def test_a_shape_never_fits_by_parts():
    """Seven GPUs are free beside the first node; four nodes have two."""
    waits = simulate(workload({"gpus": 6, "gpus_per_node": 3}), CLUSTER, Fill(), until_s=12)
    assert waits.jobs["state"][-1] == "RUNNING"  # on nodes 0 and 2
    waits = simulate(workload({"gpus": 9, "gpus_per_node": 3}), CLUSTER, Fill(), until_s=12)
    assert waits.jobs["state"][-1] == "PENDING"


@pytest.mark.parametrize(
    ("gpus", "answer"),
    [
        ([(1, 0), (1, 1), (3, 0), (3, 1)], Reason.OK),
        ([(0, 0), (0, 1), (0, 2), (0, 3)], Reason.GangIncomplete),
        ([(0, 0), (0, 1), (0, 2), (2, 0)], Reason.GangIncomplete),
        ([(0, 0), (1, 0), (2, 0), (3, 0)], Reason.GangIncomplete),
        ([(1, 0), (1, 1), (3, 0)], Reason.GangIncomplete),
    ],
)
def test_gpus_that_a_policy_names_have_the_shape(gpus: list[tuple[int, int]], answer: Reason):
    policy = Fill(gpus=gpus)
    simulate(workload({"gpus": 4, "gpus_per_node": 2}), CLUSTER, policy, until_s=5)
    assert policy.answers == [answer]


@dataclass
class Move:
    """Starts the job on two nodes, and then wants it on others."""

    to: list[tuple[int, int]]
    name: str = "move"
    needs: str = "none"
    answers: list[Reason] = field(default_factory=list)

    def decide(self, view: Any) -> None:
        for job in view.running.tolist():
            self.answers.append(view.resize(job, self.to))
        for job in view.pending.tolist():
            view.start(job, [(0, 0), (0, 1), (1, 0), (1, 1)])
            view.wake_at(view.now_ms / 1000 + 1)


@pytest.mark.parametrize(
    ("to", "answer"),
    [([(2, 0), (2, 1), (1, 0), (1, 1)], Reason.OK), ([(2, 0), (2, 1), (2, 2), (2, 3)], Reason.GangIncomplete)],
)
def test_a_resize_keeps_the_shape(to: list[tuple[int, int]], answer: Reason):
    job = pl.DataFrame({"submit_s": [0.0], "gpus": [4], "duration_s": [9.0], "nodes_requested": [2]})
    policy = Move(to)
    simulate(pointsman.Workload.of(job), "3x4", policy, until_s=1)
    assert policy.answers == [answer]


def shaped(gpus: int, per_node: int, **more: Any) -> pointsman.Workload:
    columns = {"submit_s": [0.0], "gpus": [gpus], "duration_s": [60.0], "gpus_per_node": [per_node]}
    return pointsman.Workload.of(pl.DataFrame(columns | {name: [value] for name, value in more.items()}))


@pytest.mark.parametrize(
    ("gpus", "per_node", "said", "clamped"),
    [
        (8, 2, "4 nodes with 2 GPUs each, and can never have more than 3 such nodes at once here", (6, 2)),
        (5, 5, "1 node with 5 GPUs, and no node can give it more than 4 here", (4, 4)),
        (10, 5, "2 nodes with 5 GPUs each, and no node can give it more than 4 here", (8, 4)),
        (4, 1, "4 nodes with 1 GPU each, and can never have more than 3 such nodes at once here", (3, 1)),
    ],
)
@pytest.mark.parametrize("placement", ["consolidated", "spread", "tightest"])
def test_a_shape_that_never_fits(gpus: int, per_node: int, said: str, clamped: tuple[int, int], placement: str):
    run = {"cluster": "3x4", "policy": "fifo", "placement": placement}
    with pytest.raises(InputError) as caught:
        simulate(shaped(gpus, per_node), **run)
    fix = "use a larger cluster, or --oversized drop or clamp, or --ignore shape"
    assert str(caught.value) == f"memory: job '0' (row 1) asks for {said} ({fix})"
    result = simulate(shaped(gpus, per_node), **run, oversized="clamp")
    assert result.jobs.select("gpus", "gpus_per_node", "nodes").row(0) == (*clamped, clamped[0] // clamped[1])
    assert result.jobs["nodes_requested"][0] is None
    both = pointsman.Workload.of(pl.concat([shaped(gpus, per_node).jobs, shaped(2, 1, job_id="fits").jobs]))
    kept = simulate(both, **run, oversized="drop")
    assert (kept.jobs["job_id"].to_list(), kept.jobs["nodes"].to_list()) == (["fits"], [2])
    assert simulate(shaped(gpus, per_node).without(["shape"]), **run).jobs["gpus"][0] == gpus


def test_the_limit_of_a_queue_narrows_a_shape(tmp_path):
    (tmp_path / "c.yaml").write_text("""
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: small}
spec:
  node_types: {n: {gpus: 4, gpu_type: v100}}
  nodes: [{type: n, count: 4}]
  queues: {q: {gpu_limit: 5}}
""")
    result = simulate(shaped(6, 2, queue="q"), str(tmp_path / "c.yaml"), "fifo", oversized="clamp")
    assert result.jobs.select("gpus", "nodes").row(0) == (4, 2)


def test_a_shape_keeps_within_its_partition_and_type():
    with pytest.raises(InputError, match="can never have more than 2 such nodes"):
        simulate(shaped(6, 2, gpu_type="a100"), "2x4/gpu=a100+3x4/gpu=v100", "fifo")
    assert simulate(shaped(6, 2), "2x4/gpu=a100+3x4/gpu=v100", "fifo").jobs["nodes"][0] == 3
    with pytest.raises(InputError, match="can never have more than 3 such nodes"):
        simulate(shaped(8, 2), "2x4/gpu=a100+3x4/gpu=v100", "fifo")
    assert simulate(shaped(8, 2, gpu_type="a100+v100"), "2x4/gpu=a100+3x4/gpu=v100", "fifo").jobs["nodes"][0] == 4


def test_pollux_refuses_shapes():
    with pytest.raises(InputError, match="asks for 2 nodes with 2 GPUs each, and policy 'pollux' changes how many"):
        simulate(shaped(4, 2), "3x4", "pollux")
    assert simulate(shaped(1, 1), "3x4", "pollux").jobs["nodes"][0] == 1


def test_a_run_of_jobs_with_shapes_can_be_read_as_a_log(tmp_path):
    result = simulate(
        pointsman.Workload.of(pl.concat([shaped(8, 2).jobs, shaped(4, 4, job_id="b").jobs])), "4x4", "fifo"
    )
    result.jobs.write_parquet(tmp_path / "jobs.parquet")
    again = pointsman.read_workload(tmp_path / "jobs.parquet")
    assert again.jobs["gpus_per_node"].to_list() == [2, 4]
    assert again.jobs["nodes_requested"].to_list() == [None, None]


def test_where_a_job_ran_is_no_shape(tmp_path):
    jobs = pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [6, 2], "duration_s": [60.0, 60.0]})
    result = simulate(pointsman.Workload.of(jobs), "3x4", "fifo", placement="spread")
    assert result.jobs["nodes"].to_list() == [3, 2]
    assert "gpus_per_node" not in result.jobs.columns
    result.jobs.write_parquet(tmp_path / "jobs.parquet")
    again = pointsman.read_workload(tmp_path / "jobs.parquet")
    assert again.jobs.select("nodes_requested", "gpus_per_node").null_count().row(0) == (2, 2)
    assert simulate(again, "2x4", "fifo").jobs["nodes"].to_list() == [2, 1]


@pytest.mark.parametrize("sharing", [None, 2])
@pytest.mark.parametrize("policy", ["sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs"])
def test_policies_that_share_start_a_shape_on_free_gpus(policy: str, sharing: int | None):
    """Both GPUs of a node would do for sharing at once; the job waits for two nodes."""
    jobs = pl.DataFrame(
        {
            "submit_s": [0.0, 1.0, 1.0], "gpus": [2, 2, 2], "duration_s": [100.0, 10.0, 10.0],
            "model": ["resnet18"] * 3, "nodes_requested": [2, 2, None],
        }
    )  # fmt: skip
    result = simulate(pointsman.Workload.of(jobs), "1x2+1x1", policy, gpu_sharing=sharing)
    assert result.jobs["nodes"].to_list()[:2] == [2, 2]
    assert result.jobs["start_s"][1] >= result.jobs["end_s"][0]
