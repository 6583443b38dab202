"""A cluster file suggested from a job log."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.cli.run import run
from pointsman.cluster import load_cluster
from pointsman.cluster.imports.job_log import commented, node_size, suggest
from pointsman.cluster.yaml_file import parse_cluster


def table(**columns: list) -> pl.DataFrame:
    rows = len(columns["gpus"])
    usual = {"submit_s": [float(i) for i in range(rows)], "duration_s": [100.0] * rows}
    return pointsman.Workload.of(pl.DataFrame(usual | columns)).jobs


def sizes(jobs: pl.DataFrame) -> list[tuple[str, int, tuple[str, ...]]]:
    """Type, nodes and partitions of each group."""
    cluster = suggest(jobs, "x").cluster
    return [(group.type, group.nodes, group.partitions) for group in cluster.spec.nodes]


@pytest.mark.parametrize("shape", ["8x8", "12x4", "6x2"])
def test_a_busy_cluster_is_found_again(shape: str) -> None:
    gpus = int(shape.partition("x")[2])
    cluster = load_cluster(shape)
    sizes = [gpus, 2 * gpus, 1, gpus, 3 * gpus]
    jobs = pl.DataFrame(
        {
            "submit_s": [float(i) for i in range(200)],
            "gpus": [sizes[i % 5] for i in range(200)],
            "duration_s": [500.0 + i for i in range(200)],
        }
    )
    workload = pointsman.Workload.of(jobs)
    logged = pointsman.scheduled(workload, pointsman.simulate(workload, cluster, "fifo-backfill"))
    found = suggest(logged.jobs, "again").cluster
    assert (found.nodes, found.gpus) == (cluster.nodes, cluster.gpus)


def test_without_starts_the_load_is_assumed() -> None:
    jobs = table(gpus=[8, 8, 8], submit_s=[0.0, 500.0, 1000.0], duration_s=[1000.0] * 3)
    found = suggest(jobs, "x")
    assert found.cluster.gpus == 32, "24,000 GPU-seconds in 1,000 s at a load of 0.8 are 30 GPUs"
    assert any("no starts, so there are as many as make the load 0.8" in note for note in found.notes)


@pytest.mark.parametrize(
    ("duration_s", "last_s", "gpus"),
    [(8000.0, 1000.0, 30), (8000.0001, 1000.0, 30), (8000.1, 1000.0, 31), (0.8, 1.0, 3)],
)
def test_gpus_that_make_the_load(duration_s: float, last_s: float, gpus: int) -> None:
    """Three jobs of one GPU each; a millionth of a GPU too little is no reason for one more."""
    jobs = table(gpus=[1, 1, 1], submit_s=[0.0, last_s / 2, last_s], duration_s=[duration_s] * 3)
    assert suggest(jobs, "x").cluster.gpus == gpus


@pytest.mark.parametrize(("gpus", "share"), [([8], 100), ([1] * 5 + [8] * 10 + [12], 91)])
def test_the_share_of_wide_jobs_that_ask_for_whole_nodes_is_told(gpus: list[int], share: int) -> None:
    said = f"Nodes of 8 GPUs (v100): {share} % of the jobs that ask for as many or more ask for a multiple; the widest"
    assert any(note.startswith(said) for note in suggest(table(gpus=gpus), "x").notes)


@pytest.mark.parametrize(
    ("gpus", "size"),
    [
        ([1, 8, 16, 64], 8),
        ([1, 4, 8, 12, 20], 4),
        ([1, 2, 4], 4),
        ([1, 1], 1),
        ([3, 5, 7, 9], 1),
        ([8] * 10 + [12], 8),
        ([8] * 5 + [12], 4),
    ],
)
def test_the_size_of_nodes_is_that_of_which_wide_jobs_are_multiples(gpus: list[int], size: int) -> None:
    assert node_size(pl.Series(gpus)) == size


def test_partitions_and_types_have_what_their_jobs_held() -> None:
    jobs = table(
        gpus=[8, 8, 4, 4, 2],
        partition=["train", "train", "debug", "debug", None],
        gpu_type=["A100", "a100", "T4", None, None],
        start_s=[0.0, 50.0, 200.0, 250.0, 250.0],
        submit_s=[0.0, 50.0, 200.0, 250.0, 250.0],
    )
    assert sizes(jobs) == [("T4x4", 2, ("debug",)), ("A100x8", 2, ("train",))]
    alone = jobs.with_columns(start_s=pl.lit(0.0))
    assert sizes(alone) == [("T4x4", 2, ("debug",)), ("A100x8", 3, ("train",))], "the last ran beside all others"


def test_slices_count_as_their_shares() -> None:
    """Fourteen sevenths are two GPUs, at once or, without starts, by their GPU time; a job of two GPUs has both."""
    jobs = table(gpus=[1] * 14, fraction=[0.142] * 14, submit_s=[float(i) for i in range(14)])
    logged = jobs.with_columns(start_s=pl.lit(20.0), end_s=pl.lit(120.0))
    assert suggest(logged, "x").cluster.gpus == 2
    assert "Slices: 14 jobs on a part of a GPU count as that part." in suggest(logged, "x").notes
    assert suggest(jobs, "x").cluster.gpus == 20, "14 times 14.2 GPU-seconds in 13 s at a load of 0.8 are 19.1 GPUs"
    wide = jobs.with_columns(gpus=pl.lit(2), start_s=pl.lit(20.0), end_s=pl.lit(120.0))
    assert suggest(wide, "x").cluster.gpus == 28


def test_gaps_of_a_requeued_job_are_no_use_of_gpus() -> None:
    """It ran for 20 s at the begin and the end of 1,000 s, in the middle of which another job had as many GPUs."""
    columns = {"gpus": [8, 8], "submit_s": [0.0, 100.0], "duration_s": [20.0, 800.0], "start_s": [0.0, 100.0]}
    found = suggest(table(**columns, end_s=[1000.0, 900.0]), "x")
    assert found.cluster.gpus == 8
    assert "1 job did not hold GPUs all the time: a requeued job counts only at" in " ".join(found.notes)
    assert suggest(table(**columns, end_s=[850.0, 900.0]), "x").cluster.gpus == 16, "it ended beside the other"


@pytest.mark.parametrize(
    ("gpus", "shapes", "size", "nodes"),
    [
        ([4, 4, 12, 8], [None, None, None, (1, 8)], 8, 2),
        ([6, 6, 2], [(1, 6), (1, 6), None], 6, 1),
        ([8, 8], [(4, 2), (1, 8)], 8, 4),
        ([16, 4], [(1, 16), None], 16, 1),
        ([8], [(4, None)], 8, 4),
    ],
)
def test_every_shape_fits(gpus: list[int], shapes: list, size: int, nodes: int) -> None:
    """Jobs run one after the other; multiples alone say nodes of 4, 2, 8, 4 and 8 GPUs."""
    at = [1000.0 * i for i in range(len(gpus))]
    asked = {
        name: [shape and shape[k] for shape in shapes] for k, name in enumerate(("nodes_requested", "gpus_per_node"))
    }
    jobs = table(gpus=gpus, **asked, submit_s=at, start_s=at)
    assert sizes(jobs) == [(f"v100x{size}", nodes, ())]
    pointsman.simulate(pointsman.Workload.of(jobs), suggest(jobs, "x").cluster, "fifo")


def test_a_shape_counts_where_its_job_runs() -> None:
    jobs = table(
        gpus=[2, 2, 8, 4], partition=["a", "a", "b", None], gpu_type=["t4", "t4", "a100", "t4"],
        nodes_requested=[None, None, 1, 1], gpus_per_node=[None, None, 8, 4],
        submit_s=[0.0, 500.0, 1000.0, 1500.0], start_s=[0.0, 500.0, 1000.0, 1500.0],
    )  # fmt: skip
    assert sizes(jobs) == [("t4x4", 1, ("a",)), ("a100x8", 1, ("b",))]
    assert "a job has 8 on each of its nodes" in " ".join(suggest(jobs, "x").notes)


def test_spellings_of_one_type_are_one_kind_of_nodes() -> None:
    jobs = table(gpus=[8, 8, 8], gpu_type=["nvidia_h100_80gb_hbm3", "H100", "NVIDIA H100 PCIe"], submit_s=[0.0] * 3)
    assert len({kind for kind, _, _ in sizes(jobs)}) == 1


def test_a_job_fits_whatever_it_names() -> None:
    jobs = table(
        gpus=[64, 2, 1], gpu_type=["a100|h100", "mi999", "t4+p100"], partition=["a", "b", "gpu,debug"],
        start_s=[0.0, 500.0, 900.0], submit_s=[0.0, 500.0, 900.0],
    )  # fmt: skip
    found = suggest(jobs, "x")
    assert sizes(jobs) == [("a100x8", 8, ("a",)), ("mi999x2", 1, ("b",))]
    text = " ".join(found.notes)
    assert "GPU type mi999: not in the catalogue; 16 GiB" in text
    assert "gpu_type t4+p100 count as if they ran anywhere" in text
    assert "partition gpu,debug count as if they ran anywhere" in text


def test_the_file_has_its_assumptions_in_comments_and_can_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, file = tmp_path / "log.csv", tmp_path / "mine.yaml"
    log.write_text("submit_s,gpus,duration_s,start_s\n0,8,100,0\n10,8,100,20\n20,16,50,120\n")
    assert run(["cluster", "suggest", str(log), "-o", str(file)]) == 0
    assert "2 nodes, 16 GPUs (v100)" in capsys.readouterr().err
    text = file.read_text()
    assert text.startswith("# A starting point")
    assert "# GPU type: the log names none; v100 stands in." in text
    assert parse_cluster(text, origin="x") == suggest(pointsman.read_workload(log).jobs, "log").cluster
    assert commented(suggest(pointsman.read_workload(log).jobs, "log")) == text
    assert run(["compare", str(log), "--cluster", str(file), "--policy", "fifo"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.split()[:3] == ["fifo", "100.0", "%"]]
    assert run(["cluster", "suggest", str(log), "-o", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["cluster", "suggest", str(log), "-o", "-"]) == 0
    assert capsys.readouterr().out == text
