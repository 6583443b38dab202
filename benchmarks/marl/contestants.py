"""Who is compared, and where the trainings are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.marl import variants
from benchmarks.marl.cells import Cell
from benchmarks.marl.variants import FIVE, LEARNT, Variant
from benchmarks.placement.cell import BLIND

Params = Mapping[str, Any]
SCORER, MARL, SINGLE = "scorer", variants.MARL.label, variants.SINGLE.label


@dataclass(frozen=True)
class Contestant:
    """A policy, with the parameters of each of its trainings."""

    label: str
    policy: str
    trainings: tuple[Params, ...] = ({},)
    divided: bool = False
    """Whether the schedulers of the cell share the cluster."""
    forward: bool = True
    """Whether they forward jobs."""
    knows: Path | None = None
    """The file by which it forecasts interference. None: it does not, or by the truth."""

    def params(self, training: int, cell: Cell) -> Params:
        """Of one of its trainings, in a cell."""
        shared = {"schedulers": cell.schedulers, "forward": self.forward} if self.divided else {}
        return {**self.trainings[training], **shared, **self._told(cell)}

    def _told(self, cell: Cell) -> Params:
        if self.knows is None:
            return {}
        return {"interference": str(self.knows.with_name(cell.learnt) if self.knows.name == LEARNT else self.knows)}


def untrained() -> list[Contestant]:
    """Placers that learn nothing, and what operators have. They are told the truth."""
    names = (*BLIND, "random-place", "packed", "packed-lif", "packed-patience", "fifo-backfill", "sjf-backfill")
    return [Contestant(name, name) for name in names]


def everybody(folder: Path) -> list[Contestant]:
    """Those above, and whichever trainings are in `folder`."""
    found = [
        *untrained(),
        _scorer(folder, SCORER),
        _scorer(folder, f"{SCORER}, divided", divided=True),
        _marl(folder, variants.SINGLE),
        _marl(folder, variants.MARL),
    ]
    return [one for one in found if one.trainings]


def ablations(folder: Path) -> list[Contestant]:
    """What differs in one thing from the scorer, divided, or from MARL."""
    no_wait: Params = {"patience": 0.0}
    found = [
        _scorer(folder, f"{SCORER}, no waiting", no_wait, divided=True),
        _scorer(folder, f"{SCORER}, no forwarding", divided=True, forward=False),
        _scorer(folder, f"{SCORER}, the truth", knows=None, divided=True),
        _marl(folder, variants.MARL, f"{MARL}, no forwarding", forward=False),
        *(_marl(folder, variant) for variant in variants.ABLATIONS),
    ]
    return [one for one in found if one.trainings]


def _scorer(
    folder: Path,
    label: str,
    also: Params | None = None,
    *,
    knows: str | None = LEARNT,
    divided: bool = False,
    forward: bool = True,
) -> Contestant:
    places = [folder / f"scorer-{training}" / "policy.json" for training in FIVE]
    found = [json.loads(place.read_text(encoding="utf-8")) for place in places if place.is_file()]
    trainings = tuple(one | (also or {}) for one in found)
    return Contestant(label, "scorer", trainings, divided, forward, _file(folder, knows))


def _marl(folder: Path, variant: Variant, label: str = "", forward: bool = True) -> Contestant:
    places = [folder / f"{variant.name}-{training}" for training in variant.trainings]
    trainings = tuple({"checkpoint": str(place.absolute())} for place in places if place.is_dir())
    knows = _file(folder, variant.knows)
    return Contestant(label or variant.label, "marl", trainings, variant.divided, forward, knows)


def _file(folder: Path, name: str | None) -> Path | None:
    return None if name is None else folder.absolute() / name
