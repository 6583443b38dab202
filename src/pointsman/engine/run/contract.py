"""What a policy is: compiled hooks with a validated configuration, or any Python object with `decide`."""

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.parameters import numbers_of, record_of
from pointsman.engine.state.named import OfJob, Record
from pointsman.errors import UsageError
from pointsman.types import MAX_SHARING, PLACEMENT_NAMES, Knowledge, Locality, Profile, Progress, Reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST = {"s": 1e9, "GPU-s": 1e15}
"""By unit, how much a parameter may be: times must have room in the engine's int64 milliseconds."""
_LEAST_S = 0.001
"""The least time other than 0: the engine counts whole milliseconds."""


@runtime_checkable
class Policy(Protocol):
    """A policy written in Python (``docs/guides/write-a-policy.md``).

    It may also define ``on_event(view, kind, job)``, ``why_waiting(view, job, name)``, ``why_there(view, job,
    instant)`` and, if it has memory of its own, ``copy()``; ``parameters()``, ``new_memory()``, ``divides_among``,
    ``owner_of(job)`` and ``forwards(memory)`` as a `CompiledPolicy`; ``on_cluster(cluster)``, called before the run,
    and ``learnt()``, called after it: files (bytes) for the run directory, by name. ``columns`` names columns of the
    log's own that it requires (``docs/guides/own-columns.md``).

    ``why_waiting`` is what ``explain`` asks of a pending job that fits: a `Reason` and a sentence, or None if the
    policy has nothing to say. ``name(job)`` is the id of a job. ``why_there`` is what it asks of a job that holds GPUs:
    a sentence, or None; ``instant(time_ms)`` is a time in words. Both must leave the state as it is.
    """

    name: str
    needs: Knowledge

    def decide(self, view: Any) -> None:
        """Look at `view` and act through its verbs."""


def column_numbers(*names: str) -> Any:
    """By name, where hooks find the numbers of columns of the log's own.

    With ``COLUMN = column_numbers("deadline_s")`` and ``columns = COLUMN._fields``, the deadline of job j is
    ``S.job_numbers[j, COLUMN.deadline_s]``.
    """
    return namedtuple("Columns", names)(*range(len(names)))


class Delay(NamedTuple):
    """A waiting job takes no GPUs that are further apart than `level`, NODE or RACK, until its timer ends."""

    level: Locality
    until_ms: int | None
    """When it takes the next level; None: never."""


class Standing(NamedTuple):
    """What a policy says of a waiting job for `explain`."""

    said: str
    """In a clause, with numbers."""
    reason: Reason | None = None
    """Why it waits although it would fit, if it is the policy that says so."""


class Owner(NamedTuple):
    """Which of several schedulers a job belongs to, and whether another forwarded it."""

    scheduler: int
    forwarded_by: int | None = None
    forwarded_ms: int = 0


class CompiledPolicy(BaseModel):
    """The configuration of a compiled policy; its hooks are the functions of the module named by `hooks`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    needs: ClassVar[Knowledge]
    profiles: ClassVar[tuple[Profile, ...]] = ()
    """What it is told of model profiles."""
    progress: ClassVar[Progress] = "none"
    """What it observes of jobs that run or have run."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Columns of the log's own that it requires (``--keep-columns``): hooks find the number of the i-th in
    ``S.job_numbers[j, i]``, behind the numbers of its briefing; `column_numbers` gives the i by name.
    """
    hooks: ClassVar[str]
    source: ClassVar[str] = ""
    """Where the policy was published."""
    admits: ClassVar[bool] = False
    """Whether it admits transfers, where jobs are chains of iterations; else all begin when they are ready."""
    places_itself: ClassVar[bool] = False
    """Whether it chooses all GPUs itself: ``--placement`` is refused."""
    takes_whole_gpus: ClassVar[bool] = False
    """Whether it reserves or preempts whole GPUs, or shares them by rules of its own: ``--gpu-sharing`` is refused."""
    takes_turns: ClassVar[bool] = False
    """Whether its schedulers decide about one job after another, so that decisions can take time."""
    keeps_shapes: ClassVar[bool] = True
    """False: it changes how many GPUs jobs have, and refuses jobs with a shape."""
    needs_rates: ClassVar[bool] = False
    """Whether it computes with the rates of running jobs, which chains of iterations do not have."""

    memory: ClassVar[type[Record]] = Record
    """What it keeps in ``State.memory``; the record of a subclass derives from that of its base."""
    kept: ClassVar[type[OfJob]] = OfJob
    """What it keeps of each job, likewise."""
    learns: ClassVar[bool] = False
    """Whether its memory outlives a takeover by the same policy with the same `durations`: what it has learnt of jobs
    that have ended.
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        for what in ("memory", "kept"):
            for base in cls.__mro__:
                if not issubclass(getattr(cls, what), getattr(base, what, object)):
                    own, its = getattr(cls, what).__name__, getattr(base, what).__name__
                    raise TypeError(f"{cls.__name__}.{what} is {own}, which does not derive from {its} of its base")

    @classmethod
    def parameter_record(cls) -> type[Record]:
        """What compiled code finds in ``State.params``: each field that is a number, of unit s in ms, and what is
        `derived`.
        """
        return record_of(cls)

    def new_memory(self) -> "NDArray[np.float64]":
        """What ``State.memory`` is before the first event; where its `memory` has open arrays, with their lengths."""
        return type(self).memory.zeros()

    def forget_jobs(self, memory: "NDArray[np.float64]") -> None:
        """Clear what its memory, which outlives a takeover, says of jobs that are there."""

    @property
    def durations(self) -> "Knowledge | Literal['history']":
        """What it must be told of durations by its parameters; ``history``: what the run learns of them."""
        return self.needs

    @field_validator("*")
    @classmethod
    def _has_room(cls, value: Any, info: ValidationInfo) -> Any:
        about = cls.model_fields[str(info.field_name)].json_schema_extra
        unit = str(about.get("unit", "")) if isinstance(about, dict) else ""
        most = _MOST.get(unit, float(1 << 53))  # up to which float64 knows every whole number
        for number in filter(_is_number, _members(value)):
            if not abs(number) <= most:
                raise ValueError(f"must be at most {most:,.0f} {unit}".rstrip())
            if unit == "s" and 0 < abs(number) < _LEAST_S:
                raise ValueError(f"must not be between 0 and {_LEAST_S} s: times are whole milliseconds")
        return value

    def parameters(self) -> list[float]:
        """What the hooks find in ``State.params``, as `parameter_record` says."""
        return numbers_of(self)

    briefed: ClassVar[bool] = False
    """Whether it works something out of the jobs before the run (`briefing`), so that it cannot take over one."""

    def briefing(self, jobs: Any, gpus: int, queues: Sequence[str]) -> Briefing | None:
        """What it works out of the columns that are known at submission, a polars frame in row order, of the
        cluster's number of `gpus`, and of the `queues` with limits, numbered from 1; None if nothing.
        """
        return None

    def check_jobs(self, jobs: Any) -> None:
        """That its parameters name nothing, such as a queue, that these jobs lack; as for `briefing`.

        Raises:
            UsageError: they do.
        """

    def queue_limits(self, jobs: Any, gpus: int) -> dict[str, int]:
        """GPUs that queues may hold by its parameters, besides the limits of the cluster file; as for `briefing`."""
        return {}

    def delay_of(self, job: Any) -> Delay | None:
        """The delay of a waiting job, a record of ``State.jobs``; None if it takes any GPUs."""
        return None

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing | None:
        """What decides at `now_ms` when a waiting job, a record of ``State.jobs``, starts, in numbers; None if that is
        its time of submission.
        """
        return None

    def protection(self, state: Any, job: Any, now_ms: int) -> str | None:
        """What keeps a running job, a record of ``State.jobs``, from being preempted at `now_ms`, in a
        clause; None if nothing.
        """
        return None

    @property
    def divides_among(self) -> int:
        """How many schedulers share the cluster, each with racks and jobs of its own (`engine.setup.schedulers`)."""
        return 1

    def owner_of(self, job: Any) -> Owner | None:
        """The scheduler that a job, a record of ``State.jobs``, belongs to; None if there is only one."""
        return None

    def forwards(self, memory: Any) -> int:
        """How many jobs one scheduler forwarded to another, by ``State.memory``."""
        return 0

    @property
    def sharing_gate(self) -> str | None:
        """When it co-locates a waiting job with running ones: ``pairwise``, ``joint`` or ``none`` (whenever memory
        allows); None if it looks for no partners.
        """
        return None


