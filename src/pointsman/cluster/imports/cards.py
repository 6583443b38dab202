"""How many physical GPUs some slices are of (NVIDIA's Multi-Instance GPU)."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.quantities import memory_bytes
from pointsman.errors import UsageError
from pointsman.inputs.gpu_names import SLICES_OF_A_GPU, known_name

MEMORY_SLICES: Final = 8
_MEMORY: Final = {1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8}
"""Memory slices of an instance, by its compute slices."""
_OF_FOUR: Final = ("a30", "rtxpro6000")
"""Types that are divided into four, and not into seven."""
_TWICE: Final = 1.7
"""Times the memory of a slice, from which on an instance of one compute slice has two of memory."""
_PROFILE: Final = re.compile(r"(?<![a-z0-9])(?P<compute>[1-7])g(?:\.(?P<gb>[0-9]+)gb)?", re.IGNORECASE)


def compute_slices(profile: str) -> int | None:
    """Reads how many compute slices a profile such as ``3g.20gb`` has; None: it is no profile."""
    found = _PROFILE.search(profile)
    return int(found["compute"]) if found else None


def cards(slices: Mapping[str, int], gpu_type: str = "") -> int:
    """Returns the fewest GPUs of a type on which these instances of each profile fit.

    Raises:
        UsageError: there are several profiles, and SciPy is not installed.
    """
    four = known_name(gpu_type) in _OF_FOUR
    whole = 4 if four else SLICES_OF_A_GPU
    slice_gb = _slice_gb(slices, gpu_type)
    sizes = []
    for profile in slices:
        compute = min(compute_slices(profile) or 1, whole)
        sizes.append((compute, min(2 * compute if four else _memory(profile, slice_gb), MEMORY_SLICES)))
    if len(sizes) == 1:
        return -(-sum(slices.values()) // _fills(sizes, whole, MEMORY_SLICES)[0][0])
    try:
        return _fewest(_fills(sizes, whole, MEMORY_SLICES), list(slices.values()))
    except ImportError:
        raise UsageError(
            f"to count the GPUs that hold {describe_slices(slices)}, SciPy is needed: pip install 'pointsman[fit]'"
        ) from None


def _fills(sizes: Sequence[tuple[int, int]], compute: int, memory: int) -> list[list[int]]:
    """How many instances of each size a GPU can have together: all ways that leave no room for one more of the last."""
    (of_compute, of_memory), rest = sizes[0], sizes[1:]
    most = min(compute // of_compute, memory // of_memory)
    if not rest:
        return [[most]]
    return [
        [count, *fill]
        for count in range(most + 1)
        for fill in _fills(rest, compute - count * of_compute, memory - count * of_memory)
    ]


def _fewest(fills: list[list[int]], counts: list[int]) -> int:
    """Returns the fewest GPUs, each filled in one of these ways, that have at least `counts` instances of each size."""
    from scipy.optimize import LinearConstraint, milp  # late: it takes long to import

    each_one = [1] * len(fills)
    found = milp(each_one, integrality=each_one, constraints=LinearConstraint(list(zip(*fills, strict=True)), counts))
    return round(found.fun)


def _memory(profile: str, slice_gb: float) -> int:
    """Memory slices of an instance: ``1g.20gb`` of a GPU of 80 GB has two."""
    compute, gb = compute_slices(profile) or 1, _gb(profile)
    return 2 if compute == 1 and gb >= _TWICE * slice_gb else _MEMORY[compute]


def _slice_gb(slices: Mapping[str, int], gpu_type: str) -> float:
    """Memory of a slice: an eighth of what the catalogue says, or less if a profile has less."""
    model = known_gpu(gpu_type)
    said = [_gb(profile) / _MEMORY[compute_slices(profile) or 1] for profile in slices if _gb(profile)]
    known = [memory_bytes(model.memory) / 2**30 / MEMORY_SLICES] if model else []
    return min([*said, *known], default=1.0)


def _gb(profile: str) -> int:
    found = _PROFILE.search(profile)
    return int(found["gb"]) if found and found["gb"] else 0


def describe_slices(slices: Mapping[str, int]) -> str:
    """``6 of 1g.10gb and 4 of 2g.20gb``."""
    return " and ".join(f"{count} of {profile}" for profile, count in slices.items())
