"""The file of slow-downs that ``--interference FILE`` reads and ``pointsman profile pairs -o FILE`` writes."""

from collections.abc import Iterator, Mapping
from math import exp
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

Ordered = tuple[str, str]
"""A model, and the one beside it."""

MOST = 1000.0
"""Times as long: what is slower than this beside another does not run."""

SlowDown = Annotated[float, Field(ge=1.0, le=MOST, strict=True)]
LogSlowDown = Annotated[float, Field(ge=-20.0, le=20.0, strict=True)]
Name = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PairLaw(_Record):
    """``ξ(a | b) = max(1, exp(sensitivity of a + pressure of b))`` on one GPU type.

    Only the sums mean something. The fit splits them so that sensitivities and pressures have the same sum.
    """

    sensitivity: dict[Name, LogSlowDown]
    pressure: dict[Name, LogSlowDown]

    def slow_down(self, model: str, beside: str) -> float:
        """How many times as long an iteration of `model` takes beside `beside`."""
        return max(1.0, exp(self.sensitivity[model] + self.pressure[beside]))


class TypeFigures(_Record):
    """What was measured on one GPU type, and the law of it."""

    slow_down: dict[Name, dict[Name, SlowDown]]
    """By model, and by the one beside it: the median over what was measured."""
    law: PairLaw

    @model_validator(mode="after")
    def _law_knows_all(self) -> "TypeFigures":
        named = {model for pair in self.measured() for model in pair}
        if not named:
            raise ValueError("slow_down holds no pair")
        for part in ("sensitivity", "pressure"):
            if (there := set(getattr(self.law, part))) != named:
                odd = ", ".join(sorted(there ^ named))
                raise ValueError(f"law.{part} must name the models of slow_down, and no other (not so: {odd})")
        return self

    def measured(self) -> Iterator[Ordered]:
        """The pairs that were measured."""
        return ((model, beside) for model, row in self.slow_down.items() for beside in row)

    @property
    def models(self) -> list[str]:
        """All that were measured, in order of the alphabet."""
        return sorted(self.law.sensitivity)

    def slow_down_of(self, model: str, beside: str) -> float:
        """As measured, or by the law where it was not."""
        measured = self.slow_down.get(model, {})
        return measured[beside] if beside in measured else self.law.slow_down(model, beside)

    def gaps(self) -> list[Ordered]:
        """The pairs that only the law can tell."""
        names = self.models
        return [(a, b) for a in names for b in names if b not in self.slow_down.get(a, {})]


class InterferenceSpec(_Record):
    """Figures by GPU type, and which models others behave like."""

    source: Name
    gpu_types: Annotated[dict[Name, TypeFigures], Field(min_length=1)]
    stand_ins: dict[Name, Name] = {}
    """For a model that was not measured, one that was."""

    @model_validator(mode="after")
    def _stand_ins_are_measured(self) -> "InterferenceSpec":
        measured = {model for figures in self.gpu_types.values() for model in figures.models}
        for model, stand_in in self.stand_ins.items():
            if stand_in not in measured:
                raise ValueError(f"stand_ins.{model} is {stand_in!r}, which is not measured in this file")
        return self


class Metadata(_Record):
    """The file's own name."""

    name: Name


class InterferenceFile(_Record):
    """One file of slow-downs (``docs/formats/pairs.md``)."""

    apiVersion: Annotated[str, Field(pattern="^pointsman/v1$")]
    kind: Annotated[str, Field(pattern="^Interference$")]
    metadata: Metadata
    spec: InterferenceSpec


def interference_yaml(
    name: str, source: str, gpu_types: Mapping[str, TypeFigures], stand_ins: Mapping[str, str] | None = None
) -> str:
    """The figures as such a file, to four digits."""
    spec = {"source": source, "gpu_types": {kind: _plain(figures) for kind, figures in gpu_types.items()}}
    if stand_ins:
        spec["stand_ins"] = dict(stand_ins)
    document = {"apiVersion": "pointsman/v1", "kind": "Interference", "metadata": {"name": name}, "spec": spec}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=160, default_flow_style=None)


def _plain(figures: TypeFigures) -> dict[str, dict[str, dict[str, float]]]:
    law = {"sensitivity": _digits(figures.law.sensitivity), "pressure": _digits(figures.law.pressure)}
    return {"slow_down": {model: _digits(row) for model, row in sorted(figures.slow_down.items())}, "law": law}


def _digits(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.4g}") for name, value in sorted(values.items())}
