"""The catalogue against the published measurements it was fitted to (skipped where they are not at hand)."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from pointsman.cluster import load_cluster
from pointsman.speed import iteration_time_s, load_catalogue, topology
from pointsman.types import Locality

PROFILES = Path(__file__).parents[3] / "shared" / "data" / "profiles"
CATALOGUE = load_catalogue()

pytestmark = pytest.mark.skipif(not PROFILES.is_dir(), reason=f"no measurements: {PROFILES} is absent")

Errors = dict[tuple[str, str], list[float]]


def relative_error(model: str, gpu: str, batch: float, measured_s: float) -> float:
    compute, assumed = CATALOGUE.compute(model, gpu)
    assert assumed is None, f"{model} on {gpu} is not in the catalogue"
    return abs(compute.time_s(batch) / measured_s - 1)


def rows(name: str) -> list[dict[str, str]]:
    with (PROFILES / name).open() as file:
        return list(csv.DictReader(file))


def gavel(source: str) -> Errors:
    errors: Errors = defaultdict(list)
    for r in rows("gavel_isolated.csv"):
        alone = r["source"] == source and r["n_gpus"] == "1" and r["placement"] == "consolidated"
        if alone and float(r["steps_per_s"]) > 0:
            batch = float(r["batch_size"]) or 1
            key = (r["model"], r["gpu_type"])
            errors[key].append(relative_error(*key, batch, 1 / float(r["steps_per_s"])))
    return errors


def pollux() -> Errors:
    errors: Errors = defaultdict(list)
    for r in rows("dl_step_times.csv"):
        if r["n_gpus"] == "1" and r["kind"] == "placements":
            key = (r["model"], "t4")
            errors[key].append(relative_error(*key, float(r["local_batch"]), float(r["step_time_s"])))
    return errors


def over_all(errors: Errors) -> float:
    return median(e for group in errors.values() for e in group)


def test_gavel_on_one_gpu():
    errors = gavel("gavel_physical")
    assert len(errors) == 21
    assert over_all(errors) < 0.04
    assert max(median(group) for group in errors.values()) < 0.10


def test_pollux_on_one_t4():
    errors = pollux()
    assert len(errors) == 6
    assert over_all(errors) < 0.03
    assert max(median(group) for group in errors.values()) < 0.15


def test_pollux_within_one_node():
    """Step times of 2 to 4 T4 of one node, with their all-reduce over PCIe, which nothing here was fitted to."""
    place = topology(load_cluster("1x4/gpu=t4").layout(), 0)
    ratios: Errors = defaultdict(list)
    for r in rows("dl_step_times.csv"):
        if r["kind"] == "placements" and r["n_nodes"] == "1" and r["n_gpus"] != "1":
            profile, (compute, _) = CATALOGUE.model(r["model"]), CATALOGUE.compute(r["model"], "t4")
            shape = place.shape(int(r["n_gpus"]), Locality.NODE)
            step_s = iteration_time_s(profile, compute, shape, place.network, float(r["local_batch"]))
            ratios[r["model"], "t4"].append(step_s / float(r["step_time_s"]))
    assert len(ratios) == 6
    assert all(0.7 < median(group) < 1.05 for group in ratios.values())


def test_fits_of_the_other_clusters_are_reproduced():
    gpu_of = {"azure": "v100", "dgx": "a100", "quad": "rtx6000", "rtx": "rtx2080ti"}
    compared = 0
    for r in rows("fit_single_gpu_linear.csv"):
        gpu, profile = gpu_of.get(r["cluster"], ""), CATALOGUE.model(r["model"])
        if gpu in profile.compute and profile.compute[gpu].source == "sia":
            compute = profile.compute[gpu]
            assert compute.alpha_s == pytest.approx(float(r["alpha_s"]), rel=1e-3)
            assert compute.beta_s_per_sample == pytest.approx(float(r["beta_s_per_sample"]), rel=1e-3)
            compared += 1
    assert compared == 21
