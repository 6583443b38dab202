"""Where an agent practises: the cluster, its jobs and what is rewarded, as settings that can be written down."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.experiment import meaning
from pointsman.inputs.file_name import names_file
from pointsman.inputs.messages import wording
from pointsman.inputs.option_types import Seed
from pointsman.learn.config import Config, parameter
from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS
from pointsman.policies.placers.candidates.weights import PATIENCE
from pointsman.sums import total
from pointsman.workload.generator.dl2 import SIZES

if TYPE_CHECKING:
    from polars import DataFrame

    from pointsman.learn.environments.workloads import Sampler
    from pointsman.workload import Workload

GENERATED = ("topdrl", "philly", "itp", "helios", *SIZES)
"""Workloads that are drawn anew; others are logs."""
Part = Literal["train", "held-out"]
AND = " + "
LOGGED = "logged"
"""The load of jobs that arrive when they did, or as they are generated."""
JOB_PICKERS = ("fcfs", "sjf", "tetris", "drf")
"""Those that a policy can follow in a run."""
SOME = 8
"""Episodes from which times are reckoned."""
STEPS_OF_A_JOB = 8
"""As the authors' jobs have in the mean, of at most 20."""


Load = Annotated[float, Field(gt=0, le=100)] | None


class JobsConfig(Config):
    """The cluster and the jobs to train on."""

    cluster: str = parameter(
        "8x4/rack=4",
        "A ready name, a shorthand, or a file; or several with ' + ' between.",
        source="paper",
        min_length=1,
    )
    workload: str = parameter(
        "topdrl",
        "topdrl, philly, itp, helios, dl2-philly, dl2-1-8, dl2-1-16, or a job log; or several with ' + ' between.",
        source="paper",
        min_length=1,
    )
    jobs: int = parameter(400, "Jobs of an episode.", ge=1, le=100_000)
    load: Load | str = parameter(
        None,
        "Offered load; logged (default for a job log): jobs arrive as logged; none: all jobs are there from the start; "
        "or several, likewise.",
    )
    widest: int | None = parameter(None, "GPUs to which gangs are narrowed; none: a quarter of the cluster.", ge=1)
    held_out: float = parameter(0.3, "Share of a log, its last jobs, that is kept for tests.", gt=0, lt=1)
    workload_seed: int = parameter(0, "Of the episodes that are trained on.", ge=0, lt=1 << 32)
    assign_models: Seed | None = parameter(0, f"{meaning('assign_models')} none: they communicate nothing.")
    estimate: str = parameter("oracle", meaning("estimate"))

    @field_validator("load", "widest", "assign_models", mode="before")
    @classmethod
    def _may_be_none(cls, value: Any) -> Any:
        return None if value == "none" else value

    @field_validator("load", mode="before")
    @classmethod
    def _is_number_or_several(cls, value: Any) -> Any:
        if not isinstance(value, str) or AND in value or value in ("none", LOGGED):
            return value
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"must be a number, {LOGGED} or none") from None

    def describe(self) -> str:
        """What is practised, in a sentence."""
        load = {None: "all there from the start", LOGGED: "as logged"}.get(self.load, f"at load {self.load}")
        return f"{self.workload}, {self.jobs} jobs {load}, on {self.cluster}"

    def options(self) -> dict[str, Any]:
        """Keywords of `pointsman.simulate` under which a policy is measured; starts are free, as where it practises."""
        return {"estimate": self.estimate, "assign_models": self.assign_models, "overheads": "none"}


class PracticeConfig(JobsConfig):
    """The environment (``learn.environments.setting`` has the whole story of most of these)."""

    episodes: int = parameter(256, "Different episodes, which come again and again.", ge=1, le=1 << 16)
    observation: str = parameter("", "What is seen; by default as the task has it.")
    reward: str = parameter("", "What is rewarded; by default as the task has it.")
    slots: int = parameter(10, "Waiting jobs that are seen.", source="paper", ge=1, le=64)
    gpus: str = parameter("nearest", "Who gives a picked job its GPUs.", source="paper")
    picker: str = parameter("fcfs", "Who picks the job to be placed.", source="paper")
    rate_model: str = parameter("tree", "How fast jobs run: tree, rates.", source="paper")
    contention: str = parameter("none", meaning("contention"))
    node_interference: str = parameter("none", meaning("node_interference"))
    schedulers: int = parameter(1, "Schedulers that share the cluster, where agents place gangs.", ge=1, le=1000)
    patience: float = parameter(
        PATIENCE, "Share of its duration in which a job would rather wait for a compact place, likewise.", ge=0, le=1e6
    )
    order: str = parameter("fifo", "Order of jobs, where agents place gangs: fifo, sjf; or one for each workload.")
    horizon_s: float | None = parameter(
        43_200.0,
        "When episodes are cut; none (default for a job log): when all jobs are done.",
        unit="s",
        gt=0,
        le=1e9,
    )
    horizon_share: float | None = parameter(
        None, "Instead, of the time in which the cluster, fully used, could do all jobs of an episode.", gt=0, le=10
    )
    gamma: float = parameter(0.99, "Discount of a time of tau_s.", source="paper", gt=0, le=1)
    tau_s: float | None = parameter(
        241.5,
        "Unit of time of rewards; none: an eighth of a job's mean duration.",
        unit="s",
        source="paper",
        gt=0,
        le=1e9,
    )
    hold: float = parameter(0.1, "Price of a GPU that is waited for, for each that runs.", source="paper", ge=0, le=100)

    @field_validator("horizon_s", "horizon_share", "tau_s", mode="before")
    @classmethod
    def _none_is_allowed(cls, value: Any) -> Any:
        return None if value == "none" else value

    @field_validator("gpus", "picker")
    @classmethod
    def _can_be_followed(cls, value: str, info: ValidationInfo) -> str:
        known = GPU_PICKERS if info.field_name == "gpus" else JOB_PICKERS
        if value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return value

    def describe(self) -> str:
        """What is practised, in a sentence."""
        span = "until all are done" if self.horizon_s is None else f"for {self.horizon_s / 3600:g} h"
        if self.horizon_share is not None:
            span = f"for {self.horizon_share:g} of the time in which the cluster could do them all"
        return f"{super().describe()}, {span}"

    def options(self) -> dict[str, Any]:
        factors = {"contention": self.contention, "node_interference": self.node_interference}
        return super().options() | {"rate_model": self.rate_model} | factors


