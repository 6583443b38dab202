"""Neural collaborative filtering (He et al., 2017)."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from pointsman.measure.training import Recipe

USERS, ITEMS, FACTORS = 6_040, 3_706, 32


def ncf(batch: int) -> Recipe:
    """NeuMF with 32 factors and three layers, on pairs of a user and an item of MovieLens-1M."""
    pairs = torch.stack((torch.randint(USERS, (batch,)), torch.randint(ITEMS, (batch,))), 1)
    return Recipe(_NeuMF(), pairs, torch.randint(2, (batch,)).float(), loss=_summed_binary_cross_entropy)


def _summed_binary_cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(outputs, targets, reduction="sum")


class _NeuMF(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.user, self.item = nn.Embedding(USERS, FACTORS), nn.Embedding(ITEMS, FACTORS)
        self.deep_user, self.deep_item = nn.Embedding(USERS, 4 * FACTORS), nn.Embedding(ITEMS, 4 * FACTORS)
        sizes = (8 * FACTORS, 4 * FACTORS, 2 * FACTORS, FACTORS)
        layers = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU(True))]
        self.layers, self.last = nn.Sequential(*layers), nn.Linear(2 * FACTORS, 1)

    def forward(self, pairs: Tensor) -> Tensor:
        users, items = pairs.unbind(1)
        product = self.user(users) * self.item(items)
        deep = self.layers(torch.cat((self.deep_user(users), self.deep_item(items)), 1))
        return self.last(torch.cat((product, deep), 1)).squeeze(1)
