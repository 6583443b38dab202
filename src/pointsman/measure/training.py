"""One training on synthetic data: a model, a batch, and how a step computes it at once or in parts."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

PRECISIONS: Final = {"fp32": None, "bf16": torch.bfloat16}
"""By name, what a forward pass computes in under autocast; weights and gradients stay in fp32."""

Cut = int | tuple[int, ...]
"""Number of equal parts, or the samples at which the batch is split."""
MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
Loss = Callable[[Tensor, Tensor], Tensor]

sgd: Final = partial(torch.optim.SGD, lr=0.01, momentum=0.9)
adamw: Final = partial(torch.optim.AdamW, lr=1e-4)


def summed_cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy of classes in the last dimension, summed over all targets."""
    return cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="sum")


@dataclass(frozen=True)
class Recipe:
    """What is trained: `loss` is a sum over targets, so that parts of a batch add up to the whole."""

    model: nn.Module
    inputs: Tensor
    targets: Tensor
    optimizer: MakeOptimizer = adamw
    loss: Loss = summed_cross_entropy

    def start(self, parts: Cut = 1, device: str = "cpu", precision: str = "fp32") -> "Training":
        """The training on a device."""
        return Training(self, parts, device, precision)


class Training:
    """A training whose call is one step: forward, backward and optimizer. It does not wait for the device."""

    def __init__(self, recipe: Recipe, parts: Cut = 1, device: str = "cpu", precision: str = "fp32") -> None:
        self.model = recipe.model.to(device)
        self.inputs, self.targets = recipe.inputs.to(device), recipe.targets.to(device)
        self.optimizer = recipe.optimizer(self.model.parameters())
        self.parts, self._loss = parts, recipe.loss
        self._autocast = autocast(self.inputs.device.type, precision)

    def backward(self, parts: Cut | None = None) -> Tensor:
        """The mean loss of the batch; leaves its gradients in the parameters.

        Each part's sum is divided by the number of targets in the batch, so the parts always add up to the batch mean.
        """
        cut = self.parts if parts is None else parts
        self.optimizer.zero_grad()
        loss = torch.zeros((), device=self.inputs.device)
        for inputs, targets in zip(self.inputs.tensor_split(cut), self.targets.tensor_split(cut), strict=True):
            with self._autocast():
                part = self._loss(self.model(inputs), targets) / self.targets.numel()
            part.backward()
            loss = loss + part.detach()
        return loss

    def __call__(self) -> None:
        self.backward()
        self.optimizer.step()

    def parameters(self) -> list[nn.Parameter]:
        """Everything that is learnt."""
        return list(self.model.parameters())

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


def autocast(device_type: str, precision: str) -> Callable[[], AbstractContextManager[Any]]:
    """Makes contexts in which forward passes compute in that precision.

    Raises:
        ValueError: there is no such precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"unknown precision {precision!r}: one of {', '.join(PRECISIONS)}")
    dtype = PRECISIONS[precision]
    return partial(torch.autocast, device_type, dtype=dtype) if dtype else nullcontext
