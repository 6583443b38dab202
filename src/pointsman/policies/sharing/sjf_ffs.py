"""SJF-FFS, shortest job first with first-fit sharing: what SJF-BSBF is measured against."""

from typing import ClassVar

from pointsman.policies.sharing.sjf_bsbf import SharingSjf


class SjfFfs(SharingSjf):
    """The shortest job first; where free GPUs are too few, beside any running jobs whose GPUs have the memory."""

    name: ClassVar[str] = "sjf-ffs"

    @property
    def sharing_gate(self) -> str:
        """First fit asks for memory alone."""
        return "none"
