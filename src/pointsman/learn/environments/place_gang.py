"""``pointsman/PlaceGang-v0``: choose the place of each gang, forward it, or let it wait, as MARL's schedulers do
(``docs/papers/marl.md`` §5).
"""

from typing import ClassVar

from pointsman.learn.environments.single import SingleEnv
from pointsman.learn.environments.vector import NativeVectorEnv


class PlaceGangEnv(SingleEnv):
    """Actions 0 to 31 are candidate placements of the job, which belongs to one of `schedulers`; 32 forwards it, once,
    to a scheduler that can place it now; 33 lets it wait. Where nothing runs it must start.
    """

    choice: ClassVar[str] = "gangs"


class PlaceGangVectorEnv(NativeVectorEnv):
    """So many of them."""

    choice: ClassVar[str] = "gangs"
