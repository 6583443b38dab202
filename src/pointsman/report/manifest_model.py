"""What a manifest must hold for a reader to believe it; other entries are ignored."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from pointsman.engine.rate_models.registry import base_models
from pointsman.inputs.messages import fault_of
from pointsman.types import MAX_NODE_GPUS, MAX_SHARING

Count = Annotated[int, Field(ge=0, lt=1 << 53)]
Seconds = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Texts = list[str]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class TreeInfo(_Part):
    """Weights of the rate model ``tree``."""

    rack: Weight
    node: Weight
    gpu: Weight
    least: Weight


class RunInfo(_Part):
    """``info``: what was run, where and on what assumptions."""

    policy: str
    cluster: str
    gpus: Annotated[int, Field(ge=1, lt=1 << 40)]
    nodes: Annotated[int, Field(ge=1, lt=1 << 40)]
    node_names: Texts
    node_gpus: list[Annotated[int, Field(ge=0, le=MAX_NODE_GPUS)]]
    seed: Count
    logged: bool = False
    """Whether the log's own schedule stands for a run, which took no time and no decisions."""
    engine_s: Seconds | None
    decisions: Count | None
    policy_name: str | None = None
    needs: str | None = None
    knowledge: str = "none"
    params: dict[str, Any] | None = None
    placement: str | None = None
    overheads: dict[str, bool | Weight] | str | None = None
    oversized: str | None = None
    assign_models: int | None = None
    profiles: Texts | None = None
    congestion: dict[str, Weight] | None = None
    contention: str | None = None
    rate_model: str | None = None
    gpu_sharing: Annotated[int, Field(ge=1, le=MAX_SHARING)] | None = None
    own_gpu_sharing: bool = True
    interference: str | float | None = None
    node_interference: str | None = None
    decision_time: Seconds | None = None
    profile_error: Weight | None = None
    told_profiles: str | None = None
    progress: str | None = None
    enforce_limits: bool | None = None
    until_s: Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)] | None = None
    wall_s: Seconds | None = None
    tree: TreeInfo | None = None
    node_racks: list[Count] | None = None
    node_pods: list[Count] | None = None
    node_gpu_types: Texts | None = None
    node_partitions: list[Texts] | None = None
    assumptions: Texts | None = None
    workload: dict[str, Any] | None = None
    quality: dict[str, Any] | None = None
    schedulers: Count | None = None
    forwards: Count | None = None

    @field_validator("engine_s", "decisions")
    @classmethod
    def _is_there(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is None and not info.data.get("logged"):
            raise ValueError("must be a number, not None")
        return value

    @field_validator("rate_model")
    @classmethod
    def _is_known(cls, text: str | None) -> str | None:
        if text is not None and text.partition(":")[0] not in base_models():
            raise ValueError(f"there is no rate model {text!r:.60}")
        return text

    @model_validator(mode="after")
    def _nodes_agree(self) -> "RunInfo":
        lists = {name: getattr(self, name) for name in ("node_names", "node_gpus", "node_racks", "node_pods")}
        for name, found in lists.items():
            if found is not None and len(found) != self.nodes:
                raise ValueError(f"{name} has {len(found)} entries for {self.nodes} nodes")
        if str(self.rate_model).startswith("tree") and (self.tree is None or self.node_racks is None):
            raise ValueError("a run of the rate model 'tree' states 'tree' and 'node_racks'")
        if sum(self.node_gpus) != self.gpus:
            raise ValueError(f"{self.gpus} GPUs are not the {sum(self.node_gpus)} of the nodes")
        return self


class RunManifest(_Part):
    """The manifest of one run."""

    kind: Literal["run"]
    info: RunInfo
    output_sha256: dict[str, str] = {}


class ComparisonManifest(_Part):
    """The manifest of a comparison, with the folders of its runs."""

    kind: Literal["comparison"]
    runs: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-][A-Za-z0-9._+-]*$")]]
    price: dict[Annotated[str, Field(pattern=r"^price/[0-9.e+]+s/[A-Za-z0-9_+-][A-Za-z0-9._+-]*$")], Seconds] = {}
    """Folders of runs made again, with the seconds between their checkpoints."""


class GridManifest(_Part):
    """The manifest of a grid, with the options that vary and the folders of its cells."""

    kind: Literal["grid"]
    varied: Annotated[list[str], Field(min_length=1)]
    cells: list[Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9._+,=-]*$")]]


MODELS: Final = {"run": RunManifest, "comparison": ComparisonManifest, "grid": GridManifest}


def manifest_fault(manifest: dict[str, Any]) -> str:
    """What is wrong with a manifest, in some words; empty if nothing is, or no reader looks at such a one."""
    model = MODELS.get(str(manifest.get("kind")))
    if model is None:
        return ""
    try:
        model.model_validate(manifest)
    except ValidationError as error:
        name, fault = fault_of(error)
        return f"{name:.60}: {fault}"
    return ""
