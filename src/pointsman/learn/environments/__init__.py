"""Environments in which agents learn to schedule: ``pointsman/PickJob-v0``, ``pointsman/PlaceJob-v0`` and
``pointsman/PlaceGang-v0``, on the compiled engine (``docs/guides/training-environments.md``). None needs PyTorch.
For PettingZoo there is the module `parallel`.
"""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.learn.environments.pick_job import PickJobEnv, PickJobVectorEnv
    from pointsman.learn.environments.place_gang import PlaceGangEnv, PlaceGangVectorEnv
    from pointsman.learn.environments.place_job import PlaceJobEnv, PlaceJobVectorEnv
    from pointsman.learn.environments.workloads import AtOnce, Generated, Listed, Sampler, Windows

__all__ = [
    "AtOnce",
    "Generated",
    "Listed",
    "PickJobEnv",
    "PickJobVectorEnv",
    "PlaceGangEnv",
    "PlaceGangVectorEnv",
    "PlaceJobEnv",
    "PlaceJobVectorEnv",
    "Sampler",
    "Windows",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AtOnce": "workloads",
        "Generated": "workloads",
        "Listed": "workloads",
        "PickJobEnv": "pick_job",
        "PickJobVectorEnv": "pick_job",
        "PlaceGangEnv": "place_gang",
        "PlaceGangVectorEnv": "place_gang",
        "PlaceJobEnv": "place_job",
        "PlaceJobVectorEnv": "place_job",
        "Sampler": "workloads",
        "Windows": "workloads",
    },
)
