"""What is known of a model and of a GPU type: the records that ``models/*.yaml`` are checked against.

Sizes are in bytes, times in seconds, batches in samples per GPU.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _a_number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not true or false")
    return value


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_a_number)]
NotNegative = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False), BeforeValidator(_a_number)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), BeforeValidator(_a_number)]
Theta = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False), BeforeValidator(_a_number)]
Delta = Annotated[float, Field(ge=1), BeforeValidator(_a_number)]
Source = Annotated[str, Field(min_length=1)]
"""``id`` or ``id: note``, where the id is a key of ``spec.sources``."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Compute(_Record):
    """Time of one forward and backward pass on one GPU: ``alpha_s + beta_s_per_sample * batch``."""

    alpha_s: Seconds
    beta_s_per_sample: Seconds
    forward_share: Annotated[float, Field(gt=0, lt=1), BeforeValidator(_a_number)] = 1 / 3
    """The share of the forward pass in the time; by default a backward pass takes twice as long (ours)."""
    delta: Delta | None = None
    """The overlap exponent on this GPU type, where it was measured; else the model's."""
    source: Source

    @model_validator(mode="after")
    def _takes_time(self) -> "Compute":
        if self.alpha_s + self.beta_s_per_sample == 0:
            raise ValueError("alpha_s and beta_s_per_sample are both 0: a pass takes some time")
        return self

    def time_s(self, per_gpu_batch: float) -> float:
        """Seconds of one pass over `per_gpu_batch` samples."""
        return self.alpha_s + self.beta_s_per_sample * per_gpu_batch

    def scaled(self, factor: float, source: str) -> "Compute":
        """Scales all times by `factor`."""
        alpha_s, beta_s_per_sample = self.alpha_s * factor, self.beta_s_per_sample * factor
        return self.model_copy(update={"alpha_s": alpha_s, "beta_s_per_sample": beta_s_per_sample, "source": source})


class Gradient(_Record):
    """What each GPU contributes to the all-reduce of an iteration."""

    bytes: NotNegative
    source: Source


class Batch(_Record):
    """Samples per GPU when the job names no batch."""

    per_gpu: Annotated[int, Field(ge=1)]
    source: Source


class Memory(_Record):
    """GPU memory: weights, gradients, optimizer and context, plus activations of each sample."""

    fixed_bytes: Positive
    bytes_per_sample: NotNegative
    source: Source


class Overlap(_Record):
    """How far communication hides behind the backward pass: exponent δ, 1 = not at all, ``.inf`` = fully."""

    delta: Delta
    source: Source


class CoresUsed(_Record):
    """Cores that a GPU keeps busy (used, not reserved): loading and preparing samples, launching kernels."""

    per_gpu: Annotated[float, Field(ge=0, le=1000), BeforeValidator(_a_number)]
    theta: Theta
    source: Source


class HostTraffic(_Record):
    """What a GPU moves between itself, the memory of its node and the other GPUs there, in 10^6 bytes per second."""

    mb_per_s_per_gpu: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), BeforeValidator(_a_number)]
    theta: Theta
    source: Source


class NodeDemand(_Record):
    """What training takes of the resources that the GPUs of a node share, and how much it suffers where they are
    short: computing takes (load / capacity)^theta times as long.
    """

    cores: CoresUsed
    traffic: HostTraffic


class ModelProfile(_Record):
    """Everything the speed model knows of one deep-learning model."""

    title: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...] = ()
    gradient: Gradient
    batch: Batch
    memory: Memory
    overlap: Overlap
    accumulates: bool = True
    """Whether a batch in several passes trains as a whole one does; not so with batch normalisation."""
    node: NodeDemand | None = None
    """None: not known. Such a job causes and suffers no interference on nodes."""
    compute: Annotated[dict[str, Compute], Field(min_length=1)]

    def memory_bytes(self, per_gpu_batch: float) -> float:
        """GPU memory taken with `per_gpu_batch` samples in flight, in bytes."""
        return self.memory.fixed_bytes + self.memory.bytes_per_sample * per_gpu_batch

    def cited(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Where in the profile each source is named, and the source."""
        for part in ("gradient", "batch", "memory", "overlap"):
            yield (part, "source"), getattr(self, part).source
        for gpu, compute in self.compute.items():
            yield ("compute", gpu, "source"), compute.source
        if self.node is not None:
            yield ("node", "cores", "source"), self.node.cores.source
            yield ("node", "traffic", "source"), self.node.traffic.source


class GpuType(_Record):
    """A GPU type and its training speed relative to a V100, for models not measured on it."""

    title: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...] = ()
    relative_speed: Positive
    source: Source


class CatalogueSpec(_Record):
    """What a file of profiles adds: sources and GPU types it names, and models."""

    sources: dict[str, str] = {}
    gpu_types: dict[str, GpuType] = {}
    models: dict[str, ModelProfile] = {}


class Metadata(_Record):
    """The file's own name."""

    name: Annotated[str, Field(min_length=1)]


class CatalogueFile(_Record):
    """One file of profiles (``docs/formats/model-profiles.md``)."""

    apiVersion: Annotated[str, Field(pattern="^pointsman/v1$")]
    kind: Annotated[str, Field(pattern="^ModelProfiles$")]
    metadata: Metadata
    spec: CatalogueSpec
