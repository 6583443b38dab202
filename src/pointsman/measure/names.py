"""The models and batches that a user names."""

from collections.abc import Sequence
from pathlib import Path
from symtable import symtable
from typing import NamedTuple

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.measure.models.catalogue import MODELS
from pointsman.speed.profiles.catalogue import load_catalogue, normal

MOST_BATCH = 1 << 24


class Model(NamedTuple):
    """A model to measure."""

    name: str
    """As files of measurements call it."""
    definition: str
    """The name of one that ships, or ``/path/file.py:function``."""
    batch: int | None
    """The usual one; None: the user says it."""


def find_models(texts: Sequence[str]) -> list[Model]:
    """The models that a user names, in this order.

    Raises:
        UsageError: there is none of that name, or there are two that readers take for one.
    """
    catalogue = load_catalogue()
    models = [_find_model(text) for text in texts]
    seen: dict[str, str] = {}
    for text, model in zip(texts, models, strict=True):
        name = catalogue.model_name(model.name) if catalogue.knows(model.name) else normal(model.name)
        if name in seen:
            raise UsageError(f"{text!r} and {seen[name]!r} are both called {name} (name a model once)")
        seen[name] = text
    return models


def _find_model(text: str) -> Model:
    file, colon, function = text.rpartition(":")
    if colon:
        path = Path(file)
        if not path.is_file():
            raise UsageError(f"{text}: there is no file {file} (give FILE.py:FUNCTION)")
        return Model(function, f"{path.resolve()}:{function}", None)
    catalogue = load_catalogue()
    name = catalogue.model_name(text) if catalogue.knows(text) else text
    found = {normal(shipped): shipped for shipped in MODELS}.get(normal(name))
    if found is None:
        fix = did_you_mean(name, MODELS)
        raise UsageError(f"no model {text!r:.60} to measure ({fix}; or give FILE.py:FUNCTION)")
    return Model(found, found, MODELS[found].batch)


class Batches:
    """What ``--batch`` says: ``8,16`` for all models, or ``bert=8,16`` for one."""

    def __init__(self, texts: Sequence[str], models: Sequence[Model]) -> None:
        """UsageError: one is no number, or of a model that is not measured."""
        self._of_all: tuple[int, ...] = ()
        self._of_model: dict[str, tuple[int, ...]] = {}
        names = {normal(model.name): model.name for model in models}
        for text in texts:
            name, equals, numbers = text.rpartition("=")
            if "=" in name:
                first = name.rpartition(",")[0] or name
                raise UsageError(f"--batch {text}: of one model each; repeat --batch, as --batch {first} --batch …")
            if equals and normal(name) not in names:
                raise UsageError(
                    f"--batch {text}: no model {name!r} is measured ({did_you_mean(name, names.values())})"
                )
            sizes = whole_numbers("--batch", numbers, MOST_BATCH)
            if equals:
                self._of_model[names[normal(name)]] = _add(self._of_model.get(names[normal(name)], ()), sizes)
            else:
                self._of_all = _add(self._of_all, sizes)

    def of(self, model: Model, usual: Sequence[float] = (1.0,)) -> tuple[int, ...]:
        """Batches of a model, without `--batch` these shares of its usual one.

        Raises:
            UsageError: it has no usual one.
        """
        found = self._of_model.get(model.name) or self._of_all
        if found:
            return found
        if model.batch is None:
            _check_function(model)
            raise UsageError(f"{model.name} has no usual batch: give it, as --batch {model.name}=32")
        return tuple(dict.fromkeys(max(1, round(share * model.batch)) for share in usual))

    def only(self, model: Model) -> int:
        """The one batch of a model; UsageError if there are several, or none."""
        found = self.of(model)
        if len(found) > 1:
            raise UsageError(f"{model.name}: several batches, {', '.join(map(str, found))} (give one with --batch)")
        return found[0]


def _check_function(model: Model) -> None:
    """UsageError if the user's file certainly has no function of that name."""
    path = Path(model.definition.rpartition(":")[0])
    try:
        text = path.read_text()
        table = symtable(text, path.name, "exec")
    except (OSError, SyntaxError, ValueError):
        return  # the job says why
    if model.name not in table.get_identifiers() and "import *" not in text:
        functions = [symbol.get_name() for symbol in table.get_symbols() if symbol.is_namespace()]
        raise UsageError(f"{path} has no function {model.name!r} ({did_you_mean(model.name, functions)})")


def _add(known: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(known + new))


def whole_numbers(option: str, text: str, most: int) -> tuple[int, ...]:
    """Numbers from 1, separated by commas, each once.

    Raises:
        UsageError: one is something else.
    """
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= most):
            raise UsageError(f"{option} {text}: {word!r} is no whole number from 1 to {most} (write 8,16,32)")
    return tuple(dict.fromkeys(int(word) for word in words))
