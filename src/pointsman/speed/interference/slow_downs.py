"""How much jobs on one GPU slow each other: measured pairs, the law of them, or a constant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite, log
from pathlib import Path
from typing import Final, Protocol

from pointsman.errors import UsageError
from pointsman.inputs.config_file import Document, read_document
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file, split_settings
from pointsman.speed.interference.file import InterferenceFile, InterferenceSpec, TypeFigures
from pointsman.speed.profiles.catalogue import Catalogue

SHIPPED: Final = Path(__file__).parent / "pairs" / "gavel.yaml"
MOST: Final = 1000
"""Times as long: more is no co-location."""
MAPPINGS: Final = ("kind", "sensitive", "insensitive")
"""What a model that was not measured is like: one of its kind, the worst, the mildest; or a model, by name."""


class Interference(Protocol):
    """The slow-down ξ of co-location."""

    def slow_down(self, gpu_type: str, model: str, beside: str) -> float:
        """How many times as long (≥ 1) an iteration of `model` takes beside `beside` on one GPU of that type.

        Raises:
            UsageError: nothing is known of such a pair.
        """
        ...

    def about(self, gpu_types: Iterable[str] = (), models: Iterable[str] = ()) -> tuple[str, ...]:
        """Sentences for the results: where it is from, and what is taken for what among these types and models."""
        ...


@dataclass(frozen=True)
class Constant:
    """One slowdown for all pairs."""

    value: float

    def slow_down(self, gpu_type: str, model: str, beside: str) -> float:
        """Always `value`."""
        return self.value

    def about(self, gpu_types: Iterable[str] = (), models: Iterable[str] = ()) -> tuple[str, ...]:
        """That it is."""
        return (f"interference: every job beside another on a GPU takes {self.value:g} times as long",)


@dataclass(frozen=True)
class Figures:
    """Figures of one file, and what stands in for what it does not hold."""

    name: str
    spec: InterferenceSpec
    catalogue: Catalogue
    mapping: str = "kind"
    by_law: bool = False
    """Take the law also where there are measurements."""

    def slow_down(self, gpu_type: str, model: str, beside: str) -> float | None:
        """As `Interference.slow_down`; None if this file tells nothing of it. Names are canonical."""
        found = self._stand_in(gpu_type, model, beside)
        if found is None:
            return None
        kind, a, b = found
        figures = self.spec.gpu_types[kind]
        return figures.law.slow_down(a, b) if self.by_law else figures.slow_down_of(a, b)

    def taken_for(self, gpu_types: Iterable[str], models: Iterable[str]) -> list[str]:
        """``bert as transformer``: what stands in for what, here."""
        names = list(models)
        said: dict[str, None] = {}
        for wanted in gpu_types:
            for name in names:
                if (found := self._stand_in(wanted, name, name)) is not None:
                    kind, *stand_ins = found
                    said |= {f"{wanted} as {kind}": None} if kind != wanted else {}
                    if stand_ins != [name, name]:
                        said |= {f"{name} as {_either(stand_ins)} on {wanted}": None}
        return list(said)

    def _stand_in(self, gpu_type: str, model: str, beside: str) -> tuple[str, str, str] | None:
        """The type of the most similar speed that has figures of both, and the models taken there."""
        options = {}
        for kind, figures in self.spec.gpu_types.items():
            a, b = self._mine(figures, model), self._other(figures, beside)
            if a is not None and b is not None:
                options[kind] = (a, b)
        if not options:
            return None
        types = self.catalogue.gpu_types
        speed = types[gpu_type].relative_speed
        kind = min(options, key=lambda k: (k != gpu_type, abs(log(types[k].relative_speed / speed))))
        return kind, *options[kind]

    def _mine(self, figures: TypeFigures, model: str) -> str | None:
        return self._one(figures, model, figures.law.sensitivity)

    def _other(self, figures: TypeFigures, beside: str) -> str | None:
        return self._one(figures, beside, figures.law.pressure)

    def _one(self, figures: TypeFigures, model: str, strength: Mapping[str, float]) -> str | None:
        if model in strength:
            return model
        if self.mapping == "kind":
            stand_in = self.spec.stand_ins.get(model)
        elif self.mapping in MAPPINGS:
            choose = max if self.mapping == "sensitive" else min
            stand_in = choose(strength, key=lambda name: strength[name])
        else:
            stand_in = self.mapping
        return stand_in if stand_in in strength else None


@dataclass(frozen=True)
class Table:
    """Figures of the first of some files that tells of a pair."""

    files: tuple[Figures, ...]

    def slow_down(self, gpu_type: str, model: str, beside: str) -> float:
        """As `Interference` has it; names and aliases."""
        catalogue = self.files[0].catalogue
        asked = catalogue.gpu_name(gpu_type), _canonical(catalogue, model), _canonical(catalogue, beside)
        for figures in self.files:
            if (found := figures.slow_down(*asked)) is not None:
                return found
        names = ", ".join(f.name for f in self.files)
        like = "--interference table:resnet50 takes all that was not for one that was"
        raise UsageError(f"no slow-down of {model} beside {beside} in {names} (profile pairs measures it; {like})")

    def about(self, gpu_types: Iterable[str] = (), models: Iterable[str] = ()) -> tuple[str, ...]:
        """A sentence on each file."""
        catalogue = self.files[0].catalogue
        kinds = list(dict.fromkeys(catalogue.gpu_name(name) for name in gpu_types))
        names = list(dict.fromkeys(_canonical(catalogue, name) for name in models))
        return tuple(_sentence(figures, kinds, names) for figures in self.files)


def load_interference(text: str, catalogue: Catalogue) -> Interference:
    """What ``--interference TEXT`` means.

    Args:
        text: ``table`` (measured pairs), ``law``, a number from 1, or a file of ``pointsman profile pairs``. All but
            the number may have a mapping after a colon: ``table:sensitive`` (see `MAPPINGS`), ``law:resnet50``.
        catalogue: models and GPU types, and the names they go by.

    Raises:
        UsageError: it is none of these, or the file is unreadable or wrong (file, line, cause and fix).
    """
    word, given = split_settings(text)
    mapping = "kind" if given is None else given
    if word in ("table", "law"):
        return Table((_file(SHIPPED, word, catalogue, mapping, by_law=word == "law"),))
    if (number := _number(text)) is not None:
        return Constant(number)
    if not names_file(word):
        hint = did_you_mean(word, ("table", "law"))
        raise UsageError(f"unknown interference {text!r} ({hint}; or a number from 1, or a file of 'profile pairs -o')")
    own = _file(Path(word), word, catalogue, mapping)
    return Table((own, _file(SHIPPED, "table", catalogue, "kind")) if own.mapping == "kind" else (own,))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not (isfinite(number) and 1 <= number <= MOST):
        raise UsageError(f"interference {text!r}: times as long as alone; give a number from 1 to {MOST:,}")
    return number


def _file(path: Path, name: str, catalogue: Catalogue, mapping: str, *, by_law: bool = False) -> Figures:
    spec = shipped() if path == SHIPPED else _read(path, catalogue)
    measured = {model for figures in spec.gpu_types.values() for model in figures.models}
    if mapping not in MAPPINGS:
        mapping = _canonical(catalogue, mapping)
        if mapping not in measured:
            raise UsageError(f"unknown mapping {mapping!r} of {name} ({did_you_mean(mapping, {*MAPPINGS, *measured})})")
    return Figures(name, spec, catalogue, mapping, by_law)


@cache
def shipped() -> InterferenceSpec:
    """The figures of ``table``, and the law of ``law``."""
    return read_document(SHIPPED, InterferenceFile).content.spec


def _read(path: Path, catalogue: Catalogue) -> InterferenceSpec:
    document = read_document(path, InterferenceFile)
    _check_names(document, catalogue)
    return document.content.spec


def _check_names(document: Document[InterferenceFile], catalogue: Catalogue) -> None:
    """UsageError unless GPU types are the catalogue's, and its models are called as there."""
    for kind, figures in document.content.spec.gpu_types.items():
        where = document.where("spec", "gpu_types", kind)
        if catalogue.gpu_types.get(kind) is None:
            hint = did_you_mean(kind, catalogue.gpu_types)
            raise UsageError(f"{where}: unknown GPU type {kind!r} ({hint}; --profiles FILE describes another)")
        for model in figures.models:
            if (name := _canonical(catalogue, model)) != model:
                raise UsageError(f"{where}: the catalogue knows {model!r} as {name!r} (write {name!r})")


def _canonical(catalogue: Catalogue, name: str) -> str:
    """The catalogue's name of a model, or its own if the catalogue does not know it."""
    return catalogue.model_name(name) if catalogue.knows(name) else name


def _either(names: list[str]) -> str:
    return names[0] if names[0] == names[1] else f"{names[0]} (slowed) and {names[1]} (slowing)"


def _sentence(figures: Figures, gpu_types: list[str], models: list[str]) -> str:
    spec = figures.spec
    gaps = sum(len(kind.gaps()) for kind in spec.gpu_types.values())
    pairs = gaps + sum(1 for kind in spec.gpu_types.values() for _ in kind.measured())
    how = "the law fitted to" if figures.by_law else "medians by pair of models,"
    filled = "" if figures.by_law else f"; {gaps} of {pairs} pairs filled by the law"
    taken = figures.taken_for(gpu_types, models)
    like = f"; taken by {figures.mapping}: {', '.join(taken)}" if taken else ""
    return f"interference {figures.name}: {how} {spec.source}{filled}{like}"
