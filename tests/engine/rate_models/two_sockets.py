"""A small server with round figures, models that take round amounts of it, and jobs on the GPUs that a test names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import pointsman
from pointsman.engine.run.view import View
from pointsman.types import Reason
from tests.free import simulate

Gpus = tuple[tuple[int, int], ...]
"""(node, GPU) each."""


def head(kind: str) -> dict[str, Any]:
    return {"apiVersion": "pointsman/v1", "kind": kind, "metadata": {"name": "small"}}


def server(folder: Path, nodes: int = 1, **more: Any) -> str:
    """A cluster of nodes of 4 GPUs on two sockets: 6 cores, 0.9 GB/s of PCIe a socket, 3 GB/s to memory, 0.2 GB/s
    between the sockets. GPUs of a node exchange gradients at 1.5 GB/s.
    """
    node = {
        "gpus": 4, "gpu_type": "v100", "cpus": 6, "sockets": 2,
        "host": {"pcie": "0.9 GB/s", "memory": "3 GB/s", "socket_link": "0.2 GB/s"},
        "interconnect": {"kind": "pcie", "bandwidth": "1.5 GB/s", "latency": "0 s"},
    }  # fmt: skip
    spec = {"node_types": {"server": node | more}, "nodes": [{"type": "server", "count": nodes}]}
    path = folder / "cluster.yaml"
    path.write_text(yaml.safe_dump(head("Cluster") | {"spec": spec}))
    return str(path)


def profile(cores: float, mb_per_s: float, theta: float = 1.0, gradient_mb: float = 0.0) -> dict[str, Any]:
    """A model that computes for a second and hides no communication."""
    return {
        "title": "m", "gradient": {"bytes": gradient_mb * 1e6, "source": "ours"},
        "batch": {"per_gpu": 8, "source": "ours"},
        "memory": {"fixed_bytes": 1e9, "bytes_per_sample": 1e5, "source": "ours"},
        "overlap": {"delta": 1.0, "source": "ours"},
        "node": {
            "cores": {"per_gpu": cores, "theta": theta, "source": "ours"},
            "traffic": {"mb_per_s_per_gpu": mb_per_s, "theta": theta, "source": "ours"},
        },
        "compute": {"v100": {"alpha_s": 1.0, "beta_s_per_sample": 0.0, "source": "ours"}},
    }  # fmt: skip


def profiles(folder: Path, models: Mapping[str, dict[str, Any]]) -> str:
    path = folder / "profiles.yaml"
    path.write_text(yaml.safe_dump(head("ModelProfiles") | {"spec": {"models": dict(models)}}))
    return str(path)


@dataclass
class Named:
    """Starts each job, by row, on the GPUs given for it, when it arrives."""

    places: Sequence[Gpus]
    gpu_sharing: int = 1
    rate_model: str | None = None
    name: str = "named"
    needs: str = "none"

    def decide(self, view: View) -> None:
        rows = view.jobs["row"]
        for j in view.pending:
            assert view.start(j, self.places[rows[j]]) == Reason.OK


def run(folder: Path, jobs: Sequence[tuple[str | None, float, Gpus]], models: Mapping[str, Any], **options: Any) -> Any:
    """The result of jobs, each (model, duration in s, its GPUs), that are submitted at 0."""
    share = options.pop("gpu_sharing", 1)
    cluster = server(folder, nodes=1 + max(node for *_, place in jobs for node, _ in place), **options.pop("node", {}))
    rows = {
        "submit_s": [0.0] * len(jobs), "gpus": [len(place) for *_, place in jobs],
        "duration_s": [float(lasts) for _, lasts, _ in jobs], "model": [model for model, *_ in jobs],
    }  # fmt: skip
    for name in ("fraction", "submit_s"):
        rows |= {name: options.pop(name)} if name in options else {}
    table = pl.DataFrame(rows, schema_overrides={"model": pl.String})
    return simulate(
        pointsman.Workload.of(table), cluster, Named([place for *_, place in jobs], share), audit=True,
        profiles=[profiles(folder, models)], **{"node_interference": "table:kappa=0", **options},
    )  # fmt: skip


def ends_ms(result: Any) -> list[int]:
    return [round(1000 * end) for end in result.jobs["end_s"]]
