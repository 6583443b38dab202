"""How often the controller is asked: less often while it is slow, so that watching it does not make it slower."""

from dataclasses import dataclass


@dataclass
class Pace:
    """The interval between two looks. It doubles while answers take long, and recovers in halves."""

    least_s: float = 1.0
    """The interval at rest."""
    most_s: float = 60.0
    slow_share: float = 0.2
    """Share of the interval from which on an answer is slow."""
    interval_s: float = 0.0
    """Now."""

    def __post_init__(self) -> None:
        self.interval_s = max(self.interval_s, self.least_s)

    def note(self, took_s: float) -> None:
        """Learns how long the slowest answer of a look took, or a question that failed."""
        if took_s > self.slow_share * self.interval_s:
            self.interval_s = min(self.most_s, 2.0 * self.interval_s)
        elif took_s <= self.slow_share * self.interval_s / 2.0:
            self.interval_s = max(self.least_s, self.interval_s / 2.0)
