"""Who is compared: `metarl` as it was trained, without one of its parts, and what it is compared with."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.marl.cells import Cell as MarlCell
from benchmarks.placement.cell import BLIND
from pointsman.learn.meta.actor_critic import EPSILON
from pointsman.speed.interference.online.file import NAME

MARL: Final = Path(__file__).parents[1] / "marl" / "trained"
LEARNT: Final = MARL / "interference.yaml"
"""From logged placements, where no pair of models slowed each other more than others do."""
FIVE, TWO = (1, 2, 3, 4, 5), (1, 2)
STEPS: Final = 3
CEILING: Final = "scorer, true model"


@dataclass(frozen=True)
class Contestant:
    """A policy, with the parameters of each of its trainings."""

    label: str
    policy: str
    trainings: tuple[Mapping[str, Any], ...] = ({},)

    def params(self, training: int, cell: object) -> Mapping[str, Any]:
        """Of one of its trainings."""
        return self.trainings[training]


def untrained() -> list[Contestant]:
    """Those that learn nothing while they run."""
    told: dict[str, Mapping[str, Any]] = {
        "true model": {},
        "demands known": {"interference": "table"},
        "learnt file": {"interference": str(LEARNT)},
    }
    return [
        *(Contestant(name, name) for name in BLIND[:2]),
        *(Contestant(f"lif, {what}", "lif", (params,)) for what, params in told.items()),
        Contestant("packed", "packed"),
        Contestant("packed-patience", "packed-patience"),
        *(Contestant(f"scorer, {what}", "scorer", (params,)) for what, params in told.items()),
        Contestant("single agent, learnt file", "marl", tuple(_single(k) for k in TWO)),
    ]


def _single(k: int) -> Mapping[str, Any]:
    """Harmony-like: one scheduler whose network was trained on a model, and which is not corrected."""
    place = str((MARL / f"{variants.SINGLE.name}-{k}").absolute())
    return {"checkpoint": place, "schedulers": 1, "interference": str(MARL / MarlCell().learnt)}


def metarl(trained: Path, laws: Path) -> list[Contestant]:
    """`metarl` of the trainings in `trained`, itself and changed; checkpoints without a network go into `laws`.

    Plain training: as long, without meta-learning, each run going on from the weights of the last. Harmony-like: an
    actor and a critic trained as long by policy gradients, which explore at random. Both correct their model too.
    """
    five, two = ([str((trained / f"metarl-{k}").absolute()) for k in some] for some in (FIVE, TWO))
    plain, actors = ([str((trained / f"{how}-{k}").absolute()) for k in TWO] for how in ("plain", "actor-critic"))
    without = [str(_law(Path(place), laws)) for place in two]
    variants: list[tuple[str, list[str], Mapping[str, Any]]] = [
        ("metarl", five, {}),
        ("metarl, frozen", five, {"learn": False}),
        ("metarl, no exploration", two, {"explore": 0.0}),
        ("metarl, exploring anywhere", two, {"directed": False}),
        ("metarl, plain training", plain, {"directed": False}),
        ("harmony-like", actors, EPSILON),
        ("metarl, no network", without, {}),
        ("metarl, nothing meta-learnt", ["none"], {}),
        ("metarl, adapting", two, {"steps": STEPS}),
        ("metarl, adapting from scratch", without, {"steps": STEPS}),
    ]
    return [
        Contestant(label, "metarl", tuple({"checkpoint": place, **params} for place in places))
        for label, places, params in variants
    ]


def _law(place: Path, laws: Path) -> Path:
    """A checkpoint without its network."""
    to = laws / place.name
    to.mkdir(parents=True, exist_ok=True)
    shutil.copy(place / NAME, to)
    return to
