"""Who is beside whom on a node: the combinations of jobs that slow-downs are known by."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import log2
from typing import NamedTuple

from pointsman.inputs.gpu_names import plain_name

Others = tuple[tuple[str, int], ...]
"""Models of other jobs and how many GPUs of the node each has, by name."""

_FORM = re.compile(r"(?P<gpus>[1-9]\d?)(?: beside (?P<others>.+))?")
_OTHER = re.compile(r"(?P<model>[^*]+)\*(?P<gpus>[1-9]\d?)")


class Server(NamedTuple):
    """Nodes of one GPU type and size, which are taken for alike."""

    gpu_type: str
    gpus: int

    @staticmethod
    def of(gpu_type: str, gpus: int) -> "Server":
        """The kind of nodes with `gpus` GPUs of a type, however the type is spelled."""
        return Server(plain_name(gpu_type), gpus)

    def __str__(self) -> str:
        return f"{self.gpus} x {self.gpu_type}"


class Combination(NamedTuple):
    """What a job has, and what others have, on GPUs of one node, each GPU held by one job."""

    model: str
    gpus: int
    others: Others

    def on_server(self) -> tuple[tuple[str, int], ...]:
        """All models on the node and their GPUs: what the combinations of its other jobs have in common with this."""
        return _sort_others((*self.others, (self.model, self.gpus)))

    @property
    def gpus_of_others(self) -> int:
        """How many GPUs of the node other jobs have."""
        return sum(gpus for _, gpus in self.others)

    @property
    def text(self) -> str:
        """``2 beside vgg16*1 + wlm*1``: GPUs of its own, then of others."""
        others = " + ".join(f"{model}*{gpus}" for model, gpus in self.others)
        return f"{self.gpus} beside {others}" if others else str(self.gpus)


def number_of(others: Others, place: Mapping[str, int]) -> int:
    """A whole number that stands for the others, where `place` numbers all models from 0: a digit for each GPU."""
    number = 0
    for model, gpus in others:
        for _ in range(gpus):
            number = number * (len(place) + 1) + place[model] + 1
    return number


def most_others(models: int) -> int:
    """The most GPUs that others may have in a combination of `models` models: its number has 53 bits."""
    return int(53 / log2(models + 1))


@lru_cache(1 << 16)
def combination_of(model: str, text: str) -> Combination:
    """What `text` says of a job of `model`.

    Raises:
        ValueError: it has another form.
    """
    found = _FORM.fullmatch(text)
    parts = found["others"].split(" + ") if found and found["others"] else []
    others = [_OTHER.fullmatch(part) for part in parts]
    if found is None or not all(others):
        raise ValueError(f"{text!r} is no combination (such as '1', or '2 beside vgg16*1 + wlm*1')")
    pairs = [(other["model"], int(other["gpus"])) for other in others if other]
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError(f"{text!r} names a model twice (write vgg16*2)")
    return Combination(model, int(found["gpus"]), _sort_others(pairs))


def others_of(pairs: Sequence[tuple[str, int]]) -> Others:
    """The others, each (model, GPUs): GPUs of one model are added up."""
    return _sort_others(pairs)


def _sort_others(pairs: Sequence[tuple[str, int]]) -> Others:
    added: dict[str, int] = {}
    for model, gpus in pairs:
        added[model] = added.get(model, 0) + gpus
    return tuple(sorted(added.items()))


def all_combinations(models: Sequence[str], gpus: int, most_others: int) -> Iterator[Combination]:
    """Yields every combination of these models on nodes of `gpus` GPUs, up to `most_others` of them held by others."""
    for own in range(1, gpus + 1):
        for beside in range(min(most_others, gpus - own) + 1):
            for others in combinations_with_replacement(models, beside):
                of_others = _sort_others([(model, 1) for model in others])
                yield from (Combination(model, own, of_others) for model in models)


def tabulated(models: Sequence[str], gpus: int, most_rows: int) -> list[Combination]:
    """Lists all combinations on nodes of `gpus` GPUs with as many GPUs of others as `most_rows` rows have room for."""
    found: list[Combination] = []
    for most in range(min(gpus, most_others(len(models)) + 1) if models else 0):
        more = list(all_combinations(models, gpus, most))
        if len(more) > most_rows:
            break
        found = more
    return found