def parameter(default: Any, description: str, *, unit: str = "", source: str = "ours", **limits: Any) -> Any:
    """A documented parameter: its default, its unit and whether it is the paper's or ours.

    `limits` are pydantic's (``ge``, ``le``...); besides, a time (unit ``s``) is at most 1e9, and any number finite.
    """
    return Field(default=default, description=description, json_schema_extra={"unit": unit, "source": source}, **limits)


def _members(value: Any) -> Iterable[Any]:
    """The values of a list or a mapping, or `value` alone."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, tuple | list) else (value,)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


_FLAGS = ("admits", "places_itself", "takes_whole_gpus", "needs_rates")


def title(policy: object) -> str:
    """What messages call a policy: its name, or that of its class where it has none."""
    return getattr(policy, "name", type(policy).__name__)


def check_declarations(policy: object) -> None:
    """That a policy, compiled or not, declares nothing that does not exist, or contradicts itself.

    Raises:
        UsageError: it does.
    """
    name = title(policy)
    if not isinstance(name, str) or not name:
        raise UsageError(f"policy {type(policy).__name__}: name = {name!r} is no text")
    shared = getattr(policy, "gpu_sharing", 1)
    whole = isinstance(shared, int) and not isinstance(shared, bool)
    wrong = [f"{flag} = {getattr(policy, flag)!r} (True or False)" for flag in _FLAGS if not _is_flag(policy, flag)]
    known_of = {"placement": PLACEMENT_NAMES, "needs": get_args(Knowledge), "progress": get_args(Progress)}
    for field, known in known_of.items():
        if (value := getattr(policy, field, None)) is not None and value not in known:
            wrong.append(f"{field} = {value!r} (there are {', '.join(known)})")
    profiles = getattr(policy, "profiles", ())
    if not isinstance(profiles, tuple) or set(profiles) - set(get_args(Profile)):
        wrong.append(f"profiles = {profiles!r} (a tuple of {', '.join(get_args(Profile))})")
    if not whole or shared not in range(1, MAX_SHARING + 1):
        wrong.append(f"gpu_sharing = {shared!r} (1 to {MAX_SHARING})")
    columns = getattr(policy, "columns", ())
    if not isinstance(columns, tuple) or not all(isinstance(each, str) for each in columns):
        wrong.append(f"columns = {columns!r} (a tuple of names)")
    if not isinstance(getattr(policy, "rate_model", None), str | None):
        wrong.append(f"rate_model = {policy.rate_model!r} (a name)")
    if wrong:
        raise UsageError(f"policy {name!r} declares {'; '.join(wrong)}")
    if getattr(policy, "places_itself", False) and getattr(policy, "placement", None) is not None:
        raise UsageError(f"policy {name!r} declares places_itself and a placement: leave one out")


def _is_flag(policy: object, flag: str) -> bool:
    return isinstance(getattr(policy, flag, False), bool)
