"""Every option of a run, defined once: its name, type, default, limits, unit and one sentence.

From the models here come the flags of ``simulate`` and ``compare`` (`pointsman.cli.options`), the keywords of
`pointsman.simulate`, the experiment file and its schema, ``config.resolved.yaml`` and ``docs/reference/options.md``.
A new option is a field of `Assumptions`, if it is for one run, or else of `ExperimentSpec`; tests say what is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationError,
    WrapSerializer,
    create_model,
    field_validator,
)

from pointsman.engine.rate_models.registry import meanings, options_of_factors
from pointsman.errors import UsageError
from pointsman.inputs.bounds import MAX_LOAD, MIN_LOAD
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.inputs.messages import fault_of
from pointsman.inputs.option import about, meaning_of, option
from pointsman.inputs.option_types import (
    Costs,
    Duration,
    Factor,
    Filters,
    JobsOfGpu,
    Load,
    Params,
    Paths,
    Seed,
    Sigma,
    Window,
    as_list,
    once_each,
    one_or_several,
    parsed_by,
)
from pointsman.types import MAX_SHARING, PLACEMENT_NAMES

if TYPE_CHECKING:
    PlacementName = str
else:
    PlacementName = Literal[tuple(PLACEMENT_NAMES)]
Oversized = Literal["refuse", "drop", "clamp"]
Ignorable = Literal[
    "user", "queue", "partition", "model", "gpu_type", "shape", "fraction", "time_limit_s", "priority", "preemptible"
]  # fmt: skip
Congestable = Literal["rack", "pod", "cluster", "network"]

WHAT, ASSUMED = "What to replay", "Assumptions"
"""Headings in ``--help``."""


def _as_choice(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _keepable(given: tuple[str, ...]) -> tuple[str, ...]:
    from pointsman.workload.rules.kept_columns import keep_of

    try:
        keep_of(given, option="keep_columns")
    except UsageError as error:
        raise ValueError(str(error).removeprefix("keep_columns: ")) from None
    return given


KeptColumns = Annotated[
    tuple[str, ...], BeforeValidator(as_list, json_schema_input_type=list[str] | str), AfterValidator(_keepable)
]
Contention = Annotated[str, parsed_by("pointsman.engine.rate_models.links.uplinks:parse_link_sharing")]
RateModel = Annotated[str, parsed_by("pointsman.engine.rate_models.registry:parse_rate_model")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Self:
        """The model of these values.

        Raises:
            UsageError: one of them is wrong.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            name, fault = fault_of(error)
            if error.errors()[0]["type"] == "extra_forbidden":
                fault = f"no such option ({did_you_mean(name, cls.model_fields)})"
            raise UsageError(f"{name}: {fault}") from None


class PolicyChoice(_Part):
    """A policy with its parameters; a bare name stands for one with the defaults."""

    name: str = Field(min_length=1, description="Name of the policy: fifo, my_policy.py:MyPolicy, rounds(srtf, 60).")
    params: Params = Field(default_factory=dict, description="Parameters that differ from the policy's defaults.")


class Metadata(_Part):
    """Name of the experiment."""

    name: str = Field(min_length=1)


