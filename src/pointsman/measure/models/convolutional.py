"""ResNet (He et al., 2016) and VGG (Simonyan and Zisserman, 2015), laid out as in torchvision."""

import torch
from torch import Tensor, nn

from pointsman.measure.training import Recipe, sgd

_VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
"""Channels of each convolution; 0: pooling."""


def resnet18(batch: int) -> Recipe:
    """In the form for CIFAR: a small first convolution and no pooling after it."""
    widths = (64, 128, 256, 512)
    blocks = [
        _basic(widths[max(0, stage - (block == 0))], width, 2 if stage and block == 0 else 1)
        for stage, width in enumerate(widths)
        for block in range(2)
    ]
    model = nn.Sequential(_conv(3, 64, 3), nn.ReLU(True), *blocks, *_head(512, 10))
    return _on_images(model, batch, 32, 10)


def resnet50(batch: int) -> Recipe:
    """Bottlenecks of 3, 4, 6 and 3, with the stride in the convolution of 3 x 3."""
    stem = (_conv(3, 64, 7, 2), nn.ReLU(True), nn.MaxPool2d(3, 2, 1))
    blocks, channels = [], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for block in range(count):
            blocks.append(_bottleneck(channels, 64 << stage, 2 if stage and block == 0 else 1))
            channels = 256 << stage
    return _on_images(nn.Sequential(*stem, *blocks, *_head(channels, 1000)), batch, 224, 1000)


def vgg16(batch: int) -> Recipe:
    """Configuration D, with dropout."""
    layers: list[nn.Module] = []
    channels = 3
    for width in _VGG16:
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(True)] if width else [nn.MaxPool2d(2)]
        channels = width or channels
    dense = [nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(True)]
    model = nn.Sequential(*layers, nn.Flatten(), *dense, nn.Dropout(), nn.Linear(4096, 1000))
    return _on_images(model, batch, 224, 1000)


class _Residual(nn.Module):
    def __init__(self, branch: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.branch, self.shortcut = branch, shortcut

    def forward(self, images: Tensor) -> Tensor:
        return torch.relu(self.branch(images) + self.shortcut(images))


def _conv(channels: int, width: int, size: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(channels, width, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(width))


def _basic(channels: int, width: int, stride: int) -> nn.Module:
    branch = nn.Sequential(_conv(channels, width, 3, stride), nn.ReLU(True), _conv(width, width, 3))
    return _Residual(branch, _shortcut(channels, width, stride))


def _bottleneck(channels: int, width: int, stride: int) -> nn.Module:
    inner = (_conv(channels, width, 1), nn.ReLU(True), _conv(width, width, 3, stride), nn.ReLU(True))
    return _Residual(nn.Sequential(*inner, _conv(width, 4 * width, 1)), _shortcut(channels, 4 * width, stride))


def _shortcut(channels: int, width: int, stride: int) -> nn.Module:
    return nn.Identity() if (channels, stride) == (width, 1) else _conv(channels, width, 1, stride)


def _head(channels: int, classes: int) -> tuple[nn.Module, ...]:
    return nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)


def _on_images(model: nn.Module, batch: int, pixels: int, classes: int) -> Recipe:
    return Recipe(model, torch.randn(batch, 3, pixels, pixels), torch.randint(classes, (batch,)), sgd)
