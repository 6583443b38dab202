"""Two small models, for tests and for trying the commands on a CPU."""

from functools import partial

import torch
from torch import nn

from pointsman.measure.training import Recipe


def tiny_mlp(batch: int) -> Recipe:
    """Three dense layers."""
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10))
    return Recipe(model, torch.randn(batch, 256), torch.randint(10, (batch,)))


def tiny_transformer(batch: int) -> Recipe:
    """Two layers on 32 tokens."""
    layer = partial(nn.TransformerEncoderLayer, 64, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(100, 64), layer(), layer(), nn.Linear(64, 100))
    text = torch.randint(100, (batch, 33))
    return Recipe(model, text[:, :-1], text[:, 1:].contiguous())
