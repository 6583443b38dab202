"""``--congestion``: the bandwidth of a level divided, and durations meant as recorded without it."""

import numpy as np
import polars as pl
import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.congestion import congested
from pointsman.errors import UsageError
from pointsman.types import Locality
from pointsman.workload import Workload
from tests.free import simulate

CLUSTER = "4x4/rack=2,gpu=v100"
LAYOUT = load_cluster(CLUSTER).layout()


def jobs(model: str | None, gpus: int = 8) -> Workload:
    return Workload.of(
        pl.DataFrame({"submit_s": [0.0], "gpus": [gpus], "duration_s": [1000.0], "model": [model]}), source="test"
    )


def test_a_level_has_its_own_factor_before_that_of_the_network_and_nodes_have_none():
    slow = congested(LAYOUT, {"network": 4, "rack": 2}).bandwidth_bytes_per_s
    assert (LAYOUT.bandwidth_bytes_per_s[0, Locality.NODE :] / slow[0, Locality.NODE :]).tolist() == [1, 2, 4, 4]


def test_a_gang_at_its_best_place_is_slower_than_its_record_and_one_on_a_node_is_not():
    plain, slow = (simulate(jobs("vgg16"), CLUSTER, "fifo", congestion=c) for c in ({}, {"rack": 16}))
    assert plain.jobs["jct_s"][0] == 1000 < slow.jobs["jct_s"][0]
    assert slow.jobs["comm_s"][0] > 10 * plain.jobs["comm_s"][0]
    assert simulate(jobs("vgg16", 4), CLUSTER, "fifo", congestion={"network": 16}).jobs["jct_s"][0] == 1000
    assert slow.info["congestion"] == {"rack": 16}


@pytest.mark.parametrize(
    ("model", "congestion", "said"),
    [
        ("vgg16", {"rack": 4}, "the congestion rack=4 divides the bandwidth of links within a rack"),
        ("vgg16", {"cluster": 4}, "the congestion cluster=4 is of no effect: the cluster has one pod"),
        (None, {"network": 4}, "the congestion network=4 is of no effect: no job names a model"),
    ],
)
def test_a_run_says_what_it_did(model, congestion, said):
    assumptions = simulate(jobs(model), CLUSTER, "fifo", congestion=congestion).info["assumptions"]
    assert [one for one in assumptions if said in one]


@pytest.mark.parametrize(
    ("congestion", "said"),
    [
        ({"rak": 4}, "congestion.rak: must be 'rack', 'pod', 'cluster' or 'network', not 'rak'"),
        ({"rack": 0.5}, "congestion.rack: must be greater than or equal to 1, not 0.5"),
        ({"rack": 1e7}, "congestion.rack: must be less than or equal to 1000000, not 10000000.0"),
        ("network=16", "congestion: must be a mapping, not 'network=16'"),
        ({"pod": "four"}, "congestion.pod: must be a number, not 'four'"),
        ({"pod": np.inf}, "congestion.pod: must be a finite number, not inf"),
        ({"pod": np.nan}, "congestion.pod: must be a finite number, not nan"),
    ],
)
def test_nonsense_is_refused(congestion, said):
    with pytest.raises(UsageError) as error:
        simulate(jobs("vgg16"), CLUSTER, "fifo", congestion=congestion)
    assert said in str(error.value)
