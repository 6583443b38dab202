"""Ready clusters against the published totals."""

import pytest

from pointsman.cluster import load_cluster, ready_clusters
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import UsageError

PUBLISHED = {
    "philly": (550, 2474),
    "philly-machine-list": (552, 2490),
    "helios-venus": (133, 1064),
    "helios-earth": (143, 1144),
    "helios-saturn": (262, 2096),
    "helios-uranus": (264, 2112),
    "acme-seren": (286, 2288),
    "acme-kalos": (302, 2416),
    "alibaba-openb-2023": (1213, 6212),
    "alibaba-pai-2020": (1814, 6742),
    "dgx-a100-superpod": (140, 1120),
    "dgx-h100-superpod": (127, 1016),
    "gb200-nvl72": (144, 576),
    "itp-like": (73, 584),
    "dally": (64, 512),
    "lwf": (16, 64),
    "pollux": (16, 64),
    "pollux-measured": (16, 64),
    "sjf-bsbf": (4, 16),
    "sjf-bsbf-sim": (16, 64),
    "muri": (8, 64),
    "gavel-sim": (27, 108),
    "tiresias": (15, 60),
    "tiresias-sim": (32, 128),
    "topdrl": (8, 32),
    "marl-fat-tree": (128, 1024),
}


def test_every_ready_cluster_is_checked_here() -> None:
    assert set(ready_clusters()) == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_ready_cluster(name: str) -> None:
    cluster = load_cluster(name)
    layout = cluster.layout()
    assert cluster.name == name
    assert (cluster.nodes, cluster.gpus) == PUBLISHED[name]
    assert (len(layout.node_gpus), layout.node_gpus.sum()) == PUBLISHED[name]
    assert len(cluster.source) > 40, "every ready cluster cites its figures"
    assert parse_cluster(cluster.to_yaml(), origin=name) == cluster


def test_philly_mixes_machines_of_two_and_eight() -> None:
    layout = load_cluster("philly").layout()
    assert sorted(set(layout.node_gpus.tolist())) == [2, 8]


def test_nvlink_may_span_a_rack() -> None:
    row = load_cluster("gb200-nvl72").layout().bandwidth_bytes_per_s[0].tolist()
    assert row[1:] == [900e9, 900e9, 50e9, 50e9]


def test_superpods_have_units_as_pods() -> None:
    assert load_cluster("dgx-a100-superpod").layout().node_pod.max() == 6
    assert load_cluster("dgx-h100-superpod").layout().node_pod.max() == 3


@pytest.mark.parametrize(("typed", "meant"), [("phily", "philly"), ("venus", "helios-venus"), ("Dally", "dally")])
def test_unknown_name(typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}'") as error:
        load_cluster(typed)
    assert "acme-kalos" in str(error.value), "all ready names are listed"
