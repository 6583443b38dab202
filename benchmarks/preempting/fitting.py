"""``python -m benchmarks.preempting.fitting out/preempting``: a network of what choices are worth, from those tried.

Of ten seeds eight are learnt from, one says when to stop, and one says what the network would have gained.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.preempting import choosing

WEIGHTS: Final = Path(__file__).parent / "weights.json"
KEPT: Final = 0.98
"""Of the choices that changed anything, the share whose worth is learnt as it is; the rest count as much as those."""
EPOCHS, BATCH, RATE, DECAY = 40, 512, 2e-3, 1e-3


@dataclass(frozen=True)
class Tried:
    """Choices: what was seen (N, features), what each action was worth (N, actions), the seed of each (N,)."""

    seen: Tensor
    worth: Tensor
    seed: NDArray[np.int64]

    def of(self, tenths: Iterable[int]) -> NDArray[np.int64]:
        """Those of every tenth seed, by its last digit."""
        return np.flatnonzero(np.isin(self.seed % 10, list(tenths)))


def read(folder: Path) -> Tried:
    """What `trying` has written."""
    files = sorted(path for path in folder.glob("*.npz") if not path.name.endswith(".tmp.npz"))
    parts = [(np.load(path), int(path.stem.rsplit("-", 1)[1])) for path in files]
    found = [
        (part["seen"], part["worth"], np.full(len(part["seen"]), seed)) for part, seed in parts if len(part["seen"])
    ]
    seen, worth, seeds = (np.concatenate(column) for column in zip(*found, strict=True))
    return Tried(torch.tensor(seen, dtype=torch.float32), torch.tensor(worth, dtype=torch.float32), seeds)


class Worth(nn.Module):
    """What each action is worth, as `choosing` works it out."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(choosing.FEATURES, choosing.HIDDEN)
        self.out = nn.Linear(choosing.HIDDEN, choosing.ACTIONS)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, seen: Tensor) -> Tensor:
        return self.out(torch.relu(self.hidden(seen)))

    def weights(self, caution: float) -> list[float]:
        """As `choosing` keeps them."""
        layers = [torch.cat([one.weight, one.bias[:, None]], 1).flatten() for one in (self.hidden, self.out)]
        return [1.0, caution, *torch.cat(layers).tolist()]


def fitted(tried: Tried) -> Worth:
    """The network of the epoch that predicts the seeds best that say when to stop."""
    torch.manual_seed(0)
    learnt, checked = tried.of(range(8)), tried.of([8])
    limit = float(torch.quantile(tried.worth[tried.worth != 0].abs(), KEPT))
    worth, network, draw = tried.worth.clamp(-limit, limit), Worth(), np.random.default_rng(0)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    least, best = np.inf, network.state_dict()
    for _ in range(EPOCHS):
        for rows in np.array_split(draw.permutation(learnt), max(1, len(learnt) // BATCH)):
            optimizer.zero_grad()
            nn.functional.mse_loss(network(tried.seen[rows]), worth[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            error = float(nn.functional.mse_loss(network(tried.seen[checked]), worth[checked]))
        if error < least:
            least, best = error, {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(best)
    return network


@torch.no_grad()
def chosen(network: Worth, seen: Tensor, caution: float) -> Tensor:
    """The action that the network takes at each choice (N,)."""
    said = network(seen)
    said[seen[:, 0] > 0, choosing.NOBODY :] = -torch.inf  # there is room: nobody would be preempted
    best = said[:, 1:].max(1)
    return torch.where(best.values > said[:, 0] + caution, best.indices + 1, 0)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tried", type=Path, help="the folder that `trying` wrote")
    given = parser.parse_args()
    tried = read(given.tried)
    network = fitted(tried)
    rows = tried.of([9])
    actions = chosen(network, tried.seen[rows], choosing.CAUTION)
    gained = tried.worth[rows].gather(1, actions[:, None]).flatten()
    error = float(gained.std()) / len(rows) ** 0.5
    print(f"{len(tried.seed)} choices; {float((actions > 0).float().mean()):.1%} of those held out made otherwise")
    print(f"each worth {float(gained.mean()):.4f} ± {error:.4f} mean completion times")
    for action in range(1, choosing.ACTIONS):
        each = tried.worth[:, action]
        print(f"action {action} always: {float(each.mean()):.4f} ± {float(each.std()) / len(each) ** 0.5:.4f}")
    WEIGHTS.write_text(json.dumps([round(w, 5) for w in network.weights(choosing.CAUTION)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
