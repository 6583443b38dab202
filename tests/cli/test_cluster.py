import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pointsman.cli.cluster import app
from pointsman.cluster import load_cluster, ready_clusters
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import UsageError

NODES = "sn,cpu_milli,memory_mib,gpu,model\na,1000,1024,8,T4\nb,1000,1024,0,\n"


def _run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, result.stderr


def test_list_names_every_ready_cluster() -> None:
    for name in ready_clusters():
        assert name in _run("list")[0]
    rows = json.loads(_run("list", "--format", "json")[0])
    assert {row["name"] for row in rows} == set(ready_clusters())
    assert _run("list", "--format", "csv")[0].startswith("name,nodes,gpus,gpu_types,description\n")


def test_show_prints_a_file_that_reads_back() -> None:
    assert parse_cluster(_run("show", "philly")[0], origin="x") == load_cluster("philly")
    assert json.loads(_run("show", "4x8/gpu=a100", "--format", "json")[0]) == load_cluster("4x8/gpu=a100").to_dict()


def test_graph_prints_kinds_of_links_every_link_and_all_there_is() -> None:
    lines = _run("graph", "fat-tree:4/nic=10Gbps,oversubscription=4")[0].splitlines()
    assert [line.split() for line in lines if line.strip(" ─")] == [
        ["FROM", "TO", "LINKS", "Gb/s"],
        ["16", "node", "8", "edge", "16", "10"],
        ["8", "edge", "8", "aggregation", "16", "2.5"],
        ["8", "aggregation", "4", "core", "16", "2.5"],
    ]
    links = _run("graph", "fat-tree:4/nic=10Gbps", "--format", "csv")[0].splitlines()
    assert (links[:2], len(links)) == (["source,target,gbps", "n0000,edge 0,10.0"], 1 + 48)
    assert json.loads(_run("graph", "2x4", "--format", "json")[0]) == load_cluster("2x4").graph().to_dict()


def test_a_topology_that_cannot_be_ends_with_exit_code_2() -> None:
    command = [sys.executable, "-m", "pointsman", "cluster", "show", "fat-tree:7"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "k is even, not 7; try 6 or 8" in ended.stderr


def test_import_writes_a_file_and_says_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    out = tmp_path / "out.yaml"
    stdout, stderr = _run("import", str(tmp_path / "nodes.csv"), "-o", str(out))
    assert stdout == ""
    assert "1 of 2 nodes have no GPU" in stderr
    assert load_cluster(out).gpus == 8
    assert sorted(p.name for p in tmp_path.iterdir()) == ["nodes.csv", "out.yaml"]
    with pytest.raises(UsageError, match="exists already"):
        _run("import", str(tmp_path / "nodes.csv"), "-o", str(out))
    _run("import", str(tmp_path / "nodes.csv"), "-o", str(out), "--force")
    assert parse_cluster(_run("import", str(tmp_path / "nodes.csv"), "-o", "-")[0], origin="x").gpus == 8


def test_validate(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text(load_cluster("2x4").to_yaml())
    assert "valid: 2 nodes, 8 GPUs (v100)" in _run("validate", str(good))[0]
    good.write_text(good.read_text().replace("gpus:", "gpuz:"))
    with pytest.raises(UsageError, match="unknown key 'gpuz'"):
        _run("validate", str(good))


def test_schema_is_json() -> None:
    assert json.loads(_run("schema")[0])["title"] == "Cluster"


def test_importing_the_commands_stays_light() -> None:
    code = (
        "import sys, pointsman.cli.cluster, pointsman.cluster;"
        "print([m for m in ('numpy', 'numba', 'polars', 'pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_layout_needs_numpy() -> None:
    code = (
        "import sys; from pointsman.cluster import load_cluster; c = load_cluster('philly'); c.to_yaml();"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
