"""The tables that the engine looks up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.speed import distinct, iteration_time_s, load_catalogue, tabulate, topology
from pointsman.types import Locality

CATALOGUE = load_catalogue()
MODELS = sorted(CATALOGUE.models)
SLOW = load_cluster("16x4/rack=4,gpu=v100").layout()
GPU_COUNTS = [1, 2, 4, 8, 16, 64]


def test_rows_are_profile_major_and_a_job_without_a_model_runs_at_one():
    layout = load_cluster("alibaba-openb-2023").layout()
    tables = tabulate(layout, [(None, 1, None), ("bert", 2, None), (None, 8, 32)])
    types = len(layout.gpu_types)
    assert types > 1 and tables.rate.shape == (3 * types, 5) and tables.rate.dtype == np.float64
    assert (tables.rate[:types] == 1).all() and (tables.rate[2 * types :] == 1).all()
    assert (tables.rate[types : 2 * types, Locality.RACK] < 1).any()
    assert np.isnan(tables.iteration_s[:types]).all()


@given(st.sampled_from(MODELS), st.integers(1, 80), st.sampled_from([None, 1, 7, 512]))
def test_the_best_locality_is_exactly_one_and_no_looser_one_is_faster(model, gpus, batch):
    # without latency: with it, two short rings may take fewer steps than a long one (docs/background/speed.md)
    tables = tabulate(replace(SLOW, latency_s=np.zeros_like(SLOW.latency_s)), [(model, gpus, batch)])
    assert (tables.rate[0, : tables.best[0] + 1] == 1.0).all()
    assert (np.diff(tables.rate[0]) <= 1e-12).all() and (tables.rate > 0).all()


def test_latency_moves_no_rate_above_one_by_more_than_a_percent():
    tables = tabulate(SLOW, [(model, gpus, None) for model in MODELS for gpus in range(2, 80)])
    assert tables.rate.min() > 0 and tables.rate.max() < 1.01


@given(st.sampled_from(MODELS), st.integers(2, 64))
def test_a_congested_network_never_raises_the_rate_of_a_gang_that_fits_a_node(model, gpus):
    fast, slow = (load_cluster(f"8x64/rack=2,gpu=v100,nic={gbps}Gbps").layout() for gbps in (400, 25))
    demand = [(model, gpus, None)]
    assert (tabulate(slow, demand).rate <= tabulate(fast, demand).rate + 1e-12).all()


def test_a_rate_by_hand():
    # 8 GPUs of VGG-16 on nodes of 4: a rack at best; in two racks the bytes are the same and half as far apart
    vgg, place = CATALOGUE.model("vgg16"), topology(SLOW, 0)
    compute, _ = CATALOGUE.compute("vgg16", "v100")
    tables = tabulate(SLOW, [("vgg16", 2, 32)])
    node = iteration_time_s(vgg, compute, place.shape(2, Locality.NODE), place.network, 32)
    card = 4 * 25e9 / 8  # of the node: each of the two GPUs has one to itself
    rack = vgg.gradient.bytes / card + 2 * place.network.latency_s[Locality.RACK]
    t = compute.alpha_s + 32 * compute.beta_s_per_sample
    assert place.network.bandwidth_bytes_per_s[Locality.RACK] == 25e9 / 8
    assert tables.rate[0, Locality.RACK] == pytest.approx(node / np.hypot(t, rack))


def test_the_default_batch_is_the_profiles():
    a, b = tabulate(SLOW, [("gpt2", 8, None), ("gpt2", 8, 4)]).rate
    assert (a == b).all()


def test_a_small_gradient_hardly_feels_where_it_runs_and_a_large_one_does():
    light, heavy = tabulate(SLOW, [("a2c", 4, None), ("vgg16", 4, None)]).rate[:, Locality.CLUSTER]
    assert heavy < 0.97 < 0.99 < light


def test_a_reference_type_makes_types_differ():
    layout = load_cluster("alibaba-openb-2023").layout()
    t4, v100 = (next(i for i, t in enumerate(layout.gpu_types) if t.upper().startswith(n)) for n in ("T4", "V100"))
    own = tabulate(layout, [("resnet50", 1, 64)])
    of_v100 = tabulate(layout, [("resnet50", 1, 64)], reference_gpu_type="v100")
    (a, _), (b, _) = CATALOGUE.compute("resnet50", "v100"), CATALOGUE.compute("resnet50", "t4")
    assert own.rate[t4, 0] == own.rate[v100, 0] == of_v100.rate[v100, 0] == 1.0
    assert of_v100.rate[t4, 0] == pytest.approx(a.time_s(64) / b.time_s(64))


def test_what_was_assumed_is_said():
    tables = tabulate(load_cluster("2x8/gpu=h100").layout(), [("vgg16", 2, None), ("vgg16", 4, None)])
    assert tables.assumptions == ("vgg16 on h100: no measurement, 0.5 times its time on a100",)
    assert tabulate(SLOW, [("vgg16", 2, None)]).assumptions == ()


def test_no_jobs():
    assert tabulate(SLOW, []).rate.shape == (0, 5)


@pytest.mark.parametrize(
    ("demand", "says"),
    [
        (("bret", 1, None), "did you mean 'bert'"),
        (("bert", 0, None), "asks for 0 GPUs"),
        (("bert", 1, 0), "batch of 0"),
        (("bert", 1, -3), "batch of -3"),
    ],
)
def test_bad_demands_are_refused(demand, says):
    with pytest.raises(UsageError, match=says):
        tabulate(SLOW, [demand])


def test_an_unknown_reference_type_is_refused():
    with pytest.raises(UsageError, match=r"unknown GPU type 'v1000' \(did you mean 'v100'"):
        tabulate(SLOW, [("bert", 1, None)], reference_gpu_type="v1000")


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([None, "bert", "ncf"]), st.sampled_from(GPU_COUNTS), st.none()), max_size=30))
def test_distinct_demands_stand_for_all(demands):
    few, of_job = distinct(demands)
    assert len(set(few)) == len(few)
    assert [tuple(few[i])[:3] for i in of_job] == demands
