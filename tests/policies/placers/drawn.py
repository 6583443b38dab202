"""Clusters drawn in a test, and where gangs go on them.

A line is a rack, ``[#.|..]`` a node of it: ``|`` parts its sockets, ``.`` is a free GPU and ``#`` a busy one. In what
comes out ``A`` is the first gang, ``B`` the second.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import pointsman
from pointsman.report.result import Result
from tests.free import simulate

from ...engine.rate_models.two_sockets import head, profiles

BUSY_S = 1000.0
GANGS_COME_S = 10.0


def nodes_of(drawing: str) -> list[list[str]]:
    """Of each rack its nodes, as drawn between the brackets."""
    return [re.findall(r"\[(.*?)\]", line) for line in drawing.strip().splitlines()]


def cluster(
    folder: Path,
    drawing: str,
    node: Mapping[str, Any],
    network: Mapping[str, Any],
    topology: Mapping[str, Any] | None = None,
) -> str:
    """Each node is a partition of its own, so that jobs can be sent to it."""
    types, racks, n = {}, [], 0
    for rack in nodes_of(drawing):
        groups = []
        for drawn in rack:
            kind = f"x{len(drawn.replace('|', ''))}-{drawn.count('|') + 1}"
            types[kind] = {
                "gpus": len(drawn.replace("|", "")), "gpu_type": "v100", "cpus": 6, "sockets": drawn.count("|") + 1,
                "host": {"pcie": "0.9 GB/s", "memory": "3 GB/s", "socket_link": "0.2 GB/s"},
                "interconnect": {"kind": "pcie", "bandwidth": "1.5 GB/s", "latency": "0 s"}, **node,
            }  # fmt: skip
            groups.append({"type": kind, "count": 1, "partitions": [f"n{n}"]})
            n += 1
        racks.append({"nodes": groups})
    rows = (
        {"nodes": [group for rack in racks for group in rack["nodes"]], "topology": dict(topology)}
        if topology
        else {"racks": racks}
    )
    path = folder / "drawn.yaml"
    path.write_text(yaml.safe_dump(head("Cluster") | {"spec": {"node_types": types, "network": dict(network), **rows}}))
    return str(path)


def run(
    folder: Path,
    policy: str,
    drawing: str,
    gangs: Sequence[int | tuple[int, str]],
    *,
    models: Mapping[str, Any] | None = None,
    on: Mapping[int, str] | None = None,
    lasts_s: float = BUSY_S,
    come_s: Sequence[float] | None = None,
    node: Mapping[str, Any] | None = None,
    network: Mapping[str, Any] | None = None,
    topology: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """One job of each busy GPU, of the model `on` its node, submitted first; then the gangs, GPUs and perhaps model
    each, at one instant or when `come_s` says.
    """
    busy = [
        (n, drawn) for n, drawn in enumerate(chain.from_iterable(nodes_of(drawing))) for _ in range(drawn.count("#"))
    ]
    asked = [gang if isinstance(gang, tuple) else (gang, None) for gang in gangs]
    table = pl.DataFrame(
        {
            "submit_s": [0.0] * len(busy) + list(come_s or [GANGS_COME_S] * len(asked)),
            "gpus": [1] * len(busy) + [gpus for gpus, _ in asked],
            "duration_s": [BUSY_S] * len(busy) + [lasts_s] * len(asked),
            "partition": [f"n{n}" for n, _ in busy] + [None] * len(asked),
            "model": [(on or {}).get(n) for n, _ in busy] + [model for _, model in asked],
        },
        schema_overrides={"partition": pl.String, "model": pl.String},
    )
    with_models = {"profiles": [profiles(folder, models)]} if models else {}
    return simulate(
        pointsman.Workload.of(table), cluster(folder, drawing, node or {}, network or {}, topology), policy, audit=True,
        **with_models, **options,
    )  # fmt: skip


def drawn(result: Result, drawing: str) -> str:
    """The same drawing with the jobs where they started."""
    busy = drawing.count("#")
    cells = [["."] * len(node.replace("|", "")) for rack in nodes_of(drawing) for node in rack]
    assert result.events is not None
    for start in result.events.filter(pl.col("kind") == "START").to_dicts():
        letter = "#" if start["row"] < busy else chr(ord("A") + start["row"] - busy)
        for gpu in range(64):
            if start["gpu_mask"] >> gpu & 1:
                assert cells[start["node"]][gpu] == ".", "two jobs on a GPU"
                cells[start["node"]][gpu] = letter
    left = iter(cells)
    lines = []
    for rack in nodes_of(drawing):
        nodes = []
        for node in rack:
            marks = iter(next(left))
            nodes.append("[" + "".join("|" if c == "|" else next(marks) for c in node) + "]")
        lines.append(" ".join(nodes))
    return "\n".join(lines)


def where(folder: Path, policy: str, drawing: str, *gangs: int | tuple[int, str], **options: Any) -> str:
    """`drawing` with the gangs where `policy` puts them."""
    return drawn(run(folder, policy, drawing, gangs, **options), drawing)


def picture(text: str) -> str:
    """A drawing, however it is indented."""
    return "\n".join(" ".join(f"[{node}]" for node in rack) for rack in nodes_of(text))
