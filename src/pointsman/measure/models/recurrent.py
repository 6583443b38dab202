"""The LSTM language model of PyTorch's examples (word_language_model), with its defaults, on WikiText-2."""

from functools import partial

import torch
from torch import Tensor, nn

from pointsman.measure.training import Recipe

WORDS, WIDTH, LENGTH = 33_278, 200, 35


def lstm(batch: int) -> Recipe:
    """Two layers of 200 cells; the next word, at each of 35."""
    text = torch.randint(WORDS, (batch, LENGTH + 1))
    return Recipe(_Lstm(), text[:, :-1], text[:, 1:].contiguous(), partial(torch.optim.SGD, lr=1.0))


class _Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.dropout = nn.Embedding(WORDS, WIDTH), nn.Dropout(0.2)
        self.cells = nn.LSTM(WIDTH, WIDTH, 2, batch_first=True, dropout=0.2)
        self.next = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Tensor) -> Tensor:
        hidden, _ = self.cells(self.dropout(self.words(words)))
        return self.next(self.dropout(hidden))
