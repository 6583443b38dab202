"""Goodput: what a job learns on each number of GPUs if it adapts its batch."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pointsman.cluster import load_cluster
from pointsman.speed import load_catalogue, tabulate
from pointsman.speed.laws.noise import NOISE, Noise, efficiency
from pointsman.speed.tables.goodput import BINS, choices, goodput_table
from pointsman.types import LOCALITIES, Locality
from pointsman.workload.readers.pollux_applications import APPLICATIONS

CATALOGUE = load_catalogue()
POLLUX = load_cluster("pollux").layout()
MEASURED = {"bert": "bert", "cifar10": "resnet18", "deepspeech2": "deepspeech2", "imagenet": "resnet50",
            "ncf": "ncf", "yolov3": "yolov3"}  # fmt: skip
STATISTICS = Path(__file__).parents[3] / "shared/data/profiles/convergence_validation.csv"


def rates(*demands, layout=POLLUX, max_gpus=64, **options):
    """(demand and GPU type, bin, GPUs, locality)."""
    tables = tabulate(layout, demands, catalogue=CATALOGUE, **options)
    table = goodput_table(layout, demands, CATALOGUE, tables, max_gpus)
    assert table.shape == (len(tables.rate) * BINS, (max_gpus + 1) * LOCALITIES)
    return table.reshape(len(tables.rate), BINS, max_gpus + 1, LOCALITIES)


def noise_of(monkeypatch, model, **changes):
    found = NOISE[model]
    monkeypatch.setitem(NOISE, model, Noise(**{**vars(found), **changes}))


def test_without_noise_a_larger_batch_teaches_nothing(monkeypatch):
    # every iteration is worth the same: the job keeps the least batch, here its own, and its rate is the table's
    noise_of(monkeypatch, "resnet50", initial=10**6, tenths=(1e-9,) * 10)
    demand = ("resnet50", 4, 64)
    table = tabulate(POLLUX, [demand], catalogue=CATALOGUE)
    found = rates(demand)[0, :, 4, Locality.NODE :]
    assert found == pytest.approx(np.tile(table.rate[0, Locality.NODE :], (BINS, 1)), rel=1e-6)


def test_with_endless_noise_only_throughput_counts(monkeypatch):
    # compute only: m / (passes · α + β m) is best where passes are full
    noise_of(monkeypatch, "resnet18", initial=128, limit=10**6, tenths=(1e18,) * 10)
    compute, _ = CATALOGUE.compute("resnet18", "t4")
    room = int((POLLUX.gpu_memory_bytes[0] - 1.204e9) / 1.2e7)
    full = room / (compute.alpha_s + compute.beta_s_per_sample * room)
    own = 128 / (compute.alpha_s + compute.beta_s_per_sample * 128)
    found = rates(("resnet18", 1, 128))[0, :, 1, 0]
    assert (found <= full / own + 1e-9).all() and found == pytest.approx(full / own, rel=0.005)


def test_one_gpu_by_hand():
    # every batch there is: m / (passes · α + β m) · (φ + m0) / (φ + m)
    compute, _ = CATALOGUE.compute("yolov3", "t4")
    room = int((POLLUX.gpu_memory_bytes[0] - 1.813e9) / 1e9)
    m = np.arange(8, 513)
    seconds = np.ceil(m / room) * compute.alpha_s + m * compute.beta_s_per_sample
    own = compute.alpha_s + 8 * compute.beta_s_per_sample
    found = rates(("yolov3", 1, 8))[0, :, 1, 0]
    for scale, rate in zip(NOISE["yolov3"].by_work(8, BINS), found, strict=True):
        best = (m / seconds * (scale + 8) / (scale + m)).max() / (8 / own)
        assert 0.98 * best < rate <= best + 1e-9


@pytest.mark.parametrize("model", sorted(NOISE))
@pytest.mark.parametrize("gpus", [1, 3, 8, 32])
def test_on_the_gpus_asked_for_a_job_loses_nothing_by_adapting(model, gpus):
    best = tabulate(POLLUX, [(model, gpus, None)], catalogue=CATALOGUE).best[0]
    assert (rates((model, gpus, None))[0, :, gpus, best] >= 1 - 1e-12).all()


def test_what_adapting_gains_grows_with_the_noise_and_a_job_at_the_limit_gains_nothing():
    assert (rates(("bert", 16, 24))[0, :, 16, Locality.RACK] == 1).all()
    small = rates(("resnet18", 16, 8))[0, :, 16, Locality.RACK]
    assert (np.diff(small) > -0.01).all() and small[-1] > 2 * small[0] > 2


@pytest.mark.parametrize("model", ["bert", "resnet50", "resnet18", "deepspeech2", "yolov3"])
def test_more_gpus_of_whole_nodes_learn_faster_but_ever_less_so(model):
    whole = rates((model, 4, None))[0, :, 4:65:4]
    best = np.maximum(whole[..., Locality.NODE], whole[..., Locality.RACK])
    assert (np.diff(best, axis=1) > -0.02 * best[:, 1:]).all()
    per_gpu = best / np.arange(4, 65, 4)
    assert (np.diff(per_gpu, axis=1) < 1e-3 * per_gpu[:, 1:]).all()


def test_looser_places_are_no_faster():
    layout = load_cluster("16x4/rack=4,gpu=v100").layout()
    found = rates(("resnet50", 8, None), layout=layout)[0]
    for n in range(2, 65):
        given = found[:, n][:, found[0, n] > 0]
        # but for a thousandth: two short rings may take fewer steps than a long one
        assert (np.diff(given, axis=1) <= 1e-3).all() and given.shape[1] >= 2


def test_where_no_gang_can_be_there_is_no_rate():
    found = rates(("bert", 4, 8), max_gpus=70)[0]
    assert (found[:, 0] == 0).all() and (found[:, 65:] == 0).all()
    assert (found[:, 1, 1:] == 0).all() and (found[:, 1, 0] > 0).all()
    assert (found[:, 2:65, Locality.GPU] == 0).all()
    assert (found[:, 5:65, Locality.NODE] == 0).all() and (found[:, 2:5, Locality.NODE] > 0).all()
    assert (found[:, 2:65, Locality.RACK] > 0).all()


def test_jobs_without_a_model_or_a_noise_scale_are_rigid():
    found = rates((None, 4, None), ("llama2_7b", 8, None), ("bert", 1, None))
    assert (found[:2] == 0).all() and (found[2] > 0).any()


def test_rows_follow_the_types_of_gpu_and_durations_of_one_type_make_them_differ():
    layout = load_cluster("alibaba-openb-2023").layout()
    v100, t4 = (next(i for i, t in enumerate(layout.gpu_types) if t.upper().startswith(n)) for n in ("V100", "T4"))
    own = rates(("resnet50", 1, 64), layout=layout, max_gpus=8)
    of_v100 = rates(("resnet50", 1, 64), layout=layout, max_gpus=8, reference_gpu_type="v100")
    assert own[v100] == pytest.approx(of_v100[v100])
    assert (of_v100[t4][:, 1, 0] < own[t4][:, 1, 0]).all()


def test_batches_are_whole_fit_and_stay_in_bounds():
    found = choices(12, 384, 100, 10, 64)
    taken = found.samples > 0
    gpus = np.arange(1, 65)[:, None]
    assert (found.per_pass <= 10).all() and (found.samples[taken] <= 384).all() and (found.samples[taken] >= 12).all()
    assert (np.where(taken, found.per_pass * found.passes * gpus, 0) == found.samples).all()
    assert taken.any(axis=1).all()


def test_efficiency_is_one_at_its_base_and_halves_where_the_batch_is_twice_scale_and_base():
    assert efficiency(50.0, 8, 8) == 1.0
    assert efficiency(92.0, 208, 58) == 0.5


def test_noise_grows_with_progress_and_a_large_batch_spends_longer_on_the_beginning():
    for noise in NOISE.values():
        small, large = noise.by_work(noise.initial, BINS), noise.by_work(noise.limit, BINS)
        assert (large <= 1.3 * small).all() and (np.diff(small) > -0.3 * small[1:]).all()
        assert noise.tenths[-1] > 1.5 * noise.tenths[0]


@pytest.mark.parametrize("application", sorted(APPLICATIONS))
def test_noise_explains_the_iterations_that_each_batch_took(application):
    noise, measured = NOISE[MEASURED[application]], APPLICATIONS[application].iterations
    progress = (np.arange(1000) + 0.5) / 1000
    for batch, iterations in measured.items():
        worth = efficiency(noise.scale(progress), batch, noise.initial) * batch / noise.initial
        assert np.mean(1 / worth) * measured[noise.initial] == pytest.approx(iterations, rel=0.08)


@pytest.mark.skipif(not STATISTICS.exists(), reason="the published statistics are not here (../shared/data)")
@pytest.mark.parametrize("application", sorted(APPLICATIONS))
def test_noise_agrees_with_the_published_gradient_statistics(application):
    """Variance over squared norm, in samples: of the batch in the middle of those measured, by tenths (medians)."""
    noise = NOISE[MEASURED[application]]
    with STATISTICS.open() as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == application]
    sizes = sorted({int(row["batch_size"]) for row in rows})
    own = [row for row in rows if int(row["batch_size"]) == sizes[len(sizes) // 2] and float(row["grad_sqr"]) > 0]
    scale = [noise.initial * float(row["grad_var"]) / float(row["grad_sqr"]) for row in own]
    late = np.median(scale[len(scale) // 2 :])
    assert 0.2 < late / np.median(noise.tenths[5:]) < 5
