"""Section 7: what a preemption costs."""

import math
from math import inf

from .world import Rules


def cost_ms(rules: Rules, done: float) -> float:
    """Of the preemption of a job that has done so much, for each GPU."""
    lost_ms = rules.lost_ms + (rules.checkpoint_every_ms / 2 if rules.loses_since_checkpoint else 0)
    return min(lost_ms, done) + rules.stop_ms + rules.start_ms + rules.restore_ms


def surcharge(rules: Rules, weight: float, gpus: int) -> int:
    """So many times what the preemption of a job costs at most, in whole GPU-ms."""
    return min(math.floor(weight * gpus * cost_ms(rules, inf)), 2**53)
