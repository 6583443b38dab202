"""Every real log at hand, from its own format through a simulation to its figures, audited where it is small."""

import math
from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.cluster import Cluster
from tests.free import simulate

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not here")

LOGS = [
    ("traces/alibaba_openb_2023.csv.gz", {}),
    ("traces/ms_itp_2021.csv.gz", {"vc": "cluster04"}),
    ("traces/philly_2017.csv.gz", {}),
    ("traces/tiresias_60.csv.gz", {}),
    ("samples/alibaba_gpu_v2023/openb_pod_list_default.csv", {}),
    ("samples/alibaba_gpu_v2023/openb_pod_list_gpushare100.csv", {}),
    ("samples/alibaba_gpu_v2023/openb_pod_list_gpuspec33.csv", {}),
    ("samples/alibaba_gpu_v2023/openb_pod_list_multigpu50.csv", {}),
    ("samples/gavel/ee9e8c.trace", {}),
    ("samples/gavel/max_min_fairness.trace", {}),
    ("samples/ms_itp_2021/cluster04.csv", {}),
    ("samples/ms_itp_2021/cluster10.csv", {}),
    ("samples/philly_pollux_derived/philly.csv", {}),
    ("samples/pollux/workload-1.csv", {}),
    ("samples/readme_examples_only/acme_trace_kalos.csv", {}),
    ("samples/readme_examples_only/acme_trace_seren.csv", {}),
    ("samples/readme_examples_only/alibaba_spot_job_info_df.csv", {}),
    ("samples/readme_examples_only/helios_cluster_log.csv", {}),
    ("samples/readme_examples_only/philly_cluster_job_log.json", {}),
    ("samples/tiresias/60_job.csv", {}),
]
AUDITED_JOBS = 500
PCIE = {"kind": "pcie", "bandwidth": "12 GB/s"}


def cluster_for(jobs: pl.DataFrame) -> Cluster:
    """Nodes of 8 GPUs of each type that is asked for: enough for the widest gang and for a load of about 0.8."""
    span_s = max(1.0, jobs["submit_s"].max() - jobs["submit_s"].min())
    busy = (jobs["gpus"] * jobs["duration_s"]).sum() / span_s
    count = min(800, max(math.ceil(busy / 0.8 / 8), math.ceil(jobs["gpus"].max() / 8)))
    asked = {kind for text in jobs["gpu_type"].drop_nulls().unique() for kind in text.replace("+", "|").split("|")}
    kinds = sorted(asked) or ["v100"]
    spec = {
        "gpu_types": {kind: {"memory": "32 GiB"} for kind in kinds},
        "node_types": {kind: {"gpus": 8, "gpu_type": kind, "interconnect": PCIE} for kind in kinds},
        "nodes": [{"type": kind, "count": count} for kind in kinds],
    }
    return Cluster.model_validate({"metadata": {"name": "sized by its demand"}, "spec": spec})


@pytest.mark.parametrize(("name", "only"), LOGS, ids=[name for name, _ in LOGS])
def test_log_to_figures(name: str, only: dict[str, str]) -> None:
    workload = pointsman.read_workload(DATA / name, only=only)
    small = len(workload.jobs) <= AUDITED_JOBS
    for policy in ("fifo-backfill", "srtf"):
        result = simulate(workload, cluster_for(workload.jobs), policy, log=small, audit=small)
        summary = pointsman.summarise(result)
        assert (result.jobs["state"] == "COMPLETED").all()
        assert result.jobs["run_s"].to_list() == pytest.approx(
            workload.jobs["duration_s"].round(3).to_list(), abs=2e-3
        ) or (workload.jobs["model"].null_count() < len(workload.jobs))
        assert summary["jobs"] == len(workload.jobs)
        assert summary["jct_mean_s"] >= summary["jct_lower_bound_s"] - 1e-3
