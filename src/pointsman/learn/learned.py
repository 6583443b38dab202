"""Learned policies in a run: the same observation, mask and start as in training, the best action by the network.

PyTorch is imported when a policy is made, not when it is listed.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pointsman.errors import InputError, UsageError
from pointsman.suggestion import did_you_mean
from pointsman.types import PLACEMENT_NAMES, Knowledge

if TYPE_CHECKING:
    from pointsman.engine.view import View
    from pointsman.learn.checkpoint import Checkpoint

SHIPPED = Path(__file__).parent / "shipped"
"""Weights that come with the package, a checkpoint for each agent that has any."""
OK = 0


class LearnedPicker:
    """Picks a job of those it sees, or none, until it would rather wait; a GPU picker places it."""

    name: ClassVar[str]
    needs: ClassVar[Knowledge] = "oracle"
    placement: ClassVar[str] = "spread"  # any free GPUs will do

    def __init__(self, checkpoint: str = "", gpus: str = "") -> None:
        """`checkpoint` is a directory, by default the shipped one; `gpus` a GPU picker, by default that of training."""
        from pointsman.learn.environments.loading import load_deciding, load_observation
        from pointsman.policies.gpu_pickers import GPU_PICKERS

        made = trained(self.name, checkpoint)
        picker = gpus or made.card.environment.get("gpus", "nearest")
        if picker not in GPU_PICKERS:
            raise UsageError(f"{self.name}.gpus {picker!r}: there is no such picker ({did_you_mean(picker, GPU_PICKERS)})")
        self._how, self._start = GPU_PICKERS.index(picker), load_deciding().start
        self._network, seen = made.network, made.card.observation
        self._slots = seen.actions - 1
        self._look = load_observation(seen.name).look
        self._window, self._mask = np.full(self._slots, -1, np.int64), np.zeros(seen.actions, np.int8)
        self._out, self._parts = _parts(seen.shapes, self._network.inputs)

    def decide(self, view: "View") -> None:
        """Start picked jobs until the network would wait, or none can start."""
        address: int = view._address
        while view.free_gpus > 0 and view.pending_count > 0 and self._look(address, self._window, self._mask, self._out):
            action = self._best()
            if action == self._slots or self._start(address, int(self._window[action]), self._how) != OK:
                return

    def _best(self) -> int:
        """The action that the mask allows and the network likes best."""
        import torch

        with torch.inference_mode():
            logits, _ = self._network(self._parts)
        return int(np.where(self._mask != 0, logits[0].numpy(), -np.inf).argmax())

    def copy(self) -> "LearnedPicker":
        """Itself: it remembers nothing from one decision to the next."""
        return self


def trained(agent: str, checkpoint: str) -> "Checkpoint":
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
    found = _loaded(place, _changed(place))
    if found.card.agent != agent:
        raise InputError(f"a checkpoint of {found.card.agent!r}", path=place, fix=f"use it as {found.card.agent}:{place}")
    return found


@lru_cache(maxsize=8)
def _loaded(place: Path, changed: tuple[int, ...]) -> "Checkpoint":
    from pointsman.learn.checkpoint import ObservationSpec, load_policy, read_card
    from pointsman.learn.environments.loading import shapes_of

    seen = read_card(place).observation
    try:
        shapes = shapes_of(seen.name, seen.actions - 1)
    except UsageError as error:
        raise InputError(str(error), path=place / "policy.yaml") from None
    return load_policy(place, ObservationSpec(name=seen.name, shapes=shapes, actions=seen.actions))


def _changed(place: Path) -> tuple[int, ...]:
    """When its files were written, so that a checkpoint written over is read anew."""
    return tuple(path.stat().st_mtime_ns for path in sorted(place.glob("policy.*")))


def _parts(shapes: dict[str, tuple[int, ...]], names: tuple[str, ...]) -> tuple[np.ndarray, dict[str, Any]]:
    """An array for all that is seen, and the parts of it that a network looks at, as tensors that share its memory."""
    import torch

    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    out = np.zeros(sum(sizes.values()), np.float32)
    ends = dict(zip(sizes, np.cumsum(list(sizes.values())).tolist(), strict=True))
    parts = {
        name: torch.from_numpy(out[ends[name] - sizes[name] : ends[name]].reshape(1, *shapes[name]))
        for name in names or sizes
    }
    return out, parts
