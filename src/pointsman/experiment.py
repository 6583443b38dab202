"""The `Experiment` file: what ``pointsman simulate`` and ``compare`` are asked to do, in full.

Every option of the two commands has the same name here, so that ``config.resolved.yaml`` of any run is an
experiment that runs again.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pointsman.errors import UsageError
from pointsman.inputs.bounds import LOADS, MAX_LOAD, MIN_LOAD, SEEDS
from pointsman.inputs.durations import parse_duration_s
from pointsman.types import MAX_SHARING

Placement = Literal["consolidated", "first-fit", "spread", "tightest"]
Oversized = Literal["refuse", "drop", "clamp"]
Congestable = Literal["rack", "pod", "cluster", "network"]
Params = dict[str, Any]


def _no_switch(value: Any) -> Any:
    if isinstance(value, bool):  # which Python takes for 0 or 1
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


Seed = Annotated[int, BeforeValidator(_no_switch), Field(ge=0, lt=SEEDS)]
Factor = Annotated[float, BeforeValidator(_no_switch), Field(ge=1, le=1e6, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _as_choice(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _as_window(value: Any) -> Any:
    return parse_window_s(value) if isinstance(value, str) else value


def _in_range(load: float) -> float:
    if not MIN_LOAD <= load <= MAX_LOAD:
        raise ValueError(LOADS)
    return load


def _as_text(value: Any) -> Any:
    """A number may be written as such."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_contention(text: str) -> str:
    from pointsman.engine.rate_models.uplinks import parse_link_sharing

    try:
        parse_link_sharing(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return text


def _as_rate_model(text: str) -> str:
    from pointsman.engine.rate_models.rate_model import parse_rate_model

    try:
        parse_rate_model(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return text


class PolicyChoice(_Part):
    """A policy with its parameters; a bare name stands for one with the defaults."""

    name: str = Field(min_length=1)
    """``fifo``, ``my_policy.py:MyPolicy``, ``rounds(srtf, 60)``."""
    params: Params = Field(default_factory=dict)
    """Parameters that differ from the policy's defaults."""


class Metadata(_Part):
    """What the experiment is called."""

    name: str = Field(min_length=1)


class ExperimentSpec(_Part):
    """What to replay, where, under which policies and on what assumptions."""

    trace: str = Field(min_length=1)
    """The job log; ``-`` is standard input. A path is relative to the experiment file."""
    trace_format: str | None = None
    """The log's format; found out by default."""
    only: dict[str, Annotated[tuple[str, ...], BeforeValidator(_as_list, json_schema_input_type=list[str] | str)]] = (
        Field(default_factory=dict)
    )
    """Keep only jobs with these values in these columns."""
    cluster: str = Field(min_length=1)
    """A ready cluster's name, a shorthand, or a file."""
    policies: tuple[
        Annotated[PolicyChoice, BeforeValidator(_as_choice, json_schema_input_type=PolicyChoice | str)], ...
    ] = Field(min_length=1)
    """The policies to run."""
    seeds: tuple[Seed, ...] = Field((0,), min_length=1)
    """Each policy runs once with each of these."""
    estimate: str | None = None
    """What policies are told of durations: none, limit, oracle or lognormal:SIGMA; by default what each needs."""
    placement: Placement | None = None
    """How GPUs are chosen for a job."""
    overheads: str | dict[str, float] = "none"
    """none, realistic, a file, or the times of starting, stopping, checkpoints and restores themselves."""
    oversized: Oversized = "refuse"
    """What becomes of a job that can never fit."""
    assign_models: Seed | None = None
    """Give jobs without a model one, by this seed."""
    profiles: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    """Files of model profiles, which go before the shipped ones."""
    congestion: dict[Congestable, Factor] = Field(default_factory=dict)
    """By how much the bandwidth of a level of the network is divided."""
    contention: Annotated[str, AfterValidator(_as_contention)] = "none"
    """How jobs share links: none, level, max-min, duty-cycle or node-link[:PENALTY]."""
    rate_model: Annotated[str, AfterValidator(_as_rate_model)] | None = None
    """rates, iterations[:a=MS,b=MS_PER_MB,eta=MS_PER_MB,sharing=JOBS] or goodput; by default what each policy needs."""
    gpu_sharing: Annotated[int, BeforeValidator(_no_switch), Field(ge=1, le=MAX_SHARING)] | None = None
    """Jobs that a GPU may have; by default what each policy needs."""
    interference: Annotated[str, BeforeValidator(_as_text)] | None = None
    """How jobs on one GPU slow each other: table, law, a number, or a file of pointsman profile pairs."""
    load: Annotated[float, BeforeValidator(_no_switch), AfterValidator(_in_range)] | None = None
    """Rescale the gaps between submits so that the work asked for is this part of what the cluster can do."""
    window: (
        Annotated[tuple[float, float], BeforeValidator(_as_window, json_schema_input_type=tuple[float, float] | str)]
        | None
    ) = None
    """Count the jobs submitted between these seconds, since the first submit."""
    enforce_limits: bool = False
    """Kill jobs at their time limit; by default they run as long as the log says."""
    audit: bool = False
    """Check every invariant at every event."""

    @field_validator("policies", "seeds")
    @classmethod
    def _once_each(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        for i, value in enumerate(values):
            if value in values[:i]:
                raise ValueError(f"{getattr(value, 'name', value)} is given twice")
        return values


class Experiment(_Part):
    """An experiment file."""

    api_version: Literal["pointsman/v1"] = Field("pointsman/v1", alias="apiVersion")
    kind: Literal["Experiment"] = "Experiment"
    metadata: Metadata
    spec: ExperimentSpec

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, in full."""
        return self.model_dump(mode="json", by_alias=True)

    def to_yaml(self) -> str:
        """The document as YAML; reading it back gives an equal experiment."""
        import yaml

        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=110)


def read_experiment(path: str | Path) -> Experiment:
    """The experiment in a YAML or TOML file, the paths in it made relative to the working directory.

    Raises:
        UsageError: the file cannot be read, or says something that an experiment cannot.
    """
    from pointsman.inputs.config_file import read_document

    return located(read_document(path, Experiment).content, Path(path).parent)


def located(experiment: Experiment, home: Path) -> Experiment:
    """The experiment with the names of files in the folder `home` preceded by it."""
    spec = experiment.spec
    texts = {key: getattr(spec, key) for key in ("trace", "cluster", "overheads", "interference")}
    found = {key: at for key, text in texts.items() if isinstance(text, str) and (at := _beside(home, text)) != text}
    policies = tuple(choice.model_copy(update={"name": _beside(home, choice.name)}) for choice in spec.policies)
    changes = {**found, "policies": policies}
    if spec.profiles:
        changes["profiles"] = tuple(_beside(home, file) for file in spec.profiles)
    return experiment.model_copy(update={"spec": spec.model_copy(update=changes)})


def _beside(home: Path, text: str) -> str:
    file, colon, rest = text.partition(":")
    beside = home / file
    return f"{beside}{colon}{rest}" if text != "-" and beside.is_file() else text


def parse_window_s(text: str) -> tuple[float, float]:
    """Seconds of ``FROM:TO``, each a duration since the first submit; either may be left out.

    Slurm's notation has colons of its own, so it cannot be used here.

    Raises:
        ValueError: no such pair.
    """
    if text.count(":") != 1:
        raise ValueError(f"{text!r} is no window; write it FROM:TO, like 1d:8d or 12h:")
    start, end = (part.strip() for part in text.split(":"))
    window = parse_duration_s(start) if start else 0.0, parse_duration_s(end) if end else float("inf")
    if window[1] < window[0]:
        raise ValueError(f"the window {text!r} ends before it begins")
    return window
