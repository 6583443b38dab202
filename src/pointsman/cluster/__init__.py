"""What the hardware is: the `Cluster` file, ready clusters by name, the shorthand, and the arrays the engine reads."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster, cluster_schema
    from pointsman.cluster.graph import ClusterGraph
    from pointsman.cluster.layout import Layout
    from pointsman.cluster.load import load_cluster, ready_clusters
    from pointsman.cluster.openb import read_node_list

__all__ = ["Cluster", "ClusterGraph", "Layout", "cluster_schema", "load_cluster", "read_node_list", "ready_clusters"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Cluster": "cluster",
        "ClusterGraph": "graph",
        "Layout": "layout",
        "cluster_schema": "cluster",
        "load_cluster": "load",
        "read_node_list": "openb",
        "ready_clusters": "load",
    },
)
