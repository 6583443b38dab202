"""What a `Cluster` is made of: GPUs, nodes, racks, links, queues. Bandwidths are per direction."""

import re
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import PydanticCustomError

from pointsman.cluster import hostlist, quantities
from pointsman.inputs.attribute_docstrings import attribute_docstrings
from pointsman.types import MAX_NODE_GPUS

MAX_NODES: Final = hostlist.MAX_NAMES
NAME: Final = re.compile(r"[^\s\[\],|+\x00-\x1f\x7f]{1,253}")
"""`|` and `+` join GPU types in a job's demand; brackets and commas are hostlist notation."""


def _bandwidth(text: str) -> str:
    quantities.bandwidth_bytes_per_s(text)
    return text


def _memory(text: str) -> str:
    quantities.memory_bytes(text)
    return text


def _latency(text: str) -> str:
    quantities.latency_s(text)
    return text


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r:.80} is no name; names are words without spaces, brackets, commas, '|' and '+'")
    return text


def _title(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError(f"{text!r:.80} is no name; write one line of text")
    return text


def _hostlist(text: str) -> str:
    hostlist.expand(text)
    return text


Bandwidth = Annotated[
    str, AfterValidator(_bandwidth), Field(json_schema_extra={"pattern": quantities.BANDWIDTH_PATTERN})
]
Memory = Annotated[str, AfterValidator(_memory), Field(json_schema_extra={"pattern": quantities.MEMORY_PATTERN})]
Latency = Annotated[str, AfterValidator(_latency), Field(json_schema_extra={"pattern": quantities.LATENCY_PATTERN})]
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": f"^{NAME.pattern}$"})]
Title = Annotated[str, AfterValidator(_title)]
Hostlist = Annotated[str, Field(min_length=1), AfterValidator(_hostlist)]
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_NODES)]
Ratio = Annotated[float, Field(strict=True, ge=1, le=1e6, allow_inf_nan=False)]


