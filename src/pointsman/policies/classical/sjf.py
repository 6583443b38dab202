"""Shortest job first: strict, the head blocks its nodes for all behind it."""

from typing import ClassVar

from pointsman.policies.classical.fifo import Fifo
from pointsman.policies.sdk import Knowledge


class Sjf(Fifo):
    """Jobs start in the order of their durations, shortest first; one that does not fit blocks those behind it that
    could use the same nodes.
    """

    name: ClassVar[str] = "sjf"
    needs: ClassVar[Knowledge] = "oracle"
    by_estimate: ClassVar[bool] = True
