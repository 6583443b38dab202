"""SJF-BSBF that tries every single node before it spreads a job over several: the authors' variant."""

from typing import ClassVar

from pointsman.policies.sharing.sjf_bsbf import SjfBsbf


class SjfBsbfConsolidated(SjfBsbf):
    """As sjf-bsbf, but beside partners on one node rather than on free GPUs of several."""

    name: ClassVar[str] = "sjf-bsbf-consolidated"
    consolidates: ClassVar[bool] = True
