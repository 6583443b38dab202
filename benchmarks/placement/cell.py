"""The cell of the placement benchmarks: 64 servers of 4 GPUs on 10 Gb/s, DL2's eight models, `--contention duty-cycle`
and `--node-interference table` (``docs/papers/marl.md``).
"""

import math
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

import yaml

import pointsman
from benchmarks.results.contestant import Setting
from pointsman.cluster import Cluster, load_cluster
from pointsman.errors import UsageError
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.result import Result
from pointsman.workload.generator.dl2 import dl2

SIZES: Final = ("philly", "1-8", "1-16")
OPTIONS: Final = {"contention": "duty-cycle", "node_interference": "table"}
BLIND: Final = ("lb", "tetris-place", "lif")
"""Placers that know nothing of the topology: those that the paper is said to be better than."""
SERVERS: Final = 64
GPUS: Final = 4
CPUS: Final = 12
"""Three cores a GPU."""
NIC_GBPS: Final = 10.0


def cluster(
    folder: Path,
    servers: int = SERVERS,
    oversubscription: float = 1.0,
    per_rack: int = 3,
    cpus: int = CPUS,
    nic_gbps: float = NIC_GBPS,
) -> str:
    """A fat tree of servers, by default three to a rack, three racks to a pod."""
    pod = {"oversubscription": oversubscription}
    racks = {"nodes_per_rack": per_rack, "racks_per_pod": 3}
    other = f"-{cpus}-cores" * (cpus != CPUS) + f"-{nic_gbps:g}-gbps" * (nic_gbps != NIC_GBPS)
    path = folder / f"servers-{servers}-{oversubscription:g}-{per_rack}{other}.yaml"
    return _written(path, servers, {**racks, "network": _network(pod)}, nic_gbps, cpus)


def on_topology(folder: Path, text: str, nic_gbps: float = NIC_GBPS, cpus: int = CPUS) -> tuple[str, int]:
    """Such servers in a topology like ``bcube:11x1``, with other cards or cores if wanted, and how many it has."""
    spec = load_cluster(text).spec
    if spec.topology is None:
        raise UsageError(f"{text!r} is no topology, like bcube:11x1 or vl2:8x8/rack=8")
    servers = spec.topology.kind.shape.nodes
    shape = {"topology": spec.topology.model_dump(by_alias=True, exclude_none=True), "network": _network({})}
    path = folder / f"{re.sub('[:/=]', '-', text)}-{nic_gbps:g}-{cpus}.yaml"
    return _written(path, servers, shape, nic_gbps, cpus), servers


def _network(pod: dict[str, float]) -> dict[str, Any]:
    """Free of latency."""
    levels: dict[str, dict[str, Any]] = {level: {"latency": "0 s"} for level in ("rack", "pod", "cluster")}
    return levels | {"pod": levels["pod"] | pod}


def _written(path: Path, servers: int, shape: dict[str, Any], nic_gbps: float, cpus: int) -> str:
    """A cluster of servers of 2 sockets with 2 GPUs each."""
    server = {
        "gpus": GPUS, "gpu_type": "gtx1080ti", "cpus": cpus, "sockets": 2, "nic": {"bandwidth": f"{nic_gbps:g} Gb/s"},
        "interconnect": {"kind": "pcie", "bandwidth": "10 GB/s", "latency": "0 s"},
    }  # fmt: skip
    spec = {"node_types": {"server": server}, "nodes": [{"type": "server", "count": servers}], **shape}
    head = {"apiVersion": "pointsman/v1", "kind": "Cluster", "metadata": {"name": path.stem}}
    path.write_text(yaml.safe_dump(head | {"spec": spec}))
    return str(path)


def workload(sizes: str, load: float, jobs: int, seed: int, servers: int = SERVERS) -> pointsman.Workload:
    """Jobs that arrive evenly by chance; `load` is the share of the GPUs' time that they would take unhindered."""
    return dl2(f"dl2-{sizes}", jobs, seed, cluster_gpus=servers * GPUS, load=load)


def run(jobs: pointsman.Workload, on: str, policy: Any, **options: Any) -> Result:
    """The jobs under a policy, with the options of the cell."""
    return pointsman.simulate(jobs, on, policy, log=False, **({"overheads": "none"} | OPTIONS | options))


def mean_jct_s(result: Result) -> float:
    """Of all jobs."""
    return float((result.jobs["end_s"] - result.jobs["submit_s"]).mean())


class OnFile(Protocol):
    """A cell whose cluster is a file."""

    def cluster(self, folder: Path) -> tuple[str, int]:
        """The file, written into `folder`, and how many servers it has."""
        ...


def loaded(cell: OnFile) -> tuple[Cluster, int]:
    """The cluster of a cell, and how many servers it has."""
    with TemporaryDirectory() as folder:
        on, servers = cell.cluster(Path(folder))
        return load_cluster(on), servers


def setting(jobs: pointsman.Workload, on: Cluster, warmup: float = 0.0, **options: Any) -> Setting:
    """Of a run behind a page."""

    def unhindered(result: Result) -> dict[str, float]:
        counted = is_submitted_in(result.jobs, submit_window(result, (warmup * submit_window(result).to_s, math.inf)))
        return {"duration_mean_s": float(result.jobs.filter(counted)["duration_s"].mean())}  # ty: ignore

    return Setting(jobs, on, {"overheads": "none"} | OPTIONS | options, warmup, unhindered)
