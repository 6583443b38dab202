"""Learned policies in a run: the same observation, mask and start as in training, the best action by the network.

PyTorch is imported when a policy is made, not when it is listed.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import InputError, RunError, UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.learn.policies.overdue import KeptBack, Patience
from pointsman.types import Knowledge, Profile, Reason

if TYPE_CHECKING:
    from pointsman.learn.checkpoint import Card, Checkpoint
    from pointsman.learn.environments.compiled.features.extent import Extent
    from pointsman.policies.sdk import View

SHIPPED = Path(__file__).parent / "shipped"
"""Weights that come with the package, a checkpoint for each agent that has any."""
OK = 0


class Seen:
    """What a network is shown, in an array that compiled code fills, and what it would do then."""

    def __init__(self, made: "Checkpoint", observation: str, extent: "Extent | None" = None) -> None:
        """`extent` is that of the cluster, where the observation depends on it."""
        import torch

        from pointsman.learn.environments.loading import ANY, shapes_of

        torch.set_num_threads(1)  # one state at a time gains nothing from more, which wait for each other at full speed
        self.network, self.actions = made.network, made.card.observation.actions
        shapes = shapes_of(observation, self.actions - 1, extent or ANY)  # in the order in which they are written
        sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        self.out = np.zeros(sum(sizes.values()), np.float32)
        parts = dict(zip(sizes, np.split(self.out, np.cumsum(list(sizes.values()))[:-1]), strict=True))
        names = self.network.inputs or tuple(sizes)
        self._parts = {name: torch.from_numpy(parts[name].reshape(1, *shapes[name])) for name in names}

    def best(self, mask: NDArray[np.bool_]) -> int:
        """The action that the mask allows and the network likes best."""
        return self.network.best(self._scores(mask))

    def chances(self, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(actions,) the probability that the network gives each action, 0 where the mask forbids it."""
        scores = self._scores(mask).astype(np.float64)
        odds = np.exp(scores - scores.max())
        return odds / odds.sum()

    def _scores(self, mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            logits, _ = self.network(self._parts)
        scores = np.where(mask, logits[0].numpy(), -np.inf)
        if not np.isfinite(scores[mask]).all():
            raise RunError("the network rates a choice as NaN or infinite: its weights are too large (train it again)")
        return scores


class LearnedPicker:
    """Picks a job of those it sees, or none, until it would rather wait; a GPU picker places it."""

    name: ClassVar[str]
    needs: ClassVar[Knowledge] = "oracle"
    profiles: ClassVar[tuple[Profile, ...]] = ("iterations",)
    placement: ClassVar[str] = "spread"  # any free GPUs will do

    def __init__(
        self,
        checkpoint: Annotated[str, "directory of the weights; by default the shipped ones"] = "",
        gpus: Annotated[str, "how the GPUs of the picked job are chosen; by default as in training"] = "",
        observation: Annotated[str, "file of the observation of your own that it was trained on"] = "",
        patience_durations: Annotated[
            float | None, "a job that has waited this many times its duration goes next; by default none does"
        ] = None,
    ) -> None:
        """A policy of a checkpoint; `patience_durations` bounds waiting (`learn/policies/overdue.py`)."""
        from pointsman.engine.sdk.environments import unit
        from pointsman.learn.environments.loading import DECIDING, observation_unit
        from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS

        made = trained(self.name, checkpoint, observation)
        picker = gpus or made.card.environment.get("gpus", "nearest")
        if picker not in GPU_PICKERS:
            known = did_you_mean(picker, GPU_PICKERS)
            raise UsageError(f"{self.name}.gpus = {picker!r:.60}: there is no such GPU picker ({known})")
        self._how, self._start = GPU_PICKERS.index(picker), unit(DECIDING).start
        builder = observation or made.card.observation.name
        self._seen, self._look = Seen(made, builder), unit(observation_unit(builder)).look
        self._window = np.full(self._seen.actions - 1, -1, np.int64)
        self._mask = np.zeros(self._seen.actions, np.int8)
        self._patience = Patience(patience_durations, self.name)

    def new_memory(self) -> NDArray[np.float64]:
        """What ``State.memory`` is before the first event: as in training."""
        from pointsman.learn.environments.compiled.columns import AgentMemory

        return AgentMemory.zeros()

    def decide(self, view: "View") -> None:
        """Start overdue jobs, then picked ones until the network would wait, or none can start."""
        kept = self._patience.serve(view, lambda job: self._start(view.address, job, self._how))
        self._pick(view, kept)
        self._patience.set_alarm(view)

    def _pick(self, view: "View", kept: KeptBack) -> None:
        address, seen = view.address, self._seen
        while view.free_gpus > 0 and view.pending_count > 0 and self._sees_choice(view, kept):
            action = seen.best(self._mask != 0)
            if action == len(self._window) or self._start(address, int(self._window[action]), self._how) != OK:
                return

    def _sees_choice(self, view: "View", kept: KeptBack) -> bool:
        """Look at the waiting jobs; whether one of the window may start."""
        some = self._look(view.address, self._window, self._mask, self._seen.out)
        if not kept or not some:
            return some
        for i in np.flatnonzero(self._mask[:-1]):
            self._mask[i] = kept.by(view, int(self._window[i])) < 0
        return bool(self._mask[:-1].any())

    def why_waiting(self, view: "View", job: int, name: Callable[[int], str]) -> tuple[Reason, str] | None:
        """Says of a waiting job that fits what goes before it, or that the network would rather wait."""
        kept = self._patience.keeps_back(view)
        if (first := kept.by(view, job)) >= 0:
            longest = f"{self._patience.durations:g} times its duration"
            return Reason.Reserved, f"it would fit, but job {name(first)} has waited for {longest} and goes next"
        if not self._sees_choice(view, kept):
            return None
        found = np.flatnonzero(self._window == job)
        if not len(found):
            seen = f"{len(self._window):,} of the {view.pending_count:,} waiting jobs"
            return Reason.Priority, f"it would fit, but the network sees {seen}, and this one is not among them"
        chances = self._seen.chances(self._mask != 0)
        return self._explain_preference(int(found[0]), chances, name)

    def _explain_preference(
        self, mine: int, chances: NDArray[np.float64], name: Callable[[int], str]
    ) -> tuple[Reason, str]:
        """What the network would do instead of starting job `mine` of the window."""
        job, best = int(chances[:-1].argmax()), int(chances.argmax())
        rival = f"job {name(int(self._window[job]))}"
        if best == mine:
            return Reason.HeldByDelay, "it would fit, and the network starts it at its next decision"
        against = f"(probability {chances[best]:.2g}, against {chances[mine]:.2g} for starting this one"
        if best == job:
            return Reason.Priority, f"it would fit, but the network prefers {rival} {against})"
        rather = "" if job == mine else f", and {chances[job]:.2g} for {rival}"
        return Reason.HeldByDelay, f"it would fit, but the network chose to wait {against}{rather})"

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
    found = _load(agent, place.absolute(), observation, _modified_ns(place))
    _check_kind(found.card, place)
    return found


def _check_kind(card: "Card", place: Path) -> None:
    """That what it says of its agent is so: compiled code writes what it sees where the network looks.

    Raises:
        InputError: it is of another kind.
    """
    from pointsman.learn.agents import AGENTS, networks_of
    from pointsman.learn.environments.compiled.gangs import ACTIONS as GANG_ACTIONS
    from pointsman.learn.environments.compiled.observations.proximity import PLACES

    agent, seen = AGENTS[card.agent], card.observation
    if card.network.name not in networks_of(card.agent):
        raise InputError(f"{card.agent} with the network {card.network.name!r:.60}", path=place, fix="train it again")
    _check_numbers(card, place)
    if agent.task == "gangs" and (seen.name, seen.actions) == ("gangs", GANG_ACTIONS):
        return
    places = agent.task == "place"
    if agent.task == "gangs" or places != (seen.actions == PLACES + 1) or (seen.name == "proximity" and not places):
        raise InputError(f"{card.agent} that sees {seen.name!r:.60} and has {seen.actions} actions", path=place)
    for name in ("gpus", "picker"):
        if not isinstance(card.environment.get(name, ""), str):
            raise InputError(f"environment.{name} is {card.environment[name]!r:.60}, and no name", path=place)


def _check_numbers(card: "Card", place: Path) -> None:
    """That what runs take over from training are numbers that may be.

    Raises:
        InputError: one is not.
    """
    from pointsman.learn.checkpoint import CARD

    for name, least, most in (("schedulers", 1, 1000), ("patience", 0.0, 1e6)):
        value = card.environment.get(name, least)
        if isinstance(value, bool) or not isinstance(value, (int, type(least))) or not least <= value < most + 1:
            what = "a number" if isinstance(least, float) else "a whole number"
            cause = f"environment.{name} is {value!r:.60}, not {what} from {least:g} to {most:g}"
            raise InputError(cause, path=place / CARD, fix="copy it again, or train it again")


@lru_cache(maxsize=8)
def _load(agent: str, place: Path, observation: str, changed: tuple[int, ...]) -> "Checkpoint":
    from pointsman.learn.checkpoint import load_policy, observation_of, read_card

    card = read_card(place)
    if card.agent != agent:
        fix = f"use it as --policy {card.agent}:{place}"
        raise InputError(f"a checkpoint of {card.agent!r}", path=place, fix=fix)
    return load_policy(place, observation_of(card, place, observation))


def _modified_ns(place: Path) -> tuple[int, ...]:
    """When its files were written, so that a checkpoint written over is read anew."""
    return tuple(path.stat().st_mtime_ns for path in sorted(place.glob("policy.*")))
