"""Every real trace and published sample at hand, end to end: a job list is read, anything else is named."""

from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.workload import Workload, read_workload

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not here")

TRACES = {"alibaba_openb_2023": 8_152, "ms_itp_2021": 51_245, "philly_2017": 82_247, "tiresias_60": 60}
SAMPLES = {
    "alibaba_gpu_v2023/openb_pod_list_default.csv": "openb",
    "alibaba_gpu_v2023/openb_pod_list_gpushare100.csv": "openb",
    "alibaba_gpu_v2023/openb_pod_list_gpuspec33.csv": "openb",
    "alibaba_gpu_v2023/openb_pod_list_multigpu50.csv": "openb",
    "gavel/ee9e8c.trace": "gavel",
    "gavel/max_min_fairness.trace": "gavel",
    "ms_itp_2021/cluster04.csv": "itp",
    "ms_itp_2021/cluster10.csv": "itp",
    "philly_pollux_derived/philly.csv": "philly-csv",
    "pollux/workload-1.csv": "pollux",
    "readme_examples_only/acme_trace_kalos.csv": "acme",
    "readme_examples_only/acme_trace_seren.csv": "acme",
    "readme_examples_only/alibaba_spot_job_info_df.csv": "alibaba-spot",
    "readme_examples_only/helios_cluster_log.csv": "helios",
    "readme_examples_only/philly_cluster_job_log.json": "philly-json",
    "tiresias/60_job.csv": "tiresias",
}


def files(folder):
    return sorted(str(path.relative_to(DATA / folder)) for path in (DATA / folder).rglob("*") if path.is_file())


def assert_whole(workload: Workload):
    jobs, quality = workload.jobs, workload.quality
    assert quality.rows_read == quality.kept + sum(quality.dropped.values()) + sum(quality.merged.values())
    assert quality.kept == jobs.height
    assert jobs["submit_s"].is_sorted()
    assert (jobs["gpus"] >= 1).all()
    assert (jobs["duration_s"] >= 0).all()


@pytest.mark.parametrize("name", TRACES)
def test_traces(name):
    workload = read_workload(DATA / "traces" / f"{name}.csv.gz")
    assert workload.quality.rows_read == TRACES[name]
    assert workload.provenance.format == "gathered"
    assert_whole(workload)


@pytest.mark.parametrize("name", files("samples"))
def test_samples(name):
    path = DATA / "samples" / name
    if name not in SAMPLES:
        with pytest.raises(InputError, match="this is "):
            read_workload(path)
        return
    workload = read_workload(path)
    assert workload.provenance.format == SAMPLES[name]
    assert_whole(workload)


@pytest.mark.parametrize("folder", ["clusters", "profiles", "timeseries"])
def test_tables_of_other_things_are_refused(folder):
    for name in files(folder):
        with pytest.raises(InputError):
            read_workload(DATA / folder / name)


def test_one_cluster_of_itp_is_the_same_from_both_copies():
    gathered = read_workload(DATA / "traces/ms_itp_2021.csv.gz", only={"vc": "cluster10"}).jobs
    original = read_workload(DATA / "samples/ms_itp_2021/cluster10.csv").jobs
    columns = ["job_id", "gpus", "duration_s"]
    assert gathered.select(columns).sort("job_id").equals(original.select(columns).sort("job_id"))


def test_gavel_gives_back_the_run_times_of_the_philly_jobs_it_was_made_of():
    """Where both traces have a job at the same instant of ee9e8c with as many GPUs, the run times agree."""
    philly = read_workload(DATA / "traces/philly_2017.csv.gz", only={"vc": "ee9e8c"}).jobs
    gavel = read_workload(DATA / "samples/gavel/ee9e8c.trace").jobs
    shifted = gavel.with_columns(pl.col("submit_s") + 860_459)
    pairs = shifted.join(philly, on=["submit_s", "gpus"])
    assert pairs.height > 400
    exact = pairs.filter((pl.col("duration_s") - pl.col("duration_s_right")).abs() < 5)
    assert exact.height / pairs.height > 0.9
