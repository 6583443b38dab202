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
