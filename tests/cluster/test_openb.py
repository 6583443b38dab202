from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cluster import load_cluster, read_node_list
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import InputError, PointsmanError

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED} here")
HEADER = "sn,cpu_milli,memory_mib,gpu,model\n"
LIST = (
    HEADER
    + "a1,96000,393216,8,T4\na2,96000,393216,8,T4\nc1,32000,1024,0,\nb1,8500,1024,1,G2\n"
    + "a3,96000,393216,8,T4\n"
)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "nodes.csv"
    path.write_text(text)
    return path


def test_nodes_in_file_order_and_those_without_gpus_counted(tmp_path: Path) -> None:
    read = read_node_list(_file(tmp_path, LIST))
    assert (read.rows, read.without_gpu, read.cluster.gpus) == (5, 1, 25)
    layout = read.cluster.layout()
    assert layout.node_names == ("a1", "a2", "b1", "a3")
    assert layout.node_gpus.tolist() == [8, 8, 1, 8]
    assert layout.gpu_types == ("T4", "G2")
    assert load_cluster(str(tmp_path / "nodes.csv")) == read.cluster
    assert parse_cluster(read.cluster.to_yaml(), origin="x") == read.cluster
    assert read.cluster.spec.node_types["G2x1-9c-1024m"].cpus == 9


@needs_shared
def test_published_list_agrees_with_the_ready_cluster() -> None:
    read = read_node_list(SHARED / "clusters" / "openb_node_list_all_node.csv")
    ready = load_cluster("alibaba-openb-2023").layout()
    layout = read.cluster.layout()
    assert (read.rows, read.without_gpu) == (1523, 310)

    def census(of: object) -> list[tuple[str, int]]:
        return sorted((of.gpu_types[t], g) for t, g in zip(of.node_gpu_type, of.node_gpus, strict=True))  # ty: ignore[unresolved-attribute]

    assert census(layout) == census(ready)


@needs_shared
def test_list_of_gpu_nodes_only() -> None:
    path = SHARED / "samples" / "alibaba_gpu_v2023" / "openb_node_list_gpu_node.csv"
    assert (read_node_list(path).rows, read_node_list(path).without_gpu) == (1213, 0)


@needs_shared
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("samples/alibaba_gpu_v2023/openb_pod_list_default.csv", "openb pod list"),
        ("clusters/alibaba_lingjun2023_topo.csv", "Lingjun"),
        ("clusters/alibaba_pai2020_machine_spec.csv", "PAI 2020 machine table"),
        ("samples/tiresias/n32g4.csv", "Tiresias cluster table"),
        ("samples/ms_itp_2021/cluster10.csv", "ITP"),
        ("samples/philly_pollux_derived/philly.csv", "Philly"),
        ("samples/readme_examples_only/helios_cluster_log.csv", "Helios"),
        ("samples/readme_examples_only/acme_trace_seren.csv", "Acme"),
        ("timeseries/helios_Earth_gpu_number.csv", "GPUs per day"),
        ("timeseries/helios_cluster_summary.csv", "summary"),
        ("profiles/gavel_scaling.csv", "no node list"),
    ],
)
def test_other_tables_are_refused_by_what_they_are(name: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        load_cluster(str(SHARED / name))
    assert error.value.exit_code == 3
    assert error.value.line == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER + "a,1000,1024,8\n", 2, "4 cells instead of 5"),
        (HEADER + "a,1000,1024,8,T4\n\nb,1000,1024,8,T4,x\n", 4, "6 cells"),
        (HEADER + "a,1000,1024,-1,T4\n", 2, "gpu is '-1'"),
        (HEADER + "a,1000,1024,65,T4\n", 2, "0 to 64"),
        (HEADER + "a,1000,1024,2.5,T4\n", 2, "gpu is '2.5'"),
        (HEADER + "a,nan,1024,2,T4\n", 2, "cpu_milli is 'nan'"),
        (HEADER + "a,1000,,2,T4\n", 2, "memory_mib is ''"),
        (HEADER + "a,1000,1024,2,\n", 2, "unknown model ''"),
        (HEADER + "a,1000,1024,2,T44\n", 2, "did you mean 't4'"),
        (HEADER + ",1000,1024,2,T4\n", 2, "no node name"),
        (HEADER + "a,1000,1024,2,T4\na,1000,1024,2,T4\n", None, "2 nodes are called 'a'"),
        (HEADER + "a,1000,1024,0,\n", None, "no"),
        (HEADER, None, "no nodes"),
        ("", None, "empty"),
        (HEADER + '"a,1000', None, "not valid CSV"),
    ],
)
def test_bad_rows_are_named(text: str, line: int | None, message: str, tmp_path: Path) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_node_list(path)
    assert str(error.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert message in str(error.value)


def test_binary_and_absent_files(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\x1f\x8b\xff\xfe")
    with pytest.raises(InputError, match="binary"):
        read_node_list(tmp_path / "x.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_node_list(tmp_path / "absent.csv")


@given(st.lists(st.text(alphabet='ab1,"\n0-.T4 \x00é', max_size=20), max_size=4))
def test_any_rows_are_a_cluster_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_text(HEADER + "\n".join(rows), encoding="utf-8")
    try:
        assert read_node_list(path).cluster.gpus > 0
    except PointsmanError as error:
        assert str(path) in str(error)
