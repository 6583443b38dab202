"""How many physical GPUs some slices are of (NVIDIA's Multi-Instance GPU)."""

import re
from collections.abc import Mapping
from typing import Final

from pointsman.inputs.gpu_names import SLICES_OF_A_GPU

MEMORY_SLICES: Final = 8
"""Of a GPU; an instance of g compute slices takes them as `_MEMORY` says."""
_MEMORY: Final = {1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8}
_PROFILE: Final = re.compile(r"(?<![a-z0-9])([1-7])g(?:\.[0-9]+gb)?", re.IGNORECASE)


def compute_slices(profile: str) -> int | None:
    """Of 7, that a profile such as ``3g.20gb`` has; None: it is no profile."""
    found = _PROFILE.search(profile)
    return int(found[1]) if found else None


def cards(slices: Mapping[str, int]) -> int:
    """The fewest GPUs that so many instances of each profile fit on, the largest first."""
    free: list[list[int]] = []
    wanted = sorted(((compute_slices(profile) or 1, n) for profile, n in slices.items()), reverse=True)
    for compute, count in wanted:
        for _ in range(count):
            card = next((one for one in free if one[0] >= compute and one[1] >= _MEMORY[compute]), None)
            if card is None:
                card = [SLICES_OF_A_GPU, MEMORY_SLICES]
                free.append(card)
            card[0] -= compute
            card[1] -= _MEMORY[compute]
    return len(free)


def said(slices: Mapping[str, int]) -> str:
    """``6 of 1g.10gb and 4 of 2g.20gb``."""
    return " and ".join(f"{count} of {profile}" for profile, count in slices.items())
