"""A training from its first step to its last: what it writes, and how it goes on after it was stopped.

The directory is a checkpoint (``policy.yaml``, ``policy.safetensors``) with ``metrics.jsonl``, a line for each update,
TensorBoard's event file, and ``training.safetensors``, from which ``--resume`` goes on exactly as if nothing had been.
"""

import ctypes
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch.utils.tensorboard import SummaryWriter

from pointsman.errors import InputError, RunError, UsageError
from pointsman.inputs.output_path import replace_files
from pointsman.learn.algorithms.training_state import State, weights_of
from pointsman.learn.checkpoint import (
    METRICS,
    STATE,
    Card,
    check_same,
    open_tensors,
    policy_files,
    read_card,
    tensors_bytes,
)

if TYPE_CHECKING:
    from pointsman.learn.algorithms.rollout import Rollout

DONE = "done"
"""Name of the tensor of how far a training is: updates, steps."""
SAVE_EVERY_S = 20.0

Tell = Callable[[float, str], None]
"""Told the share that is over, and what to say about it."""


class Learner(Protocol):
    """An algorithm with its network and its environments."""

    rollout: "Rollout"

    def iterate(self, done: float) -> dict[str, float]:
        """Collect steps and learn; returns metrics, of them ``steps``."""
        ...

    def state(self) -> State:
        """All that is needed to go on."""
        ...

    def restore(self, state: State) -> None:
        """Be where `state` was taken."""
        ...


class TrainingRun:
    """A learner, the directory it is kept in, and how far it is."""

    def __init__(self, learner: Learner, card: Card, directory: Path) -> None:
        self.learner, self.card, self.directory = learner, card, directory
        self.updates, self.steps = 0, 0
        self._keep()

    def resume(self) -> None:
        """Go on from where the directory is.

        Raises:
            InputError: it holds no training, a broken one, or one of something else.
        """
        check_same(read_card(self.directory), self.card, self.directory)
        with open_tensors(self.directory / STATE) as file:
            state = {name: file.get_tensor(name) for name in list(file.keys())}
        if state.get(DONE, torch.zeros(0)).shape != (2,):
            raise InputError(f"no {DONE!r} in it", path=self.directory / STATE, fix="train anew, without --resume")
        self.updates, self.steps = map(int, state.pop(DONE))
        try:
            self.learner.restore(state)
        except InputError as error:
            raise InputError(error.cause, path=self.directory / STATE, fix=error.fix) from None
        _drop_later_lines(self.directory / METRICS, self.steps)
        self._keep()

    def run(self, steps: int, tell: Tell) -> None:
        """Train until `steps` steps are done; whatever stops it, what was learnt so far is saved.

        Raises:
            RunError: the network has come to NaN, or the training cannot be saved.
        """
        try:
            self._run(steps, tell)
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{self.directory}: the training cannot be saved: {why}; make room there") from error

    def _run(self, steps: int, tell: Tell) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        keep_memory()
        self._save()  # what is killed before the next one can be resumed, too
        began_s = saved_s = time.monotonic()
        began_steps = self.steps
        try:
            with SummaryWriter(str(self.directory)) as board, (self.directory / METRICS).open("a") as lines:
                while self.steps < steps:
                    row = self._iterate(steps)
                    now_s = time.monotonic()
                    row["steps_per_s"] = round((self.steps - began_steps) / (now_s - began_s), 1)
                    lines.write(json.dumps(row) + "\n")
                    lines.flush()
                    for name, value in row.items():
                        board.add_scalar(name, value, self.steps)
                    tell(min(1.0, self.steps / steps), _label(row))
                    if now_s - saved_s > SAVE_EVERY_S:
                        self._save()
                        saved_s = now_s
        finally:
            self._save()

    def _iterate(self, steps: int) -> dict[str, Any]:
        """One update; only when it is whole does it count."""
        metrics = self.learner.iterate(self.steps / steps)
        if any(value != value for value in metrics.values()):
            raise RunError("the training has come to NaN; train anew with a lower learning_rate")
        self.updates += 1
        self.steps += int(metrics.pop("steps"))
        self._keep()
        episodes = self.learner.rollout.take_episodes().summary()
        return {"updates": self.updates, "steps": self.steps, **episodes, **metrics}

    def _keep(self) -> None:
        """Remember this moment, for an interrupt may come in the middle of the next update."""
        self._kept = self.learner.state() | {DONE: torch.tensor([self.updates, self.steps])}

    def _save(self) -> None:
        card = self.card.model_copy(update={"steps": int(self._kept[DONE][1])})
        files = policy_files(self.directory, card, weights_of(self._kept))
        replace_files({self.directory / STATE: tensors_bytes(self._kept), **files})


def pick_device(name: str) -> torch.device:
    """The device of this name; ``auto`` is a CUDA GPU where there is one.

    Raises:
        UsageError: there is no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=name)
        return torch.device(name)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        raise UsageError(f"--device {name}: {why} (auto takes a GPU if there is one, and else cpu)") from None


def keep_memory() -> None:
    """Let glibc keep freed memory for the next update: giving it back and taking it again costs a fifth of the time."""
    if sys.platform != "linux":
        return
    trim_threshold, mmap_threshold = -1, -3
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        for option in (trim_threshold, mmap_threshold):
            libc.mallopt(option, 1 << 30)


def _drop_later_lines(path: Path, steps: int) -> None:
    """Forget what was noted after this step, and a line that was never finished."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text().splitlines(keepends=True):
        try:
            if not line.endswith("\n") or json.loads(line)["steps"] > steps:
                break
        except (ValueError, KeyError, TypeError):
            raise InputError("not a line of metrics", path=path, line=len(kept) + 1, fix="remove the file") from None
        kept.append(line)
    path.write_text("".join(kept))


def _label(row: dict[str, Any]) -> str:
    speed = f"{row['steps_per_s']:,.0f} steps/s"
    return f"{speed}, return {row['return']:.4g}" if "return" in row else speed
