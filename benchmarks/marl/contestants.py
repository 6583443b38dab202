"""Who is compared, and where the trainings are."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.marl.cells import Cell
from benchmarks.placement.cell import BLIND

Params = Mapping[str, Any]
TRAININGS: Final = (1, 2, 3, 4, 5)
SCORER, MARL, SINGLE = "scorer", "marl", "single agent"


@dataclass(frozen=True)
class Contestant:
    """A policy, with the parameters of each of its trainings."""

    label: str
    policy: str
    trainings: tuple[Params, ...] = ({},)
    divided: bool = False
    """Whether the schedulers of the cell share the cluster, and forward jobs."""

    def params(self, training: int, cell: Cell) -> Params:
        """Of one of its trainings, in a cell."""
        shared = {"schedulers": cell.schedulers, "forward": True} if self.divided else {}
        return {**self.trainings[training], **shared}


def untrained() -> list[Contestant]:
    """Placers that learn nothing, and what operators have."""
    names = (*BLIND, "random-place", "packed", "packed-patience", "fifo-backfill", "sjf-backfill")
    return [Contestant(name, name) for name in names]


def everybody(folder: Path) -> list[Contestant]:
    """Those above, and whichever trainings are in `folder`."""
    scorers = tuple(_each(folder, "scorer", _weights))
    found = [
        *untrained(),
        Contestant(SCORER, "scorer", scorers),
        Contestant(f"{SCORER}, divided", "scorer", scorers, divided=True),
        Contestant(SINGLE, "marl", tuple(_each(folder, "single", _checkpoint))),
        Contestant(MARL, "marl", tuple(_each(folder, "marl", _checkpoint)), divided=True),
    ]
    return [one for one in found if one.trainings]


def _each(folder: Path, name: str, params: Callable[[Path], Params]) -> list[Params]:
    places = [folder / f"{name}-{training}" for training in TRAININGS]
    return [params(place) for place in places if place.is_dir()]


def _weights(place: Path) -> Params:
    return json.loads((place / "policy.json").read_text(encoding="utf-8"))


def _checkpoint(place: Path) -> Params:
    return {"checkpoint": str(place.absolute())}
