"""SJF-FFS, shortest job first with first-fit sharing: what SJF-BSBF is measured against."""

from typing import ClassVar

from pointsman.policies.parts.partners import ACCUMULATIONS_OF
from pointsman.policies.sdk import CompiledPolicy, Knowledge, Progress
from pointsman.policies.sharing.sjf_bsbf import GATES, Accumulation, SjfBsbf, accumulation_parameter


class SjfFfs(CompiledPolicy):
    """The shortest job first; where free GPUs are too few, beside any running jobs whose GPUs have the memory."""

    name: ClassVar[str] = "sjf-ffs"
    needs: ClassVar[Knowledge] = "oracle"
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = SjfBsbf.hooks
    placement: ClassVar[str] = SjfBsbf.placement
    gpu_sharing: ClassVar[int] = SjfBsbf.gpu_sharing
    source: ClassVar[str] = SjfBsbf.source

    accumulation: Accumulation = accumulation_parameter()

    @property
    def sharing_gate(self) -> str:
        """First fit asks for memory alone."""
        return "none"

    def parameters(self) -> list[float]:
        return [float(GATES.index("none")), 0.0, float(ACCUMULATIONS_OF.index(self.accumulation))]
