"""`scontrol show node` of sites whose GPUs are known: physical GPUs are counted, whatever Slurm makes of them."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.cluster import Cluster
from pointsman.cluster.imports.cards import cards
from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import UsageError
from tests.workload.sacct_exports.nodes import Node, cut, node_lists, physical, scontrol, whole


def gpus_by_type(cluster: Cluster) -> Counter[str]:
    found: Counter[str] = Counter()
    for piece in cluster.spec.pieces():
        node = cluster.spec.node_types[piece.group.type]
        if node.gpus:
            found[node.gpu_type] += piece.count * node.gpus
    return found


def imported(folder: Path, nodes: list[Node], one_line: bool = False) -> Counter[str]:
    path = folder / "nodes.txt"
    path.write_text(scontrol(nodes, one_line))
    return gpus_by_type(import_nodes(path).cluster)


LONG = settings(max_examples=2000, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)


@settings(LONG, max_examples=30, derandomize=True)
@given(nodes=node_lists(), one_line=st.booleans())
def test_physical_gpus_are_counted(tmp_path: Path, nodes: list[Node], one_line: bool) -> None:
    assert imported(tmp_path, nodes, one_line) == physical(nodes)


@pytest.mark.slow
@LONG
@given(nodes=node_lists(), one_line=st.booleans())
def test_physical_gpus_of_thousands_of_sites_are_counted(tmp_path: Path, nodes: list[Node], one_line: bool) -> None:
    assert imported(tmp_path, nodes, one_line) == physical(nodes)


def test_a_card_cut_into_slices_is_one_gpu(tmp_path: Path) -> None:
    nodes = [whole("n1", 8, "nvidia_h100_80gb_hbm3"), cut("n2", 8, {"3g.20gb": 2}), cut("n3", 4, {"1g.5gb": 7}, 4)]
    assert imported(tmp_path, nodes) == {"h100": 8, "a100": 16}


def test_slices_of_several_sizes_are_fitted_together(tmp_path: Path) -> None:
    """Largest first would need a third card: two 3g fill the memory of one."""
    assert imported(tmp_path, [cut("n1", 2, {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2})]) == {"a100": 2}
    assert cards({"1g.5gb": 3000}, "a100") == 429
    assert cards({"3g.20gb": 1000, "2g.10gb": 1000, "1g.5gb": 2000}, "a100") == 1000


def test_without_scipy_only_slices_of_several_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert cards({"1g.5gb": 15}, "a100") == 3
    with pytest.raises(UsageError, match=r"3 of 1g.5gb and 1 of 3g.20gb.*: pip install 'pointsman\[fit\]'"):
        cards({"1g.5gb": 3, "3g.20gb": 1}, "a100")
