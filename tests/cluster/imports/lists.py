"""Lists of nodes, and what is read of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman.cluster.imports.assemble import Imported
from pointsman.cluster.imports.read import import_nodes

CASES = Path(__file__).parents[4] / "shared" / "field" / "cases"


def case(name: str) -> Path:
    """A field case, or skips where there are none."""
    if not CASES.exists():
        pytest.skip("the field cases (../shared/field/cases) are not here")
    return CASES / name


def node(name: str, resources: Mapping[str, object], labels: Mapping[str, str] | None = None, **more: Any) -> dict:
    """A Node of Kubernetes."""
    status = {"capacity": {"cpu": "64", "memory": "512Gi", "pods": "110", **resources}, **more.pop("status", {})}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels or {}, **more}, "status": status}


def read(text: str, folder: Path, *args: Any) -> Imported:
    (folder / "nodes.txt").write_text(text)
    return import_nodes(folder / "nodes.txt", *args)


def kubernetes(folder: Path, *nodes: Mapping[str, Any]) -> Imported:
    return read(json.dumps({"kind": "List", "items": nodes}), folder)


def gpus(imported: Imported) -> dict[str, tuple[int, str]]:
    """GPUs of each node and their type."""
    layout = imported.cluster.layout()
    types = (layout.gpu_types[kind] for kind in layout.node_gpu_type)
    return {
        name: (count, kind)
        for name, count, kind in zip(layout.node_names, layout.node_gpus.tolist(), types, strict=True)
    }


def places(imported: Imported) -> dict[str, tuple[int, int]]:
    """Rack and pod of each node."""
    layout = imported.cluster.layout()
    return dict(
        zip(layout.node_names, zip(layout.node_rack.tolist(), layout.node_pod.tolist(), strict=True), strict=True)
    )


def notes(imported: Imported) -> str:
    return "\n".join(imported.notes)
