"""``pointsman/PickJob-v0``: choose which waiting job starts, or wait; a heuristic chooses its GPUs."""

from typing import ClassVar

from pointsman.learn.environments.single import SingleEnv
from pointsman.learn.environments.vector import NativeVectorEnv


class PickJobEnv(SingleEnv):
    """Action i starts job i of the window, the last one lets time pass to the next instant at which anything changed
    and some job of the window can start. Several jobs may start at one instant. Where nothing runs, one must.
    """

    choice: ClassVar[str] = "picking"


class PickJobVectorEnv(NativeVectorEnv):
    """So many of them."""

    choice: ClassVar[str] = "picking"
