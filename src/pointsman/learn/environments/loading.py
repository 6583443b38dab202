"""Compiled code of the environments, with the choice, the observation and the reward put in."""

from inspect import signature
from pathlib import Path
from types import ModuleType

from pointsman.engine.sdk.environments import hooks_unit, module_at
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.learn.environments.compiled.features.extent import Extent

ANY = Extent()
ROOM = "pointsman.learn.environments.compiled"
DECIDING, GANG_DECIDING, WATCHING = f"{ROOM}.deciding", f"{ROOM}.gang_deciding", f"{ROOM}.watching"
BRANCHING, BOOKKEEPING = f"{ROOM}.branching", hooks_unit(f"{ROOM}.bookkeeping")
_HERE = Path(__file__).parent / "compiled"
CHOICES = ("gangs", "picking", "choosing")


def episode_unit(choice: str) -> str:
    """The unit of episodes in which agents choose by the module `choice`."""
    return f"{ROOM}.episode:{ROOM}.{choice}"


def observation_unit(name: str) -> str:
    """The unit of an observation: one of ours, or a file."""
    return f"{ROOM}.observing:{_find_module(name, 'observations')}"


def reward_unit(name: str) -> str:
    """The unit of a reward: one of ours, or a file."""
    return f"{ROOM}.rewarding:{_find_module(name, 'rewards')}"


def all_units() -> list[str]:
    """The units of all choices, observations and rewards that we have."""
    return [
        *map(episode_unit, CHOICES),
        *(BRANCHING, GANG_DECIDING, WATCHING, DECIDING, BOOKKEEPING),
        *map(observation_unit, _known("observations")),
        *map(reward_unit, _known("rewards")),
    ]


def shapes_of(observation: str, slots: int, extent: Extent = ANY) -> dict[str, tuple[int, ...]]:
    """The parts of an observation and their shapes, which may depend on the cluster."""
    shapes = _observation(observation).shapes
    return shapes(slots, extent) if len(signature(shapes).parameters) > 1 else shapes(slots)


def version_of(observation: str) -> int:
    """The module's VERSION, 1 where it says none: raised when its numbers come to mean something else."""
    return getattr(_observation(observation), "VERSION", 1)


def _observation(name: str) -> ModuleType:
    return module_at(_find_module(name, "observations"))


def _find_module(name: str, folder: str) -> str:
    """The module, or the user's file, of an observation or a reward."""
    if name.endswith(".py"):
        if not names_file(name):
            raise UsageError(f"{name}: no such file (one of {folder} of your own goes by its file)")
        return name
    known = _known(folder)
    if name not in known:
        raise UsageError(f"there is no {name!r} among {folder} ({did_you_mean(name, known)}; your own: file.py)")
    return f"{ROOM}.{folder}.{name}"


def _known(folder: str) -> list[str]:
    return sorted(path.stem for path in (_HERE / folder).glob("*.py") if path.stem != "__init__")
