"""What LWF-κ's placement declares: its parameters, and what it keeps of nodes and GPUs."""

from typing import ClassVar, Literal

from pydantic import Field

from pointsman.policies.sdk import CompiledPolicy, Knowledge, OfGpu, OfNode, Profile, Progress, number, parameter


class LoadedNode(OfNode):
    """What is kept of a node."""

    workload = number("mean of its GPUs'", unit="ms")


class LoadedGpu(OfGpu):
    """What is kept of a GPU."""

    workload = number("what jobs on it have left to compute and to send", unit="ms")


class Lwf(CompiledPolicy):
    """Jobs share GPUs as far as memory allows; the shortest service is placed first, on the GPUs with the least work
    left, and jobs of more than κ GPUs on whole nodes with the least.
    """

    name: ClassVar[str] = "lwf"
    needs: ClassVar[Knowledge] = "oracle"
    profiles: ClassVar[tuple[Profile, ...]] = ("iterations",)
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.lwf.lwf"
    rate_model: ClassVar[str] = "iterations"
    places_itself: ClassVar[bool] = True
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "Wang, Shi, Wang and Chu, arXiv 2002.10105 (their simulator: HKBU-HPML/dl-scheduling)"

    kappa: int = parameter(
        1, "jobs with more GPUs than this are consolidated on nodes", unit="GPUs", source="paper", ge=0
    )
    choice: Literal["lwf", "first-fit", "random", "list"] = Field(
        default="lwf",
        description="lwf; or what it is measured against: GPUs of lowest index, by chance, or of least work (κ = ∞)",
        json_schema_extra={"unit": "", "source": "paper"},
    )
    random_seed: int = parameter(0, "random seed of the choice", ge=0)
