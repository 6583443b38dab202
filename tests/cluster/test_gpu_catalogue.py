"""The catalogue of GPU types, and one type by several names in cluster files and logs."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.cluster import load_cluster
from pointsman.cluster.gpu_catalogue import GPU_MODELS, known_gpu
from pointsman.cluster.quantities import bandwidth_bytes_per_s, memory_bytes
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import InputError, UsageError
from pointsman.inputs.gpu_names import NAMES
from pointsman.speed.profiles.catalogue import SHIPPED, load_catalogue


def test_the_catalogue_has_every_name_and_no_other() -> None:
    assert tuple(GPU_MODELS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_has_a_memory_and_a_link(name: str) -> None:
    model = GPU_MODELS[name]
    assert memory_bytes(model.memory) >= 8 * 2**30
    assert bandwidth_bytes_per_s(model.bandwidth) >= 12e9


@pytest.mark.parametrize("spelling", ["V100", "Tesla-V100-SXM2-32GB", "tesla_v100"])
def test_any_spelling_finds_the_entry(spelling: str) -> None:
    assert known_gpu(spelling) == GPU_MODELS["v100"]


def file(types: str = "", *node_types: str) -> pointsman.Cluster:
    nodes = "\n".join(f"    k{i}: {{gpus: 4, gpu_type: {kind}}}" for i, kind in enumerate(node_types))
    groups = "\n".join(f"    - {{type: k{i}}}" for i in range(len(node_types)))
    spec = f"spec:\n  gpu_types: {{{types}}}\n  node_types:\n{nodes}\n  nodes:\n{groups}\n"
    return parse_cluster(f"apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {{name: x}}\n{spec}", origin="x")


def placed(cluster: pointsman.Cluster, gpu_type: str) -> set[str]:
    """Types of the nodes where jobs of 4 GPUs that ask for this type run."""
    jobs = pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [4] * 4, "duration_s": [9.0] * 4, "gpu_type": [gpu_type] * 4})
    result = pointsman.simulate(pointsman.Workload.of(jobs), cluster, "fifo", log=True)
    starts = result.events.filter(pl.col("kind") == "START")
    return {result.info["node_gpu_types"][node] for node in starts["node"]}


@pytest.mark.parametrize("in_log", ["h100", "H100", "nvidia_h100_80gb_hbm3", "NVIDIA-H100-80GB-HBM3", "a100|h100-nvl"])
@pytest.mark.parametrize("in_file", ["h100", "NVIDIA-H100-80GB-HBM3", "nvidia_h100_pcie"])
def test_a_log_and_a_cluster_may_spell_a_type_differently(in_log: str, in_file: str) -> None:
    assert placed(file("", "t4", in_file), in_log) == {in_file}


def test_types_that_only_the_site_tells_apart_stay_apart() -> None:
    cluster = file("a100-40gb: {memory: 40 GiB}, a100-80gb: {memory: 80 GiB}", "a100-40gb", "a100-80gb")
    assert placed(cluster, "A100-80GB") == {"a100-80gb"}
    assert placed(cluster, "NVIDIA-A100-SXM4") == {"a100-40gb", "a100-80gb"}


def test_a_type_that_the_catalogue_lacks_is_itself_whatever_the_case() -> None:
    cluster = file("x1: {memory: 8 GiB}, v100: {aliases: [tesla]}", "v100")
    assert placed(cluster, "TESLA") == {"v100"}
    with pytest.raises(InputError, match="asks for GPU type 'x1'"):
        placed(cluster, "x1")


def test_two_spellings_of_one_type_in_one_file_are_refused() -> None:
    with pytest.raises(UsageError, match="'NVIDIA-A100' and 'a100' are one GPU type"):
        file("", "a100", "NVIDIA-A100")


def test_a_declared_memory_counts_whatever_the_case() -> None:
    assert file("H100: {memory: 94 GiB}", "h100").layout().gpu_memory_bytes.tolist() == [94 * 2**30]
    assert file("h100: {aliases: [big]}", "h100").layout().gpu_memory_bytes.tolist() == [80 * 2**30]


def test_an_alias_alone_declares_no_type() -> None:
    with pytest.raises(UsageError, match="unknown GPU type 'x1'"):
        file("x1: {aliases: [y]}", "x1")


def test_a_profile_of_ones_own_may_spell_a_type_otherwise(tmp_path: Path) -> None:
    shown = (SHIPPED / "language.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(shown.replace("        v100:", "        Tesla-V100-SXM2:"))
    assert "Tesla-V100-SXM2" in (tmp_path / "mine.yaml").read_text()
    assert load_catalogue(tmp_path / "mine.yaml").models == load_catalogue().models


def test_shorthands_and_profiles_take_any_spelling() -> None:
    assert load_cluster("2x8/gpu=nvidia_h100_80gb_hbm3").layout().gpu_memory_bytes.tolist() == [80 * 2**30]
    catalogue = load_catalogue()
    assert catalogue.gpu_name("NVIDIA-RTX-6000-Ada-Generation") == "rtx6000ada"
    assert catalogue.gpu_name("V100-32GB") == "v100"
