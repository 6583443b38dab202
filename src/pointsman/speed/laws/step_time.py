"""The formulas of an iteration's time (``docs/background/speed.md``).

Nothing here but arithmetic: NumPy runs them on arrays, and the engine compiles them.
"""

from typing import Any

import numpy as np


def ring_s(members: Any, size_bytes: Any, bandwidth_bytes_per_s: Any, latency_s: Any) -> Any:
    """Ring all-reduce of `size_bytes` among `members`: 2(p−1)/p of the bytes, 2(p−1) steps."""
    steps = 2.0 * (members - 1)
    return steps / members * size_bytes / bandwidth_bytes_per_s + steps * latency_s


def ring_bandwidth(bandwidth_bytes_per_s: Any, sharers: Any, rings: Any) -> Any:
    """Bytes/s of one of `rings` rings over a link whose `sharers` have so much each: with fewer at work, more."""
    return bandwidth_bytes_per_s * (sharers / rings)


def overlapped_s(compute_s: Any, communication_s: Any, delta: Any) -> Any:
    """``(x^δ + y^δ)^(1/δ)``: the sum at δ = 1, the longer of the two at δ = ∞. One of them must be above 0."""
    longer, shorter = np.maximum(compute_s, communication_s), np.minimum(compute_s, communication_s)
    return longer * (1.0 + (shorter / longer) ** delta) ** (1.0 / delta)


def accumulated_s(compute_s: Any, last_s: Any, passes: Any) -> Any:
    """An iteration of `passes` passes, each `compute_s` but for the last, which takes `last_s` with its all-reduce."""
    return (passes - 1) * compute_s + last_s
