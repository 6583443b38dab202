"""Where the log says that jobs ran."""

import polars as pl
import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.hostlist import nodes_named
from pointsman.engine.run.logged import as_logged
from pointsman.report.result import Result
from pointsman.workload import Workload
from tests import free

CLUSTER = """{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: racks},
  spec: {nodes_per_rack: 2, racks_per_pod: 2, node_types: {big: {gpus: 4, gpu_type: v100}},
  nodes: [{type: big, names: "m[1-8]"}]}}"""
"""Racks m1-m2, m3-m4, ...; pods m1-m4, m5-m8."""

PLACES = [
    # node list, GPUs, nodes, locality
    ("m3", 1, 1, "gpu"),
    ("m3", 4, 1, "node"),
    ("m[1-2]", 8, 2, "rack"),
    ("m1,m3", 8, 2, "pod"),
    ("m[2-5]", 8, 4, "cluster"),
    ("m[1-2],m1", 8, 2, "rack"),
    ("m1,login7", 8, 2, None),
    ("login7", 1, 1, None),
    ("m[1-", 2, None, None),
    ("None assigned", 2, None, None),
    (None, 2, None, None),
]


def logged(rows: list[tuple[str | None, int]], cluster: str, start_s: list[float | None] | None = None) -> Result:
    jobs = pl.DataFrame(
        {
            "submit_s": [float(k) for k in range(len(rows))],
            "gpus": [gpus for _, gpus in rows],
            "duration_s": [100.0] * len(rows),
            "start_s": start_s or [float(k) for k in range(len(rows))],
            "node_list": pl.Series([text for text, _ in rows], dtype=pl.String),
        }
    )
    workload = Workload.of(jobs)
    return as_logged(workload, free.simulate(workload, cluster, "fifo"))


@pytest.fixture
def racks(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cluster") / "racks.yaml"
    path.write_text(CLUSTER)
    assert load_cluster(str(path)).nodes == 8
    return str(path)


def test_nodes_and_locality_are_by_the_racks_and_pods_of_the_cluster(racks: str) -> None:
    result = logged([(text, gpus) for text, gpus, *_ in PLACES], racks)
    assert result.jobs["nodes"].to_list() == [nodes for *_, nodes, _ in PLACES]
    assert result.jobs["locality"].to_list() == [locality for *_, locality in PLACES]
    told = result.info["assumptions"]
    assert told[1:] == [
        "the log does not say where 1 job ran",
        "node lists of 2 jobs cannot be read, such as 'm[1-'",
        "2 jobs ran on nodes that this cluster lacks, such as 'm1,login7': locality unknown",
    ]


def test_names_with_a_domain_are_those_without_where_that_is_unambiguous() -> None:
    assert nodes_named(["m[1-2].site.org", "m1"], ["m1", "m2"]) == {"m[1-2].site.org": [0, 1], "m1": [0]}
    assert nodes_named(["m[1-3]"], ["m1.site.org", "m2.site.org"]) == {"m[1-3]": [0, 1, None]}
    assert nodes_named(["m1.a.org", "m1.b.org"], ["m1"]) == {"m1.a.org": [None], "m1.b.org": [None]}
    assert nodes_named(["m1"], ["m1.a.org", "m1.b.org"]) == {"m1": [None]}
    assert nodes_named(["m1", "m1.a.org"], ["m1.a.org", "m1.b.org"]) == {"m1": [None], "m1.a.org": [0]}
    assert nodes_named(["m1.a.org"], ["m1.b.org"]) == {"m1.a.org": [None]}


def test_a_run_has_the_same_localities(racks: str) -> None:
    """The rule is that of the simulator."""
    jobs = Workload.of(pl.DataFrame({"submit_s": [0.0] * 5, "gpus": [1, 4, 8, 12, 24], "duration_s": [10.0] * 5}))
    run = free.simulate(jobs, racks, "fifo")
    assert run.events is not None
    names = pl.Series(run.info["node_names"])
    starts = run.events.filter(pl.col("kind") == "START").group_by("row", maintain_order=True).agg("node").sort("row")
    texts = [",".join(names[node] for node in nodes) for nodes in starts["node"].to_list()]
    again = logged(list(zip(texts, [1, 4, 8, 12, 24], strict=True)), racks)
    assert again.jobs.select("nodes", "locality").equals(run.jobs.select("nodes", "locality"))
    assert set(run.jobs["locality"]) > {"gpu", "node", "rack"}


def test_a_job_without_a_start_has_no_place(racks: str) -> None:
    result = logged([("m1", 1), ("m2", 1), ("m9", 1)], racks, [0.0, 1.0, None])
    assert result.jobs["nodes"].to_list() == [1, 1, None]
    assert len(result.info["assumptions"]) == 1


def test_a_log_that_names_no_nodes_is_as_ever(racks: str) -> None:
    result = logged([(None, 1), (None, 2)], racks)
    assert "node_list" not in result.jobs.columns
    assert result.jobs["nodes"].null_count() == result.jobs["locality"].null_count() == 2
    assert "places" in result.info["assumptions"][0]
