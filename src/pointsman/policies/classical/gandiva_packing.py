"""Gandiva with packing by an oracle: where GPUs are short, jobs that slow each other little share them."""

from typing import ClassVar

from pointsman.policies.classical.gandiva import Gandiva
from pointsman.policies.sdk import Profile, derived, parameter


class GandivaPacking(Gandiva):
    """As gandiva, but a job that finds no free GPUs is packed onto those of a running job of as many GPUs, if the two
    make more progress together than in turns. An oracle: the true slowdown of each pair is looked up, where Gandiva
    measures it and separates bad pairs. Packed jobs are neither preempted nor moved.
    """

    name: ClassVar[str] = "gandiva-packing"
    profiles: ClassVar[tuple[Profile, ...]] = ("places", "pairs")
    gpu_sharing: ClassVar[int] = 2

    pack_gain: float = parameter(
        1.0, "a pair must get more than this done together, of what each would alone", ge=1.0, le=2.0
    )

    @derived
    def least_gain(self) -> float:
        """More than this must a pair get done together, of what each would alone."""
        return self.pack_gain
