"""Compiled code of the environments: templates, with the choice, the observation and the reward put in."""

import functools
import importlib
from inspect import signature
from pathlib import Path
from types import ModuleType

from pointsman.engine.jit.loading import HOOKS, HOSTED, PACKAGE, TEMPLATE, build_folder, load_template, module_of
from pointsman.engine.jit.loading import _stamped as stamped
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.learn.environments.compiled.features.extent import Extent

ANY = Extent()
HERE = Path(__file__).parent / "compiled"
ROOM = "pointsman.learn.environments.compiled"
CHOICE = f"from {ROOM}.picking import act, is_choice, look, waits"
OBSERVATION = f"from {ROOM}.observations.topdrl import observe"
STEP = f"from {ROOM}.episode import step_one"
REWARD = f"from {ROOM}.rewards.throughput import at_start, flow"


@functools.cache
def load_episode(choice: str) -> ModuleType:
    """`episode`, where agents choose by the module `choice`."""
    line = CHOICE.replace("picking", choice)
    return load_template(HERE / "episode.py", {CHOICE: line}, _sources(f"{ROOM}.episode", f"{ROOM}.{choice}"))


@functools.cache
def load_branching() -> ModuleType:
    """`branching`, with the step of PlaceGang's episodes."""
    line = f"from {load_episode('gangs').__name__} import step_one"
    return load_template(HERE / "branching.py", {STEP: line}, _sources(f"{ROOM}.branching", f"{ROOM}.gangs"))


@functools.cache
def load_bookkeeping() -> ModuleType:
    """The hooks by which the loop keeps the books of an episode, as `loading.load_hooks` loads those of a policy."""
    hooks = f"{ROOM}.bookkeeping"
    return load_template(PACKAGE / TEMPLATE, {HOOKS: HOOKS.replace(HOSTED, hooks)}, _sources(hooks))


@functools.cache
def load_observation(name: str) -> ModuleType:
    """`observing`, with the observation `name`: one of ours, or a file."""
    module = _named(name, "observations")
    line = f"from {module_of(module)} import observe"
    return load_template(HERE / "observing.py", {OBSERVATION: line}, _sources(f"{ROOM}.observing", module))


@functools.cache
def load_reward(name: str) -> ModuleType:
    """`rewarding`, with the reward `name`: one of ours, or a file."""
    module = _named(name, "rewards")
    line = f"from {module_of(module)} import at_start, flow"
    return load_template(HERE / "rewarding.py", {REWARD: line}, _sources(f"{ROOM}.rewarding", module))


@functools.cache
def load_deciding() -> ModuleType:
    """`deciding`."""
    return load_template(HERE / "deciding.py", {}, _sources(f"{ROOM}.deciding"))


@functools.cache
def load_gang_deciding() -> ModuleType:
    """`gang_deciding`."""
    return load_template(HERE / "gang_deciding.py", {}, _sources(f"{ROOM}.gang_deciding"))


@functools.cache
def load_watching() -> ModuleType:
    """`watching`."""
    return load_template(HERE / "watching.py", {}, _sources(f"{ROOM}.watching"))


def mark() -> Path:
    """A file that is there when all parts have been compiled from the sources as they are."""
    return build_folder() / f"{stamped('environments', '', sorted(HERE.rglob('*.py')))}.done"


def parts() -> list[tuple[str, str]]:
    """All that there is to load, what takes longest first: what it is, and its name."""
    shipped = [("observation", name) for name in _known("observations")] + [("reward", n) for n in _known("rewards")]
    episodes = [("episode", choice) for choice in ("gangs", "picking", "choosing")]
    return [
        *episodes,
        ("branching", ""),
        ("gang deciding", ""),
        ("watching", ""),
        ("deciding", ""),
        ("bookkeeping", ""),
        *shipped,
    ]


def load_part(kind: str, name: str) -> None:
    """Compile one of `parts`, or load it if it is compiled."""
    alone = {
        "deciding": load_deciding,
        "gang deciding": load_gang_deciding,
        "watching": load_watching,
        "bookkeeping": load_bookkeeping,
        "branching": load_branching,
    }
    if kind in alone:
        alone[kind]()
    else:
        {"episode": load_episode, "observation": load_observation, "reward": load_reward}[kind](name)


def shapes_of(observation: str, slots: int, extent: Extent = ANY) -> dict[str, tuple[int, ...]]:
    """The parts of an observation and their shapes, which may depend on the cluster."""
    shapes = _observation(observation).shapes
    return shapes(slots, extent) if len(signature(shapes).parameters) > 1 else shapes(slots)


def version_of(observation: str) -> int:
    """The module's VERSION, 1 where it says none: raised when its numbers come to mean something else."""
    return getattr(_observation(observation), "VERSION", 1)


def _observation(name: str) -> ModuleType:
    return importlib.import_module(module_of(_named(name, "observations")))


def _named(name: str, folder: str) -> str:
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
    return sorted(path.stem for path in (HERE / folder).glob("*.py") if path.stem != "__init__")


def _sources(*modules: str) -> list[Path]:
    """The files of these modules; what they import is found by `engine.jit.sources`."""
    return [_file(module) for module in modules]


def _file(module: str) -> Path:
    if module.endswith(".py"):
        return Path(module)
    return PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
