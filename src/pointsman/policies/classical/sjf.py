"""Shortest job first: strict, the head blocks."""

from typing import ClassVar

from pointsman.policies.classical.fifo import Fifo
from pointsman.policies.sdk import Knowledge


class Sjf(Fifo):
    """Jobs start in the order of their durations, shortest first; the first that does not fit blocks all behind it."""

    name: ClassVar[str] = "sjf"
    needs: ClassVar[Knowledge] = "oracle"

    def parameters(self) -> list[float]:
        return [1.0]
