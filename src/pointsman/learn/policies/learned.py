"""Learned policies in a run: the same observation, mask and start as in training, the best action by the network.

PyTorch is imported when a policy is made, not when it is listed.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import InputError, UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import Knowledge

if TYPE_CHECKING:
    from pointsman.engine.run.view import View
    from pointsman.learn.checkpoint import Card, Checkpoint

SHIPPED = Path(__file__).parent / "shipped"
"""Weights that come with the package, a checkpoint for each agent that has any."""
OK = 0


class Seen:
    """What a network is shown, in an array that compiled code fills, and what it would do then."""

    def __init__(self, made: "Checkpoint", observation: str) -> None:
        import torch

        from pointsman.learn.environments.loading import shapes_of

        torch.set_num_threads(1)  # one state at a time gains nothing from more, which wait for each other at full speed
        self.network, self.actions = made.network, made.card.observation.actions
        shapes = shapes_of(observation, self.actions - 1)  # in the order in which they are written
        sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        self.out = np.zeros(sum(sizes.values()), np.float32)
        parts = dict(zip(sizes, np.split(self.out, np.cumsum(list(sizes.values()))[:-1]), strict=True))
        names = self.network.inputs or tuple(sizes)
        self._parts = {name: torch.from_numpy(parts[name].reshape(1, *shapes[name])) for name in names}

    def best(self, mask: NDArray[np.bool_]) -> int:
        """The action that the mask allows and the network likes best."""
        import torch

        with torch.inference_mode():
            logits, _ = self.network(self._parts)
        return int(np.where(mask, logits[0].numpy(), -np.inf).argmax())


class LearnedPicker:
    """Picks a job of those it sees, or none, until it would rather wait; a GPU picker places it."""

    name: ClassVar[str]
    needs: ClassVar[Knowledge] = "oracle"
    placement: ClassVar[str] = "spread"  # any free GPUs will do

    def __init__(self, checkpoint: str = "", gpus: str = "", observation: str = "") -> None:
        """`checkpoint` is a directory, by default the shipped one; `gpus` a GPU picker, by default as in training;
        `observation` the file of an observation of your own, if it was trained on one.
        """
        from pointsman.learn.environments.loading import load_deciding, load_observation
        from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS

        made = trained(self.name, checkpoint, observation)
        picker = gpus or made.card.environment.get("gpus", "nearest")
        if picker not in GPU_PICKERS:
            known = did_you_mean(picker, GPU_PICKERS)
            raise UsageError(f"{self.name}.gpus = {picker!r:.60}: there is no such GPU picker ({known})")
        self._how, self._start = GPU_PICKERS.index(picker), load_deciding().start
        builder = observation or made.card.observation.name
        self._seen, self._look = Seen(made, builder), load_observation(builder).look
        self._window = np.full(self._seen.actions - 1, -1, np.int64)
        self._mask = np.zeros(self._seen.actions, np.int8)

    def decide(self, view: "View") -> None:
        """Start picked jobs until the network would wait, or none can start."""
        address, seen = view._address, self._seen
        while view.free_gpus > 0 and view.pending_count > 0 and self._look(address, self._window, self._mask, seen.out):
            action = seen.best(self._mask != 0)
            if action == len(self._window) or self._start(address, int(self._window[action]), self._how) != OK:
                return

    def copy(self) -> "LearnedPicker":
        """Itself: it remembers nothing from one decision to the next."""
        return self


def trained(agent: str, checkpoint: str, observation: str = "") -> "Checkpoint":
    """The checkpoint of this agent in a directory, or the shipped one; one that was read before is not read again.

    Raises:
        UsageError: PyTorch is not installed, or none is shipped. InputError: it is broken, or another agent's.
    """
    missing = [name for name in ("torch", "safetensors", "gymnasium") if find_spec(name) is None]
    if missing:
        raise UsageError(f"policy {agent!r} needs {', '.join(missing)}: pip install 'pointsman[learn]'")
    place = Path(checkpoint) if checkpoint else SHIPPED / agent
    if not checkpoint and not place.is_dir():
        raise UsageError(f"no weights are shipped for {agent!r}: give those you trained, --policy {agent}:DIR")
    found = _loaded(place.absolute(), observation, _changed(place))
    if found.card.agent != agent:
        theirs = found.card.agent
        raise InputError(f"a checkpoint of {theirs!r}", path=place, fix=f"use it as --policy {theirs}:{place}")
    _check_kind(found.card, place)
    return found


def _check_kind(card: "Card", place: Path) -> None:
    """That what it says of its agent is so: compiled code writes what it sees where the network looks.

    Raises:
        InputError: it is of another kind.
    """
    from pointsman.learn.agents import AGENTS
    from pointsman.learn.environments.compiled.observations.proximity import PLACES

    agent, seen = AGENTS[card.agent], card.observation
    if card.network.name != agent.network:
        raise InputError(f"{card.agent} with the network {card.network.name!r:.60}", path=place, fix="train it again")
    places = agent.task == "place"
    if places != (seen.actions == PLACES + 1) or (seen.name == "proximity" and not places):
        raise InputError(f"{card.agent} that sees {seen.name!r:.60} and has {seen.actions} actions", path=place)
    for name in ("gpus", "picker"):
        if not isinstance(card.environment.get(name, ""), str):
            raise InputError(f"environment.{name} is {card.environment[name]!r:.60}, and no name", path=place)


@lru_cache(maxsize=8)
def _loaded(place: Path, observation: str, changed: tuple[int, ...]) -> "Checkpoint":
    from pointsman.learn.checkpoint import load_policy, observation_of, read_card

    return load_policy(place, observation_of(read_card(place), place, observation))


def _changed(place: Path) -> tuple[int, ...]:
    """When its files were written, so that a checkpoint written over is read anew."""
    return tuple(path.stat().st_mtime_ns for path in sorted(place.glob("policy.*")))
