"""A cluster as its file describes it: the hardware under a name."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pointsman.cluster.parts import Metadata, NodeType, Part
from pointsman.cluster.spec import ClusterSpec, Piece
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.cluster.graph import ClusterGraph
    from pointsman.cluster.layout import Layout


class Cluster(Part):
    """A cluster as its file describes it (``docs/formats/cluster-yaml.md``)."""

    api_version: Literal["pointsman/v1"] = Field("pointsman/v1", alias="apiVersion")
    kind: Literal["Cluster"] = "Cluster"
    metadata: Metadata
    spec: ClusterSpec

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.metadata.name

    @property
    def source(self) -> str:
        """Citation of the figures, and which are assumptions."""
        return self.metadata.source

    @property
    def gpus(self) -> int:
        """All GPUs of the cluster."""
        return sum(piece.count * self._type_of(piece).gpus for piece in self.spec.pieces())

    @property
    def nodes(self) -> int:
        """Nodes that have GPUs."""
        return sum(piece.count for piece in self.spec.pieces() if self._type_of(piece).gpus)

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """GPU types in the order in which they first appear."""
        types = (self._type_of(piece) for piece in self.spec.pieces())
        return tuple(dict.fromkeys(node.gpu_type for node in types if node.gpus and node.gpu_type))

    @property
    def size(self) -> str:
        """Its nodes and GPUs in words: ``16 nodes, 64 GPUs (a100, v100)``."""
        return size_of(self.nodes, self.gpus, self.gpu_types)

    def __repr__(self) -> str:
        """``Cluster(mine: 16 nodes, 64 GPUs (a100, v100))``."""
        return f"Cluster({self.name}: {self.size})"

    def _repr_html_(self) -> str:
        """For notebooks: the same, and its file."""
        return (
            f"<p>{escape(repr(self))}</p><details><summary>file</summary><pre>{escape(self.to_yaml())}</pre></details>"
        )

    def _type_of(self, piece: Piece) -> NodeType:
        return self.spec.node_types[piece.group.type]

    def layout(self) -> "Layout":
        """The arrays the engine and the speed model read."""
        from pointsman.cluster.layout import lay_out  # NumPy, which reading a cluster file does without

        return lay_out(self.spec, self.gpu_types)

    def graph(self) -> "ClusterGraph":
        """Its nodes, switches and links."""
        from pointsman.cluster.graph import cluster_graph

        topology = self.spec.topology
        return cluster_graph(self.layout(), topology.kind if topology else None)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, defaults left out."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            **self.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"api_version", "kind"}),
        }

    def to_yaml(self) -> str:
        """The document as YAML; reading it back gives an equal cluster."""
        import yaml

        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=110)


def size_of(nodes: int, gpus: int, gpu_types: Iterable[str]) -> str:
    """Nodes and GPUs in words, with each type of GPUs once."""
    return f"{counted(nodes, 'node')}, {counted(gpus, 'GPU')} ({', '.join(dict.fromkeys(gpu_types))})"


def cluster_schema() -> dict[str, Any]:
    """JSON Schema of a cluster file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Cluster.model_json_schema(by_alias=True)}
