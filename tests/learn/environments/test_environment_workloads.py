"""Samplers: the same episode each time, at the load asked for, and nothing of what is held out in training."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pointsman import Workload, read_workload, write_workload
from pointsman.errors import UsageError
from pointsman.learn.environments import AtOnce, Generated, Listed, PickJobEnv, Sampler, Windows
from pointsman.workload.transforms.rescale import offered_load

from .small_environments import jobs


def log(count: int = 1000) -> Workload:
    """A job a minute of 1, 2, ... 40 GPUs in turn, for partitions and GPU types that other clusters lack."""
    rows = pl.int_range(count, eager=True)
    return Workload.of(
        pl.DataFrame(
            {
                "job_id": rows.cast(pl.String), "submit_s": rows * 60.0, "gpus": rows % 40 + 1, "duration_s": 600.0,
                "partition": "theirs", "gpu_type": "p100",
            }
        )
    )  # fmt: skip


@pytest.mark.parametrize("sampler", [Generated(jobs=50), Generated("topdrl", jobs=50), Windows(log(), jobs=50)])
def test_an_episode_is_always_the_same_and_others_are_others(sampler: Sampler) -> None:
    first, again, other = sampler(3, 32), sampler(3, 32), sampler(4, 32)
    assert first.jobs.equals(again.jobs)
    assert not first.jobs.equals(other.jobs)
    assert first.jobs.height == 50


@pytest.mark.parametrize("sampler", [Generated(jobs=50, load=2.5), Windows(log(), jobs=50, load=2.5)])
def test_load_and_width_are_those_of_the_cluster(sampler: Sampler) -> None:
    for gpus in (32, 256):
        made = sampler(0, gpus).jobs
        assert offered_load(made, gpus) == pytest.approx(2.5)
        assert made["gpus"].max() <= gpus // 4
        assert made["submit_s"][0] == 0.0


def test_jobs_of_a_log_arrive_as_logged() -> None:
    made = Windows(log(), jobs=50)(0, 32).jobs
    assert made["submit_s"].to_list() == [60.0 * k for k in range(50)]


def test_widest_says_how_wide() -> None:
    assert Windows(log(), jobs=300, widest=16)(0, 32).jobs["gpus"].max() == 16
    assert Windows(log(), jobs=300, widest=64)(0, 32).jobs["gpus"].max() == 32


def test_what_is_held_out_is_never_trained_on() -> None:
    parts = {}
    for part in ("train", "held-out"):
        sampler = Windows(log(), jobs=100, held_out=0.3, part=part)
        parts[part] = {int(i) for k in range(40) for i in sampler(k, 32).jobs["job_id"]}
    assert max(parts["train"]) < 700 <= min(parts["held-out"])
    assert len(parts["train"]) > 600 and len(parts["held-out"]) > 250


def test_a_log_is_read_from_its_file_and_runs_on_another_cluster(tmp_path: Path) -> None:
    write_workload(log(), tmp_path / "log.parquet")
    sampler = Windows(tmp_path / "log.parquet", jobs=40)
    assert sampler(1, 32).jobs.equals(Windows(log(), jobs=40)(1, 32).jobs)
    env = PickJobEnv(workload=sampler, episodes=2, observation="vector")
    assert env.reset(seed=0)[0]["action_mask"][0] == 1


def test_shapes_of_a_log_need_not_fit_the_nodes(tmp_path: Path) -> None:
    """Slurm's log of jobs of a node with eight GPUs, on nodes of four."""
    node = "gres/gpu=8,node=1"
    lines = [f"{i}|COMPLETED|2026-03-02T08:{i:02}:00|3600|{node}|{node}|1" for i in range(60)]
    header = "JobIDRaw|State|Submit|ElapsedRaw|AllocTRES|ReqTRES|NNodes"
    (tmp_path / "sacct.txt").write_text("\n".join([header, *lines, ""]))
    sampler = Windows(tmp_path / "sacct.txt", jobs=20)
    assert read_workload(tmp_path / "sacct.txt").jobs["gpus_per_node"].unique().to_list() == [8]
    env = PickJobEnv(cluster="8x4/rack=4", workload=sampler, episodes=2, observation="vector", horizon_s=None)
    assert env.reset(seed=0)[0]["action_mask"][0] == 1 and env.workload(0)["gpus"].unique().to_list() == [8]


def test_windows_that_the_log_has_not() -> None:
    with pytest.raises(UsageError, match="no window of 400 jobs in the held-out part, which has 300"):
        Windows(log(), jobs=400, part="held-out")(0, 32)
    for held_out in (0.0, 1.0, 1.5):
        with pytest.raises(UsageError, match="train or held-out, and a share below 1"):
            Windows(log(), held_out=held_out)(0, 32)


@pytest.mark.parametrize(
    ("part", "held_out", "most"), [("held-out", 0.3, 300), ("train", 0.3, 700), ("train", 0.2992, 701)]
)
def test_a_window_has_two_jobs_or_up_to_all_of_its_part(part: Any, held_out: float, most: int) -> None:
    for many in (2, most):
        assert Windows(log(), jobs=many, part=part, held_out=held_out)(0, 32).jobs.height == many
    for many in (1, most + 1):
        with pytest.raises(UsageError, match=f"no window of {many} jobs in the {part} part, which has {most}"):
            Windows(log(), jobs=many, part=part, held_out=held_out)(0, 32)


def test_all_at_once_and_as_listed() -> None:
    one, other = jobs((5.0, 1, 10.0), (9.0, 1, 10.0)), jobs((0.0, 1, 10.0))
    sampler = Listed([one, other])
    assert [sampler(k, 4) is work for k, work in enumerate((one, other, one))] == [True] * 3
    assert AtOnce(sampler)(0, 4).jobs["submit_s"].to_list() == [0.0, 0.0]
