"""Which jobs may be on one GPU together, and what they do to each other (``docs/reference/semantics.md`` §10)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.types import MAX_SHARING

if TYPE_CHECKING:
    from pointsman.speed.profiles.catalogue import Catalogue


@dataclass(frozen=True)
class GpuSharing:
    """How jobs share GPUs."""

    limit: int = 1
    """Jobs on a GPU at most."""
    interference: str = "table"
    """Where ξ is from: see `speed.interference.slow_downs.load_interference`."""


WHOLE_GPUS = GpuSharing()
"""A GPU has one job."""


def gpu_sharing_of(policy: object, asked: int | None, interference: str | float | None) -> GpuSharing:
    """How many jobs a GPU may have: what was asked for, or the policy's own, else 1.

    Raises:
        UsageError: no such number, or the policy takes whole GPUs.
    """
    own = int(getattr(policy, "gpu_sharing", 1))
    limit = own if asked is None else asked
    title = getattr(policy, "name", type(policy).__name__)
    if isinstance(limit, bool) or limit not in range(1, MAX_SHARING + 1):
        raise UsageError(f"gpu sharing {limit}: a GPU has 1 to {MAX_SHARING} jobs")
    if limit > own and own == 1 and getattr(policy, "takes_whole_gpus", False):
        raise UsageError(
            f"policy {title!r} takes whole GPUs, or shares them by rules of its own: leave out the sharing of GPUs "
            f"({limit} jobs each)"
        )
    if limit < own:
        raise UsageError(f"policy {title!r} shares GPUs among {own} jobs: leave out the limit of {limit}")
    return GpuSharing(limit, "table" if interference is None else str(interference))


def slowdowns_of(
    text: str, models: list[str | None], gpu_types: tuple[str, ...], catalogue: "Catalogue", assumptions: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each of `models`' kind, and (GPU types * kinds, kinds) ξ of a job of one kind beside one of another. Kind 0, of
    models not known, slows nobody.

    Raises:
        UsageError, InputError: `text` names no source of ξ.
    """
    from pointsman.speed.interference.slow_downs import load_interference

    interference = load_interference(text, catalogue)
    names = list(dict.fromkeys(catalogue.model_name(name) for name in models if name is not None))
    assumptions.extend(interference.about(gpu_types, names))
    slowdowns = np.ones((len(gpu_types), len(names) + 1, len(names) + 1))
    for t, gpu_type in enumerate(gpu_types):
        for a, mine in enumerate(names, 1):
            for b, beside in enumerate(names, 1):
                slowdowns[t, a, b] = interference.slow_down(gpu_type, mine, beside)
    index = {name: i for i, name in enumerate(names, 1)}
    kinds = np.array([0 if name is None else index[catalogue.model_name(name)] for name in models], np.int64)
    return kinds, slowdowns.reshape(-1, len(names) + 1)