class _Ground(_Part):
    """What one run assumes of policies, jobs and cluster, apart from factors."""

    estimate: str | None = option(
        "Job durations that policies use",
        None,
        values={
            "none": "no durations",
            "limit": "the time limit that the user requested",
            "history": "learned during the run from completed jobs",
            "oracle": "the true duration",
            "lognormal:SIGMA": "the true duration with a lognormal error, as in lognormal:0.5",
        },
        unset="what each policy requires",
        metavar="KIND",
        panel=ASSUMED,
    )
    profile_error: Sigma = option(
        "Lognormal error of the model profiles that policies use; jobs run at the true rates.",
        0.0,
        example="0.3",
        metavar="SIGMA",
        see="policies.md#information",
        panel=ASSUMED,
    )
    placement: PlacementName | None = option(
        "Choice of GPUs for a job",
        None,
        values={
            "consolidated": "the node with the fewest free GPUs that fits; wider jobs take whole nodes",
            "first-fit": "the same, but the first node that fits",
            "spread": "one GPU at a time, from the node with the most free GPUs",
            "tightest": "the tightest level with enough free GPUs: a node, else as few racks and nodes as possible",
            "few-racks": "as consolidated, but whole nodes come from as few racks as possible",
        },
        unset="the policy's own, else consolidated",
        metavar="KIND",
        see="semantics/placement.md",
        panel=ASSUMED,
    )
    overheads: Costs = option(
        "Cost of starting, preempting and restoring jobs",
        "realistic",
        values={
            "realistic": "10 s to start, 5 s to stop, 20 s to restore; a checkpoint when a job is asked to stop, and "
            "every 30 minutes",
            "periodic": "the same, but a preempted job loses its work since the last checkpoint; hourly ones: also "
            "--set overheads.checkpoint_every_s=1h",
            "none": "all costs are 0",
            "FILE": "an overheads file",
        },
        metavar="KIND",
        see="../formats/overheads.md",
        panel=ASSUMED,
    )
    oversized: Oversized = option(
        "Handling of jobs that request more GPUs than the cluster can ever allocate to them",
        "refuse",
        values={
            "refuse": "report an error",
            "drop": "leave these jobs out",
            "clamp": "reduce their GPUs to what the cluster can allocate",
        },
        metavar="KIND",
        panel=ASSUMED,
    )
    assign_models: Seed | None = option(
        "Random seed for assigning models to jobs without one.",
        None,
        unset="no models are assigned",
        metavar="SEED",
        panel=ASSUMED,
    )
    profiles: Paths = option(
        "Files of model profiles that take precedence over the shipped ones.",
        (),
        metavar="FILE",
        see="../formats/model-profiles.md",
        panel=ASSUMED,
    )
    congestion: dict[Congestable, Factor] = option(
        "Factors that divide the bandwidth of network levels",
        {},
        values={
            "rack": "links within a rack",
            "pod": "links between the racks of a pod",
            "cluster": "links between pods",
            "network": "all links beyond the node",
        },
        example="rack=4",
        metavar="LEVEL=FACTOR",
        see="../background/speed.md#a-congested-network",
        panel=ASSUMED,
    )
    contention: Contention = option(
        "Sharing of network links between jobs",
        "none",
        values={
            "none": "jobs do not slow each other on the network",
            "level": "all uplinks of a level are one shared link",
            "max-min": "max-min fair shares of every uplink, as if jobs sent all the time",
            "duty-cycle": "max-min fair shares of every uplink, for the average of what jobs send",
            "node-link[:PENALTY]": "shares of a node's link; each further job costs PENALTY more, 0.2745 by default",
        },
        metavar="KIND",
        see="../background/speed.md#shared-links",
        panel=ASSUMED,
    )
    rate_model: RateModel | None = option(
        "Model of how fast jobs run",
        None,
        values=meanings(),
        unset="what each policy requires",
        metavar="KIND",
        see="semantics.md",
        panel=ASSUMED,
    )
    gpu_sharing: JobsOfGpu | None = option(
        f"Maximum number of jobs on a GPU, from 1 to {MAX_SHARING}.",
        None,
        unset="what each policy requires",
        metavar="JOBS",
        see="../guides/sharing-gpus.md",
        panel=ASSUMED,
    )


if TYPE_CHECKING:
    _Factors = _Ground
else:
    _Factors = create_model("_Factors", __base__=_Ground, **options_of_factors())


class Assumptions(_Factors):
    """What one run assumes of policies, jobs and cluster, with the options that its factors add."""

    decision_time: Duration = option(
        "Time that a scheduler takes to decide about a job, for policies with schedulers.",
        0.0,
        unit="s",
        metavar="TIME",
        see="semantics/policies-placers.md#schedulers",
        panel=ASSUMED,
    )
    enforce_limits: bool = option("Kill jobs that exceed their time limit.", False, panel=ASSUMED)
    log_speeds: bool = option("Record every change of a job's speed, in speeds.parquet.", False, panel=ASSUMED)
    log: bool | None = option(
        "Keep a log of every event and decision, in events.parquet. Where no run is kept, a large log is dropped.",
        True,
        see="../formats/run-directory.md#eventsparquet",
        panel=ASSUMED,
    )
    audit: bool = option("Check every invariant at every event (slow).", False, panel=ASSUMED)


class RunOptions(Assumptions):
    """Every option of one run, checked: what `pointsman.api.open_simulation` takes."""

    log: bool | None = option(
        "Keep a log of every event and decision.",
        None,
        unset="kept while it is small, then dropped; an assumption of the result says so",
        see="../formats/run-directory.md#eventsparquet",
    )
    seed: Seed = option("Random seed.", 0, metavar="SEED", panel=WHAT)
    node_events: SkipValidation[Any] = option(
        "Changes of node states: tuples of time_s, node name or index, and UP, DRAIN or DOWN.", ()
    )
    cancels: SkipValidation[Any] = option(
        "Jobs that their users cancel: tuples of time_s, after the job's submission, and row.", ()
    )


