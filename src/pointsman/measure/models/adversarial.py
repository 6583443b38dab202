"""DCGAN (Radford et al., 2016), as in PyTorch's tutorial: a generator and a discriminator, each with an optimizer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from pointsman.measure.training import Cut, autocast

NOISE, WIDTH = 100, 64
_adam = partial(torch.optim.Adam, lr=2e-4, betas=(0.5, 0.999))


def dcgan(batch: int) -> "AdversarialRecipe":
    """Images of 64 x 64."""
    return AdversarialRecipe(_generator(), _discriminator(), torch.randn(batch, 3, 64, 64))


@dataclass(frozen=True)
class AdversarialRecipe:
    """Two models that learn from each other."""

    generator: nn.Module
    discriminator: nn.Module
    images: Tensor

    def start(self, parts: Cut = 1, device: str = "cpu", precision: str = "fp32") -> "AdversarialTraining":
        """The training on a device."""
        return AdversarialTraining(self, parts, device, precision)


class AdversarialTraining:
    """A training whose step updates the discriminator, then the generator; each pass makes images anew."""

    def __init__(self, recipe: AdversarialRecipe, parts: Cut, device: str, precision: str) -> None:
        self.generator, self.discriminator = recipe.generator.to(device), recipe.discriminator.to(device)
        self.images, self.parts = recipe.images.to(device), parts
        self._optimizers = [_adam(model.parameters()) for model in (self.discriminator, self.generator)]
        self._autocast = autocast(self.images.device.type, precision)

    def __call__(self) -> None:
        for optimizer, loss in zip(
            self._optimizers, (self._loss_of_discriminator, self._loss_of_generator), strict=True
        ):
            optimizer.zero_grad()
            self._backward(loss)
            optimizer.step()

    def _backward(self, loss: Callable[[Tensor], Tensor]) -> None:
        for images in self.images.tensor_split(self.parts):
            with self._autocast():
                part = loss(images) / len(self.images)
            part.backward()

    def _loss_of_discriminator(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            made = self._make_images(len(images))
        return _summed_loss(self.discriminator(images), 1.0) + _summed_loss(self.discriminator(made), 0.0)

    def _loss_of_generator(self, images: Tensor) -> Tensor:
        return _summed_loss(self.discriminator(self._make_images(len(images))), 1.0)

    def _make_images(self, count: int) -> Tensor:
        return self.generator(torch.randn(count, NOISE, 1, 1, device=self.images.device))

    def parameters(self) -> list[nn.Parameter]:
        """Everything that is learnt."""
        return [*self.generator.parameters(), *self.discriminator.parameters()]

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        models = {"generator": self.generator.state_dict(), "discriminator": self.discriminator.state_dict()}
        return {**models, "optimizers": [optimizer.state_dict() for optimizer in self._optimizers]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.generator.load_state_dict(state["generator"])
        self.discriminator.load_state_dict(state["discriminator"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)


def _summed_loss(outputs: Tensor, real: float) -> Tensor:
    return binary_cross_entropy_with_logits(outputs, torch.full_like(outputs, real), reduction="sum")


def _generator() -> nn.Module:
    widths = (8 * WIDTH, 4 * WIDTH, 2 * WIDTH, WIDTH)
    layers: list[nn.Module] = [nn.ConvTranspose2d(NOISE, widths[0], 4, 1, 0, bias=False)]
    for width, after in zip(widths, (*widths[1:], 3), strict=True):
        layers += [nn.BatchNorm2d(width), nn.ReLU(True), nn.ConvTranspose2d(width, after, 4, 2, 1, bias=False)]
    return nn.Sequential(*layers, nn.Tanh())


def _discriminator() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, WIDTH, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
    for width in (WIDTH, 2 * WIDTH, 4 * WIDTH):
        convolution = nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False)
        layers += [convolution, nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2, True)]
    return nn.Sequential(*layers, nn.Conv2d(8 * WIDTH, 1, 4, 1, 0, bias=False), nn.Flatten())