class Part(BaseModel):
    """Frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema, in which the docstrings of the fields describe them."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for each in cls.__mro__[: cls.__mro__.index(Part)]:
            for name, said in attribute_docstrings(each).items():
                field = cls.model_fields.get(name)
                properties.get((field and field.alias) or name, {}).setdefault("description", said)
        return schema


FAULT: Final = "cluster"
"""The type of validation errors whose message is a whole sentence."""


def fault(at: tuple[str | int, ...], message: str) -> PydanticCustomError:
    """A validation error that says where below its own place it is (`yaml_file` finds the line from it)."""
    return PydanticCustomError(FAULT, "{message}", {"message": message, "at": at})


class Metadata(Part):
    """Name and provenance of a cluster."""

    name: Title
    """What reports call the cluster."""
    description: str = ""
    """One line for people."""
    source: str = ""
    """Where the figures come from, and which of them are assumptions."""


class GpuType(Part):
    """A GPU type the catalogue does not know, or knows differently."""

    memory: Memory | None = None
    """Memory of one GPU, such as `32 GiB`; default: what the catalogue says of the type."""
    aliases: tuple[Name, ...] = ()
    """What else logs of the site call it, such as `tesla`."""


class Interconnect(Part):
    """How the GPUs of one node reach each other."""

    kind: Literal["nvlink", "pcie", "xgmi", "other"]
    """What they are linked by (for people; the bandwidth is what counts)."""
    bandwidth: Bandwidth
    """What one GPU can send to the others of its node, one direction, such as `150 GB/s`."""
    latency: Latency = "1.5 us"
    """Time of one hop between two GPUs of the node."""


class Nic(Part):
    """The network cards of a node."""

    bandwidth: Bandwidth = "100 Gb/s"
    """Bandwidth of one network card, one direction."""
    per: Literal["node", "gpu"] = "node"
    """`node`: the GPUs of the node share its cards; `gpu`: each GPU has its own."""
    count: Annotated[int, Field(strict=True, ge=1, le=64)] = 1
    """Cards of one node (or of one GPU)."""


class HostPaths(Part):
    """What the GPUs of one node share on their way to its memory and to each other."""

    pcie: Bandwidth = "12 GB/s"
    """What the GPUs of one socket can move together over its PCIe switch (PCIe 3.0 x16 in practice; ours)."""
    memory: Bandwidth = "12 GB/s"
    """What the GPUs of the node can move together to and from its memory before they slow each other (ours)."""
    socket_link: Bandwidth = "20 GB/s"
    """Between the sockets of the node (QPI; ours)."""


class NodeType(Part):
    """One kind of machine."""

    gpus: Annotated[int, Field(strict=True, ge=0, le=MAX_NODE_GPUS)]
    """GPUs of one node; nodes with 0 are left out of simulations."""
    gpu_type: Name | None = None
    """A name from `gpu_types` or from the built-in catalogue (v100, a100, h100, t4, ...)."""
    interconnect: Interconnect | None = None
    """NVLink or PCIe inside the node; default: what the catalogue says of the GPU type."""
    nic: Nic = Nic()
    """The network cards; default: one of 100 Gb/s a node."""
    cpus: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    """Cores of one node; default: 3 a GPU, at least 6 (ours)."""
    sockets: Annotated[int, Field(strict=True, ge=1, le=MAX_NODE_GPUS)] = 2
    """CPU sockets of one node, which share its GPUs as equally as they can, in order; default ours."""
    host: HostPaths = HostPaths()
    """What its GPUs share besides cores: PCIe, memory, the link between sockets."""
    memory: Memory | None = None
    """Memory of one node."""


class NodeGroup(Part):
    """Nodes of one type that follow each other."""

    type: Name
    """A name from `node_types`."""
    count: Count | None = None
    """How many; default: as many as `names` says, or 1."""
    names: Hostlist | None = None
    """Node names, such as `gpu[01-16]`; default: n0000, n0001, ... by position."""
    partitions: tuple[Name, ...] = ()
    """Partitions these nodes belong to (several are allowed); default: none, so only jobs that name no partition."""

    @cached_property
    def given_names(self) -> tuple[str, ...]:
        return tuple(hostlist.expand(self.names)) if self.names else ()

    @property
    def nodes(self) -> int:
        return self.count or len(self.given_names) or 1

    @model_validator(mode="after")
    def _consistent(self) -> "NodeGroup":
        if self.names and self.count and self.count != len(self.given_names):
            raise fault(("count",), f"count is {self.count} but names has {len(self.given_names)}; leave out count")
        if len(set(self.partitions)) < len(self.partitions):
            raise fault(("partitions",), "a partition is named twice")
        return self


class Rack(Part):
    """Racks with the same nodes."""

    count: Count = 1
    """How many racks like this."""
    nodes: Annotated[tuple[NodeGroup, ...], Field(min_length=1)]
    """The nodes of one such rack, in order."""


class Level(Part):
    """Bandwidth and latency at one level of locality."""

    oversubscription: Ratio = 1.0
    """How many times less bandwidth a GPU gets here than in the level inside it, when all send at once."""
    bandwidth: Bandwidth | None = None
    """Bandwidth of one GPU at this level, instead of what oversubscription gives (an NVLink domain wide as a rack)."""
    latency: Latency | None = None
    """Time of one hop at this level; default 5 us within a rack, 10 us above, or the level inside it if more."""

    @model_validator(mode="after")
    def _one_rule(self) -> "Level":
        if self.bandwidth is not None and self.oversubscription != 1:
            raise fault(("oversubscription",), "give bandwidth or oversubscription, not both")
        return self


class Network(Part):
    """Levels of locality above the node, from near to far."""

    rack: Level = Level()
    """Between nodes of one rack; starts from a GPU's share of the network cards."""
    pod: Level = Level()
    """Between racks of one pod."""
    cluster: Level = Level()
    """Between pods."""


class Partition(Part):
    """What holds for the jobs of a partition."""

    preemptible: Annotated[bool, Field(strict=True)] = True
    """Whether they may be preempted; false: no policy preempts a job that names it (Slurm's ``PreemptMode=OFF``)."""


class Queue(Part):
    """A queue and its limit."""

    gpu_limit: Annotated[int, Field(strict=True, ge=0, le=2**31)] | None = None
    """GPUs that the jobs of this queue may hold together; default: no limit."""
