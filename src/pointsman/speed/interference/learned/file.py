"""The file of learnt slow-downs that ``profile interference -o FILE`` writes and ``--node-interference FILE`` reads."""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pointsman.errors import UsageError
from pointsman.inputs.config_file import Document, read_document
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.speed.interference.learned.combinations import Combination, Server, combination_of, most_others
from pointsman.speed.profiles.catalogue import Catalogue

KIND: Final = "LearnedInterference"
MOST: Final = 1000.0
"""Times as long: what is slower than this beside others does not run."""
DIGITS: Final = 10
"""Decimals of what was measured: enough for the engine's whole 1/2^30."""

SlowDown = Annotated[float, Field(ge=1.0, le=MOST, strict=True)]
Times = Annotated[float, Field(gt=0.0, le=MOST, strict=True)]
Disagreement = Annotated[float, Field(ge=0.0, le=20.0, strict=True)]
Name = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Beside(_Record):
    """How many times as long it takes beside another model."""

    met: Times
    """If that is there at all."""
    per_gpu: Times
    """Besides, for each of its GPUs."""


class Otherwise(_Record):
    """The additive law, as factors: ``alone * per_own_gpu^k``, times ``met * per_gpu^GPUs`` of each model beside it."""

    alone: Times
    per_own_gpu: Times
    beside: dict[Name, Beside]

    def slow_down(self, combination: Combination) -> float:
        """At least 1, at most `MOST`."""
        longer = self.alone
        for _ in range(combination.gpus):
            longer *= self.per_own_gpu
        for model, gpus in combination.others:
            if model in self.beside:
                longer *= self.beside[model].met
                for _ in range(gpus):
                    longer *= self.beside[model].per_gpu
        return min(MOST, max(1.0, longer))


class ModelFigures(_Record):
    """How many times as long the computing of a model takes, by combination: see `combinations.Combination.text`."""

    measured: dict[str, SlowDown] = {}
    predicted: dict[str, tuple[SlowDown, Disagreement]] = {}
    """And the standard deviation of its logarithm over the networks."""
    otherwise: Otherwise
    """The law of combinations that were neither predicted nor measured."""

    @model_validator(mode="after")
    def _each_is_a_combination(self) -> "ModelFigures":
        seen: dict[Combination, str] = {}
        for text in (*self.measured, *self.predicted):
            combination = combination_of("", text)
            if combination in seen:
                raise ValueError(f"{text!r} is there twice (also as {seen[combination]!r})")
            seen[combination] = text
        return self


class ServerFigures(_Record):
    """What was learnt of nodes of one GPU type and size."""

    gpu_type: Name
    gpus: Annotated[int, Field(ge=1, le=64, strict=True)]
    models: Annotated[dict[Name, ModelFigures], Field(min_length=1)]

    @property
    def server(self) -> Server:
        """The kind of node."""
        return Server.of(self.gpu_type, self.gpus)

    @cached_property
    def slow_downs(self) -> Mapping[Combination, float]:
        """The slowdown of each combination that was measured or predicted."""
        found: dict[Combination, float] = {}
        for model, figures in self.models.items():
            found |= {combination_of(model, text): times for text, (times, _) in figures.predicted.items()}
            found |= {combination_of(model, text): times for text, times in figures.measured.items()}
        return found


class LearnedSpec(_Record):
    """Where it is from, and the figures."""

    source: Name
    servers: Annotated[list[ServerFigures], Field(min_length=1)]

    @cached_property
    def models(self) -> list[str]:
        """All that are named, in order."""
        own = {name for server in self.servers for name in server.models}
        figures = [of_model for server in self.servers for of_model in server.models.values()]
        own |= {name for of_model in figures for name in of_model.otherwise.beside}
        combinations = [c for server in self.servers for c in server.slow_downs]
        return sorted(own | {name for c in combinations for name, _ in c.others})

    @model_validator(mode="after")
    def _combinations_can_be_numbered(self) -> "LearnedSpec":
        most = most_others(len(self.models))
        for server in self.servers:
            for combination in server.slow_downs:
                if combination.gpus_of_others > most:
                    limit = f"{most}, the most in a file of {len(self.models)} models"
                    raise ValueError(f"{combination.text!r}: others have more GPUs than {limit}")
        return self


