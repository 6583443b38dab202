"""The file of what a scheduler has learnt of interference: ``performance-model.yaml`` in the directory of its run."""

from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pointsman.inputs.config_file import parse_document, read_document
from pointsman.speed.interference.learned.combinations import Combination, Server, combination_of
from pointsman.speed.interference.learned.file import MOST, Metadata, Name, SlowDown
from pointsman.speed.interference.online.coefficients import Coefficients
from pointsman.speed.interference.online.performance_model import Expected, Seen

NAME: Final = "performance-model.yaml"
DIGITS: Final = 10
"""Decimals of slowdowns."""

LARGEST: Final = 20.0
"""Coefficient of a logarithm: no server slows a job so much."""
MOST_VISITS: Final = 1_000_000_000
Coefficient = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Sight = tuple[SlowDown, Annotated[int, Field(ge=1, le=MOST_VISITS)]]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerExperience(_Record):
    """What was learnt on servers of one kind."""

    gpu_type: Name
    gpus: Annotated[int, Field(ge=1, le=64)]
    models: list[Name]
    coefficients: list[Coefficient]
    """The coefficients of the law that predicts (`Coefficients` of `models`)."""
    seen: dict[Name, dict[str, Sight]] = {}
    """By model and combination: how many times as long computing takes, and how often that was measured."""

    @model_validator(mode="after")
    def _fits_together(self) -> "ServerExperience":
        if list(self.models) != sorted(set(self.models)):
            raise ValueError("models must be in alphabetical order, each once")
        if len(self.coefficients) != (count := Coefficients(len(self.models)).count):
            raise ValueError(
                f"{len(self.models)} models have {count} coefficients, and {len(self.coefficients)} are given"
            )
        for model, sights in self.seen.items():
            named = {model, *(name for text in sights for name, _ in combination_of(model, text).others)}
            if unknown := sorted(named - set(self.models)):
                raise ValueError(f"seen.{model} names {', '.join(unknown)}, which models does not")
        return self

    @property
    def server(self) -> Server:
        """The kind."""
        return Server.of(self.gpu_type, self.gpus)

    @property
    def expected(self) -> Expected:
        """What to expect of such servers from now on."""
        return Expected(tuple(self.models), np.array(self.coefficients))

    @property
    def combinations(self) -> dict[Combination, Seen]:
        """What was seen there."""
        return {
            combination_of(model, text): Seen(float(np.log(times)), visits)
            for model, sights in self.seen.items()
            for text, (times, visits) in sights.items()
        }


class ExperienceSpec(_Record):
    """By kind of server."""

    servers: list[ServerExperience]

    @model_validator(mode="after")
    def _each_kind_is_there_once(self) -> "ExperienceSpec":
        seen: set[Server] = set()
        for one in self.servers:
            if one.server in seen:
                raise ValueError(f"servers of {one.server} are there twice; leave one out")
            seen.add(one.server)
        return self


class ExperienceFile(_Record):
    """One file (``docs/papers/metarl.md``)."""

    apiVersion: Literal["pointsman/v1"]
    kind: Literal["PerformanceModel"]
    metadata: Metadata
    spec: ExperienceSpec


def read_experience(path: Path) -> list[ServerExperience]:
    """What the file says, by kind of server.

    Raises:
        UsageError: it is unreadable or wrong (file, line, cause and fix).
    """
    return read_document(path, ExperienceFile).content.spec.servers


def parse_experience(text: str, origin: str) -> list[ServerExperience]:
    """Reads what the text of such a file says; messages call it `origin`."""
    return parse_document(text, ExperienceFile, origin=origin).content.spec.servers


def experience_yaml(servers: list[ServerExperience]) -> str:
    """Such a file."""
    spec = {"servers": [server.model_dump(mode="json") for server in servers]}
    head = {"apiVersion": "pointsman/v1", "kind": "PerformanceModel", "metadata": {"name": "metarl"}}
    return yaml.safe_dump(
        {**head, "spec": spec}, sort_keys=False, allow_unicode=True, width=160, default_flow_style=None
    )


def experience_of(server: Server, expected: Expected, seen: dict[Combination, Seen]) -> ServerExperience:
    """What a scheduler knows of servers of this kind."""
    told: dict[str, dict[str, Sight]] = {}
    for combination, one in seen.items():
        times = min(MOST, round(float(np.exp(one.log)), DIGITS))
        told.setdefault(combination.model, {})[combination.text] = (times, min(MOST_VISITS, one.visits))
    coefficients = [float(f"{x:.8g}") for x in np.clip(expected.values, -LARGEST, LARGEST)]
    return ServerExperience(
        gpu_type=server.gpu_type, gpus=server.gpus, models=list(expected.models), coefficients=coefficients, seen=told
    )
