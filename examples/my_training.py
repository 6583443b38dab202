"""A model of your own, to measure: `pointsman measure step my_training.py:my_model --batch 32,64 -o steps.csv`."""

import torch
from torch import nn

from pointsman.measure.training import Recipe


def my_model(batch):
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 100))
    return Recipe(model, inputs=torch.randn(batch, 512), targets=torch.randint(100, (batch,)))
