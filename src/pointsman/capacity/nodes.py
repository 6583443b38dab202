"""The nodes of a cluster in words."""

from collections import Counter

from pointsman.cluster.cluster import Cluster
from pointsman.inputs.messages import counted
from pointsman.report.units import count


def nodes_of(cluster: Cluster) -> str:
    """``12 nodes``, or ``12 nodes: 8 gpu, 4 debug`` by partition, or by type where no partition is named."""
    layout = cluster.layout()
    names = ["+".join(partitions) for partitions in layout.node_partitions]
    if not any(names):
        names = [layout.node_types[k] for k in layout.node_type]
    many = len(names)
    parts = Counter(names)
    told = ", ".join(f"{count(n)} {name or 'in no partition'}" for name, n in parts.items())
    return f"{counted(many, 'node')}{f': {told}' if len(parts) > 1 else ''}"
