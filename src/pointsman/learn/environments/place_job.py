"""``pointsman/PlaceJob-v0``: choose the GPUs of the first waiting job, as Proximity-DRL does
(``docs/papers/topdrl.md`` §4).
"""

from typing import ClassVar

from pointsman.learn.environments.single import SingleEnv
from pointsman.learn.environments.vector import NativeVectorEnv


class PlaceJobEnv(SingleEnv):
    """Action i chooses GPU i for the job; when its gang is complete it starts. Where the cluster has more than 64 GPUs,
    action i is node i, of which as many free GPUs are taken as are needed still. The last action waits; it is allowed
    as long as none is chosen and something runs. Jobs are placed in the order of `picker`, and the first blocks.
    """

    choice: ClassVar[str] = "choosing"


class PlaceJobVectorEnv(NativeVectorEnv):
    """So many of them."""

    choice: ClassVar[str] = "choosing"
