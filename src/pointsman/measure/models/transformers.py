"""BERT-base (Devlin et al., 2019), GPT-2 small (Radford et al., 2019) and ViT-B/16 (Dosovitskiy et al., 2021): twelve
layers, width 768, twelve heads.
"""

import torch
from torch import Tensor, nn

from pointsman.measure.training import Recipe

WIDTH, LAYERS, HEADS = 768, 12, 12


def bert(batch: int) -> Recipe:
    """Fine-tuning on SQuAD: where the answer begins and ends among 384 tokens."""
    tokens = 384
    return Recipe(_Bert(), torch.randint(30_522, (batch, tokens)), torch.randint(tokens, (batch, 2)))


def gpt2(batch: int) -> Recipe:
    """The next token, at each of 1,024."""
    text = torch.randint(50_257, (batch, 1025))
    return Recipe(_Gpt2(), text[:, :-1], text[:, 1:].contiguous())


def vit_b16(batch: int) -> Recipe:
    """1,000 classes of images of 224 x 224, in patches of 16 x 16."""
    return Recipe(_Vit(), torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch,)))


def _layers(dropout: float, *, norm_first: bool) -> nn.ModuleList:
    return nn.ModuleList(
        nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout, "gelu", batch_first=True, norm_first=norm_first)
        for _ in range(LAYERS)
    )


class _Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, WIDTH) for n in (30_522, 512, 2))
        self.norm, self.dropout = nn.LayerNorm(WIDTH), nn.Dropout(0.1)
        self.layers = _layers(0.1, norm_first=False)
        self.answer = nn.Linear(WIDTH, 2)

    def forward(self, words: Tensor) -> Tensor:
        places = torch.arange(words.shape[1], device=words.device)
        hidden = self.dropout(self.norm(self.words(words) + self.places(places) + self.kinds.weight[0]))
        for layer in self.layers:
            hidden = layer(hidden)
        return self.answer(hidden).transpose(1, 2)


class _Gpt2(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50_257, WIDTH), nn.Embedding(1024, WIDTH)
        self.dropout, self.norm = nn.Dropout(0.1), nn.LayerNorm(WIDTH)
        self.layers = _layers(0.1, norm_first=True)

    def forward(self, words: Tensor) -> Tensor:
        length = words.shape[1]
        hidden = self.dropout(self.words(words) + self.places(torch.arange(length, device=words.device)))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=words.device)
        for layer in self.layers:
            hidden = layer(hidden, src_mask=mask, is_causal=True)
        return nn.functional.linear(self.norm(hidden), self.words.weight)


class _Vit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 16, 16)
        self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.places = nn.Parameter(torch.zeros(1, 1 + 14 * 14, WIDTH))
        self.layers = _layers(0.0, norm_first=True)
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1000))

    def forward(self, images: Tensor) -> Tensor:
        patches = self.patches(images).flatten(2).transpose(1, 2)
        hidden = torch.cat((self.token.expand(len(images), -1, -1), patches), 1) + self.places
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden[:, 0])
