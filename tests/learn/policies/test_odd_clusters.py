"""Learned policies where clusters and jobs are not all alike, and checkpoints that are not what they say."""

from pathlib import Path

import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("safetensors", reason="safetensors is not installed (make learn)")

import pointsman  # noqa: E402
from pointsman.errors import InputError, UsageError  # noqa: E402
from pointsman.learn.agents import PRACTICE, recipe  # noqa: E402
from pointsman.policies.registry import get_policy  # noqa: E402
from tests.free import simulate  # noqa: E402

from .test_learned_policies import untrained  # noqa: E402


def jobs(**columns: list) -> pointsman.Workload:
    return pointsman.Workload.of(pl.DataFrame(columns))


def test_gpus_of_another_partition_are_not_offered(tmp_path: Path) -> None:
    place = untrained("proximity-drl", tmp_path / "checkpoint", reward="")
    count = 40
    work = jobs(
        submit_s=[10.0 * i for i in range(count)], gpus=[1 + i % 4 for i in range(count)],
        duration_s=[300.0] * count, partition=["A" if i % 3 else "B" for i in range(count)],
    )  # fmt: skip
    result = simulate(work, "2x4/partition=A+2x4/partition=B", f"proximity-drl:{place}", audit=True)
    assert result.jobs["state"].unique().to_list() == ["COMPLETED"]


def test_the_highest_priority_is_placed_first(tmp_path: Path) -> None:
    place = untrained("proximity-drl", tmp_path / "checkpoint", reward="")
    work = jobs(submit_s=[0.0, 1.0, 2.0], gpus=[8] * 3, duration_s=[100.0] * 3, priority=[0, 0, 9])
    result = simulate(work, "2x4", f"proximity-drl:{place}")
    assert result.jobs["start_s"].to_list() == [0.0, 200.0, 100.0]


def test_a_queue_at_its_limit_blocks_nobody_else(tmp_path: Path) -> None:
    """Queue a may have 4 GPUs: its second job waits for the first, and the job of b behind them starts at once."""
    place = untrained("proximity-drl", tmp_path / "checkpoint", reward="")
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(
        "apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {name: x}\nspec:\n"
        "  node_types: {t: {gpus: 4, gpu_type: v100}}\n  nodes: [{type: t, count: 2}]\n  queues: {a: {gpu_limit: 4}}\n"
    )
    work = jobs(submit_s=[0.0] * 3, gpus=[4] * 3, duration_s=[100.0] * 3, queue=["a", "a", "b"])
    result = simulate(work, cluster, f"proximity-drl:{place}", audit=True)
    assert result.jobs["start_s"].to_list() == [0.0, 100.0, 0.0]


def test_too_many_nodes_are_refused(tmp_path: Path) -> None:
    place = untrained("proximity-drl", tmp_path / "checkpoint", reward="")
    work = jobs(submit_s=[0.0], gpus=[1], duration_s=[1.0])
    with pytest.raises(UsageError, match="chooses among at most 128 nodes; there are 129"):
        simulate(work, "129x8", f"proximity-drl:{place}")


@pytest.mark.parametrize(("agent", "alias"), [("proximity-drl", "topdrl"), ("topdrl", "proximity-drl")])
def test_a_checkpoint_that_says_it_is_another_agents_is_refused(agent: str, alias: str, tmp_path: Path) -> None:
    place = untrained(agent, tmp_path / "checkpoint", reward="")
    card = place / "policy.yaml"
    card.write_text(card.read_text().replace(f"agent: {agent}", f"agent: {alias}"))
    with pytest.raises(InputError, match=f"{alias} with the network"):
        get_policy(f"{alias}:{place}").make()


@pytest.mark.parametrize("value", ["[nearest]", "{nearest: 1}", "7"])
def test_names_in_a_card_are_names(value: str, tmp_path: Path) -> None:
    place = untrained("deeprm", tmp_path / "checkpoint", gpus="random")
    card = place / "policy.yaml"
    card.write_text(card.read_text().replace("gpus: random", f"gpus: {value}"))
    with pytest.raises(InputError, match=r"environment.gpus is .* and no name"):
        get_policy(f"deeprm:{place}").make()


@pytest.mark.parametrize("practice", [{"gpus": "consolidated"}, {"picker": "random"}])
def test_nobody_is_trained_on_what_no_policy_can_do(practice: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=rf"practice.{next(iter(practice))}: must be one of"):
        recipe("proximity-drl", {PRACTICE: practice})