J = TypeVar("J", bound=JobsConfig)


def settings_of(config: J) -> list[J]:
    """One for each of several: the first cluster with the first workload at the first load with the first interference
    in the first order, and so on; what there is only one of goes with all.

    Raises:
        UsageError: their numbers differ, or a load is none.
    """
    loads = config.load.split(AND) if isinstance(config.load, str) else [config.load]
    texts = {
        name: getattr(config, name)
        for name in ("cluster", "workload", "node_interference", "order")
        if hasattr(config, name)
    }
    given = {name: text.split(AND) for name, text in texts.items()} | {"load": loads}
    many = max(map(len, given.values()))
    for name, values in given.items():
        if len(values) not in (1, many):
            raise UsageError(f"practice.{name} has {len(values)} parts, others have {many}: give one, or as many")
    columns = [values * (many // len(values)) for values in given.values()]
    rows = [dict(zip(given, row, strict=True)) for row in zip(*columns, strict=True)]
    try:
        return [type(config).model_validate(config.model_dump() | row) for row in rows]
    except ValidationError as error:
        raise UsageError(f"practice.load {config.load!r}: {wording(error.errors()[0]['msg'])}") from None


def keywords(config: PracticeConfig) -> dict[str, Any]:
    """What the environments' constructors are given."""
    of_jobs = ("workload", "jobs", "load", "widest", "held_out", "workload_seed", "horizon_share")
    given = {name: value for name, value in config.model_dump().items() if name not in of_jobs}
    given["factors"] = {"node_interference": given.pop("node_interference")}
    return given | {"workload": sampler(config, "train"), "horizon_s": horizon_s(config), "tau_s": tau_s(config)}


def horizon_s(config: PracticeConfig) -> float | None:
    """When episodes are cut: by `horizon_share` of the work of a few of those trained on, to whole minutes."""
    if config.horizon_share is None:
        return config.horizon_s
    work_gpu_s = sum(total(jobs["gpus"] * jobs["duration_s"]) for jobs in _some(config)) / SOME
    return max(1.0, round(config.horizon_share * work_gpu_s / load_cluster(config.cluster).gpus / 60.0)) * 60.0


def tau_s(config: PracticeConfig) -> float:
    """The unit of time: as given, or as the jobs of a few episodes have it, to whole seconds."""
    if config.tau_s is not None:
        return config.tau_s
    return max(
        1.0, round(sum(float(jobs["duration_s"].to_numpy().mean()) for jobs in _some(config)) / SOME / STEPS_OF_A_JOB)
    )


def _some(config: PracticeConfig) -> list["DataFrame"]:
    """The jobs of a few episodes."""
    made, gpus = sampler(config, "train"), load_cluster(config.cluster).gpus
    return [made(episode, gpus).jobs for episode in range(SOME)]


def sampler(config: JobsConfig, part: Part, seed: int | None = None) -> "Sampler":
    """The workloads to train on, or those held out: other seeds, or the last part of the log.

    Raises:
        UsageError: no such workload.
    """
    from pointsman.learn.environments.workloads import AtOnce, Generated, Windows

    seed = config.workload_seed if seed is None else seed
    own = seed if part == "train" else (1 << 32) + seed
    load: Any = None if config.load == LOGGED else config.load
    if config.workload in GENERATED:
        made = Generated(config.workload, config.jobs, load, own, config.widest)
        if config.workload == "topdrl" or config.workload in SIZES:
            return made
        return AtOnce(replace(made, load=1.0)) if config.load is None else made
    if not is_log(config.workload):
        raise UsageError(f"workload {config.workload!r}: no such file, nor one of {', '.join(GENERATED)}")
    log = Windows(_read(config.workload), config.jobs, load, part, config.held_out, own, config.widest)
    return AtOnce(log) if config.load is None else log


def check_jobs(config: JobsConfig) -> None:
    """Refuse a cluster or jobs that cannot be trained on, as a training would.

    Raises:
        UsageError: there is no such workload, or too few jobs. InputError: the log or the cluster cannot be read.
    """
    for one in settings_of(config):
        sampler(one, "train")(0, load_cluster(one.cluster).gpus)


def is_log(workload: str) -> bool:
    """Whether this names a job log, or several workloads of which one is."""
    return any(part not in GENERATED and names_file(part) for part in workload.split(AND))


def _read(name: str) -> "Workload":
    """The log of this name, which is read once for all that is reckoned from it."""
    path = Path(name)
    return _read_kept(name, path.absolute(), path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_kept(name: str, path: Path, changed_ns: int) -> "Workload":
    from pointsman.workload import read_workload

    return read_workload(name)
