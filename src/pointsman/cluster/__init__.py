"""What the hardware is: the `Cluster` file, ready clusters by name, the shorthand, and the arrays the engine reads."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster, cluster_schema
    from pointsman.cluster.layout import Layout
    from pointsman.cluster.load import load_cluster, ready_clusters
    from pointsman.cluster.openb import read_node_list

__all__ = ["Cluster", "Layout", "cluster_schema", "load_cluster", "read_node_list", "ready_clusters"]

_HOMES = {
    "Cluster": "cluster",
    "cluster_schema": "cluster",
    "Layout": "layout",
    "load_cluster": "load",
    "ready_clusters": "load",
    "read_node_list": "openb",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
