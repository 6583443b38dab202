"""The cell of the placement benchmarks: 64 servers of 4 GPUs on 10 Gb/s, DL2's eight models, `--contention duty-cycle`
and `--node-interference table` (``docs/papers/marl.md``).
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import yaml

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.run.result import Result
from pointsman.errors import UsageError

MODELS: Final = ("resnet50", "vgg16", "resnext110", "inception_bn", "seq2seq", "cnn_text", "dssm", "wlm")
SIZES: Final = {
    "philly": ((1, 2, 4, 8, 16), (0.70, 0.08, 0.08, 0.10, 0.04)),
    "1-8": ((1, 2, 4, 8), (0.25,) * 4),
    "1-16": (tuple(range(1, 17)), (1 / 16,) * 16),
}
"""GPUs of jobs, and the share of the jobs that ask for so many."""
OPTIONS: Final = {"contention": "duty-cycle", "node_interference": "table"}
SERVERS: Final = 64
GPUS: Final = 4
LOG_MEAN, LOG_SIGMA, LONGEST_S = 9.02, 1.22, 2 * 86400.0
"""Of the durations of ITP's log, in seconds."""


def cluster(folder: Path, servers: int = SERVERS, oversubscription: float = 1.0, per_rack: int = 3) -> str:
    """A fat tree of servers, by default three to a rack, three racks to a pod."""
    pod = {"oversubscription": oversubscription}
    racks = {"nodes_per_rack": per_rack, "racks_per_pod": 3}
    return _written(folder / f"servers-{servers}-{oversubscription:g}-{per_rack}.yaml", servers, racks, pod)


def on_topology(folder: Path, text: str) -> tuple[str, int]:
    """Such servers in a topology like ``bcube:11x1``, and how many it has."""
    spec = load_cluster(text).spec
    if spec.topology is None:
        raise UsageError(f"{text!r} is no topology, like bcube:11x1 or vl2:8x8/rack=8")
    servers = spec.topology.kind.shape.nodes
    racks = {"topology": spec.topology.model_dump(by_alias=True, exclude_none=True)}
    return _written(folder / "topology.yaml", servers, racks, {}), servers


def _written(path: Path, servers: int, racks: dict[str, Any], pod: dict[str, float]) -> str:
    """A cluster of servers of 2 sockets with 6 cores and 2 GPUs each."""
    server = {
        "gpus": GPUS, "gpu_type": "gtx1080ti", "cpus": 12, "sockets": 2, "nic": {"bandwidth": "10 Gb/s"},
        "interconnect": {"kind": "pcie", "bandwidth": "10 GB/s", "latency": "0 s"},
    }  # fmt: skip
    spec: dict[str, Any] = {
        "node_types": {"server": server}, "nodes": [{"type": "server", "count": servers}], **racks,
        "network": {level: {"latency": "0 s"} for level in ("rack", "pod", "cluster")},
    }  # fmt: skip
    spec["network"]["pod"] |= pod
    head = {"apiVersion": "pointsman/v1", "kind": "Cluster", "metadata": {"name": path.stem}}
    path.write_text(yaml.safe_dump(head | {"spec": spec}))
    return str(path)


def workload(sizes: str, load: float, jobs: int, seed: int, servers: int = SERVERS) -> pointsman.Workload:
    """Jobs that arrive evenly by chance; `load` is the share of the GPUs' time that they would take unhindered."""
    draw = np.random.default_rng(seed)
    gpus = draw.choice(SIZES[sizes][0], jobs, p=SIZES[sizes][1])
    model = draw.choice(len(MODELS), jobs)
    duration_s = np.minimum(draw.lognormal(LOG_MEAN, LOG_SIGMA, jobs), LONGEST_S)
    span_s = float((gpus * duration_s).sum()) / (servers * GPUS * load)
    submit_s = np.sort(draw.uniform(0, span_s, jobs))
    names = [MODELS[k] for k in model]
    table = {"submit_s": submit_s, "gpus": gpus, "duration_s": duration_s, "model": names}
    return pointsman.Workload.of(pl.DataFrame(table))


def run(jobs: pointsman.Workload, on: str, policy: str, **options: Any) -> Result:
    """The jobs under a policy, with the options of the cell."""
    return pointsman.simulate(jobs, on, policy, log=False, **(OPTIONS | options))


def mean_jct_s(result: Result) -> float:
    """Of all jobs."""
    return float((result.jobs["end_s"] - result.jobs["submit_s"]).mean())