class _Replayed(_Part):
    """What is replayed, where and under which policies."""

    trace: str = option(
        "Job log in any supported format; '-' is standard input.",
        min_length=1,
        see="../formats/job-logs.md",
        metavar="TRACE",
    )
    trace_format: str | None = option("Format of the job log.", None, unset="auto-detected", metavar="NAME", panel=WHAT)
    columns: dict[str, str] = option(
        "Columns of a custom table that hold submit_s, gpus, duration_s (or start_s and end_s) and other fields.",
        {},
        unset="by the format of the log",
        example="submit_s=Submit,gpus=AllocTRES,duration_s=Elapsed",
        metavar="NAME=COLUMN",
        see="../guides/bring-your-own-log.md",
        panel=WHAT,
    )
    ignore: tuple[Ignorable, ...] = option(
        "Columns of the log to ignore, for a cluster without its GPU types, partitions or nodes of the right shape.",
        (),
        unset="none",
        example="gpu_type",
        metavar="COLUMN",
        panel=WHAT,
    )
    keep_columns: KeptColumns = option(
        "Columns of the log's own to keep for policies and tables; NAME=COLUMN renames one.",
        (),
        unset="none",
        example="deadline_s,tenant=Account",
        metavar="NAME",
        see="../guides/own-columns.md",
        panel=WHAT,
    )
    time_unit: Literal["ms", "s", "min", "h"] | None = option(
        "Unit of times in Tiresias job lists, and in tables read with --columns.",
        None,
        unset="seconds, or what the format says",
        metavar="UNIT",
        panel=WHAT,
    )
    date_order: Literal["dmy", "mdy"] | None = option(
        "Order of day and month in dates such as 03/02/2026",
        None,
        values={"dmy": "day, month, year", "mdy": "month, day, year"},
        unset="as the dates of the log tell",
        metavar="ORDER",
        panel=WHAT,
    )
    steps: Literal["drop", "keep"] | None = option(
        "Handling of rows whose ids are those of job steps, such as 801.batch, in tables read with --columns",
        None,
        values={"drop": "leave them out", "keep": "read each as a job"},
        unset="report an error",
        metavar="KIND",
        panel=WHAT,
    )
    runaways: Literal["keep", "drop"] | None = option(
        "Handling of jobs that the log shows as running at more than twice their time limit",
        None,
        values={"keep": "keep them", "drop": "leave them out"},
        unset="those beyond ten times their limit are left out",
        metavar="KIND",
        panel=WHAT,
    )
    only: Filters = option(
        "Keep only jobs with this value in this column.",
        {},
        unset="all jobs",
        example="vc=cluster04",
        metavar="COLUMN=VALUE",
        panel=WHAT,
    )
    cluster: str = option(
        "Cluster to simulate",
        min_length=1,
        values={
            "NAME": "a built-in cluster, listed by 'pointsman cluster list'",
            "SHORTHAND": "nodes, GPUs per node and more, or a topology such as fat-tree:8",
            "FILE": "a cluster file",
        },
        example="16x4/rack=4,gpu=v100",
        metavar="CLUSTER",
        see="../guides/clusters.md",
        panel=WHAT,
    )
    policies: tuple[
        Annotated[PolicyChoice, BeforeValidator(_as_choice, json_schema_input_type=PolicyChoice | str)], ...
    ] = option(
        "Scheduling policy",
        min_length=1,
        values={
            "NAME": "a built-in policy, listed by 'pointsman policy list'",
            "FILE.py:CLASS": "a policy of your own",
            "rounds(POLICY, EVERY)": "a policy that decides periodically",
        },
        flag="policy",
        metavar="NAME",
        see="policies.md",
        panel=WHAT,
    )
    seeds: tuple[Seed, ...] = option(
        "Random seeds; each policy runs once with each.",
        (0,),
        min_length=1,
        unset="0",
        example="0-4",
        flag="seed",
        metavar="LIST",
        panel=WHAT,
    )
    workload_seeds: tuple[Seed, ...] = option(
        "Random seeds that draw the jobs of a generated log anew; every run is made on each of these workloads.",
        (),
        unset="the jobs of the log",
        example="0-4",
        metavar="LIST",
        see="../guides/sweeps.md#several-generated-workloads",
        panel=WHAT,
    )
    load: Load | None = option(
        f"Offered load to which the gaps between submissions are rescaled, from {MIN_LOAD:g} to {MAX_LOAD:g}.",
        None,
        unset="the log's own",
        unit="GPU-hours requested per GPU-hour available",
        metavar="LOAD",
        panel=WHAT,
    )
    window: Window | None = option(
        "Count only jobs submitted between these times, since the first submission.",
        None,
        unset="all jobs count",
        example="1d:8d",
        unit="s",
        metavar="FROM:TO",
        panel=WHAT,
    )

    @field_validator("policies", "seeds", "workload_seeds")
    @classmethod
    def _each_once(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return once_each(values)


class CellSpec(Assumptions, _Replayed):
    """One cell of an experiment: its policies and seeds on one cluster, at one load, with one estimate."""

    def shown_only(self) -> Self:
        """Drops a log where nothing is kept of the runs: their events serve figures, as long as they are few."""
        return self.model_copy(update={"log": None}) if self.log else self

    def run_options(self, seed: int, **more: Any) -> RunOptions:
        """The options of one run of the cell; `more` are those that only Python knows."""
        return RunOptions.checked(
            {name: getattr(self, name) for name in Assumptions.model_fields} | {"seed": seed} | more
        )


VARIED = ("cluster", "load", "estimate")
"""Options that may have several values, which make a grid: a cell for each combination of them."""


def _values_of(name: str) -> tuple[Any, Any]:
    """The field of `CellSpec` as one value or a list of them."""
    info = CellSpec.model_fields[name]
    one: Any = info.annotation
    kind = Annotated[
        tuple[one, ...],
        BeforeValidator(as_list, json_schema_input_type=one | list[one]),
        AfterValidator(once_each),
        WrapSerializer(one_or_several),
    ]
    default: dict[str, Any] = {} if info.is_required() else {"default": info.default, "validate_default": True}
    return kind, Field(**default, min_length=1, description=info.description, json_schema_extra=about(info))


if TYPE_CHECKING:

    class _Lists(Assumptions, _Replayed):
        cluster: tuple[str, ...]  # ty: ignore
        load: tuple[float | None, ...]  # ty: ignore
        estimate: tuple[str | None, ...]  # ty: ignore
else:
    _Lists = create_model("_Lists", __base__=(Assumptions, _Replayed), **{name: _values_of(name) for name in VARIED})


@dataclass(frozen=True)
class Cell:
    """One combination of the values that vary."""

    values: Mapping[str, Any]
    """The options of which there are several values, and those of this cell; none in an experiment that is no grid."""
    spec: CellSpec


class ExperimentSpec(_Lists):
    """What to replay, where, under which policies and on what assumptions."""

    def varied(self) -> tuple[str, ...]:
        """The options of which there are several values."""
        return tuple(name for name in VARIED if len(getattr(self, name)) > 1)

    def cells(self) -> list[Cell]:
        """Every combination of the values, the last option varying fastest; one where none has several."""
        varied, alike = self.varied(), dict(self)
        combinations = [
            dict(zip(VARIED, values, strict=True)) for values in product(*(getattr(self, name) for name in VARIED))
        ]
        return [
            Cell({name: own[name] for name in varied}, CellSpec.model_construct(**alike | own)) for own in combinations
        ]

    def only_cell(self, command: str) -> CellSpec:
        """The one cell, for a command that takes no grid.

        Raises:
            UsageError: there are several.
        """
        if varied := self.varied():
            options = " and ".join(f"--{name}" for name in varied)
            raise UsageError(f"{command} takes one value of {options}; 'pointsman compare' takes several")
        return self.cells()[0].spec


def meaning(name: str) -> str:
    """The sentence of an option, with its values: for those who have the option under another default."""
    return meaning_of(ExperimentSpec.model_fields[name])


class Experiment(_Part):
    """An experiment file."""

    api_version: Literal["pointsman/v1"] = Field("pointsman/v1", alias="apiVersion")
    kind: Literal["Experiment"] = "Experiment"
    metadata: Metadata
    spec: ExperimentSpec

    def alone(self, cell: Cell) -> Self:
        """The experiment of one of its cells."""
        values = {name: (getattr(cell.spec, name),) for name in cell.values}
        return self.model_copy(update={"spec": self.spec.model_copy(update=values)})

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
    texts = {key: getattr(spec, key) for key in ("trace", "overheads", "interference", "node_interference")}
    found = {key: at for key, text in texts.items() if isinstance(text, str) and (at := _beside(home, text)) != text}
    policies = tuple(choice.model_copy(update={"name": _beside(home, choice.name)}) for choice in spec.policies)
    clusters = tuple(_beside(home, text) for text in spec.cluster)
    changes = {**found, "cluster": clusters, "policies": policies}
    if spec.profiles:
        changes["profiles"] = tuple(_beside(home, file) for file in spec.profiles)
    return experiment.model_copy(update={"spec": spec.model_copy(update=changes)})


def _beside(home: Path, text: str) -> str:
    file, colon, rest = text.partition(":")
    beside = home / file
    return f"{beside}{colon}{rest}" if text != "-" and names_file(beside) else text