class Metadata(_Record):
    """The file's own name."""

    name: Name


class LearnedFile(_Record):
    """One file of learnt slow-downs (``docs/guides/node-interference.md``)."""

    apiVersion: Literal["pointsman/v1"]
    kind: Literal["LearnedInterference"]
    metadata: Metadata
    spec: LearnedSpec


def is_learned(path: str | Path) -> bool:
    """Whether it is a file that says that it is of this kind."""
    try:
        head = Path(path).read_bytes()[:4096]
    except (OSError, ValueError):
        return False
    return re.search(rb"(?:^|[{,])\s*[\"']?kind[\"']?\s*:\s*[\"']?" + KIND.encode(), head, re.MULTILINE) is not None


def read_learned(path: str | Path, catalogue: Catalogue) -> LearnedSpec:
    """The figures of a file.

    Raises:
        UsageError: it is unreadable or wrong, or names a model or a GPU type that the catalogue does not know, or a
            kind of server twice (file, line, cause and fix).
    """
    written = Path(path).stat() if names_file(path) else None
    document = _document(str(path), (written.st_mtime_ns, written.st_size) if written else None)
    spec = document.content.spec
    seen: set[Server] = set()
    for i, server in enumerate(spec.servers):
        if server.server in seen:
            where = document.where("spec", "servers", i)
            raise UsageError(f"{where}: servers of {server.server} are there twice (leave one out)")
        seen.add(server.server)
        for model, figures in server.models.items():
            texts = [*figures.measured, *figures.predicted]
            others = {name for text in texts for name, _ in combination_of(model, text).others}
            for name in sorted({model, *others, *figures.otherwise.beside}):
                if not catalogue.knows(name) or catalogue.model_name(name) != name:
                    where = document.where("spec", "servers", i, "models", model)
                    raise UsageError(f"{where}: unknown model {name!r} ({did_you_mean(name, catalogue.models)})")
    return spec


@lru_cache(maxsize=4)
def _document(path: str, written: tuple[int, int] | None) -> Document[LearnedFile]:
    """The file, which takes a second or two to read; runs after one another often have the same."""
    return read_document(path, LearnedFile)


def learned_document(name: str, source: str, servers: list[ServerFigures]) -> dict[str, Any]:
    """The figures as such a file has them."""
    spec = {"source": source, "servers": [_plain(server) for server in servers]}
    return {"apiVersion": "pointsman/v1", "kind": KIND, "metadata": {"name": name}, "spec": spec}


def learned_yaml(name: str, source: str, servers: list[ServerFigures]) -> str:
    """The figures as such a file."""
    document = learned_document(name, source, servers)
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=160, default_flow_style=False)


class _Line(list[float]):
    """Numbers that are written on one line."""


class _Dumper(yaml.SafeDumper):
    """A line for each combination."""


_Dumper.add_representer(
    _Line, lambda dumper, line: dumper.represent_sequence("tag:yaml.org,2002:seq", line, flow_style=True)
)


def _plain(server: ServerFigures) -> dict[str, Any]:
    models = {name: _of_model(figures) for name, figures in sorted(server.models.items())}
    return {"gpu_type": server.gpu_type, "gpus": server.gpus, "models": models}


def _of_model(figures: ModelFigures) -> dict[str, Any]:
    law = figures.otherwise
    beside = {name: _digits({"met": b.met, "per_gpu": b.per_gpu}) for name, b in sorted(law.beside.items())}
    return {
        "otherwise": {**_digits({"alone": law.alone, "per_own_gpu": law.per_own_gpu}), "beside": beside},
        "measured": {text: round(times, DIGITS) for text, times in figures.measured.items()},
        "predicted": {text: _Line(float(f"{x:.5g}") for x in pair) for text, pair in figures.predicted.items()},
    }


def _digits(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in values.items()}
