"""What decides how fast jobs run: one base model, and any number of factors (``docs/reference/semantics.md`` §9-§12).

A base model or a factor is one class in one file, registered by one line of `registry`. It owns its text form, its
limits, its tables, its compiled code, what it cannot be combined with, and what is said of it.
"""

from abc import ABC
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pointsman.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic.fields import FieldInfo

    from pointsman.cluster.layout import Layout
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.engine.state.records import State


class BaseModel(ABC):
    """How fast a job runs where it is; a frozen dataclass, whose fields are its parameters."""

    name: ClassVar[str]
    meaning: ClassVar[str]
    """After 'Model of how fast jobs run: NAME', in ``--help``."""
    form: ClassVar[str]
    """``tree[:PARAM=VALUE,...]``"""
    units: ClassVar[tuple[str, ...]] = ()
    """Its compiled code (`engine.jit.units`)."""
    may_exceed_nominal: ClassVar[bool] = False
    """Whether a job may be faster than its nominal rate."""
    counts_iterations: ClassVar[bool] = False
    """Whether jobs are chains of iterations, which take turns on the GPUs that they share: they have no rates."""
    adapts_gangs: ClassVar[bool] = False
    """Whether jobs may run on other numbers of GPUs than they ask for."""
    shares_links: ClassVar[bool] = False
    """Whether jobs may slow each other on links (``--contention``)."""
    shares_gpus: ClassVar[bool] = True
    """Whether several jobs may hold one GPU."""
    instead_of_congestion: ClassVar[str] = ""
    """What stands for a congested network, where the model has a network law of its own."""
    tells_done: ClassVar[bool] = False
    """Whether results say how much of each job was done, in nominal seconds."""
    recorded: ClassVar[str] = "a recorded duration is the time on the GPUs asked for, at their best locality, alone"
    """The assumption on what the durations of a log stand for."""
    without_models: ClassVar[str] = "no job has a model: all run at the same speed everywhere and communicate nothing"
    unknown_models: ClassVar[str] = "run at the same speed everywhere"
    """What jobs without a known model do."""
    slowed: ClassVar[str] = "computing takes"
    """Begins the sentence that states ``slow_computing`` of a job: what factors on computing do to its rate."""
    section: ClassVar[str] = ""
    """The module with its part of the report, for a model of your own; the report finds those of Pointsman itself."""

    @classmethod
    def parse(cls, settings: str) -> Self:
        """The model with parameters ``b=8.56,sharing=4``; with none, by its defaults.

        Raises:
            UsageError: there is no such parameter, or it is out of its limits.
        """
        return cls(**_numbers(cls, settings))

    def described(self, text: str) -> str:
        """The sentence of a report on a run whose rate model was given as `text`."""
        raise NotImplementedError

    def most_jobs_per_gpu(self, asked: int) -> int:
        """How many jobs a GPU may have, where factors and policy let it have `asked`."""
        return asked

    @classmethod
    def check_policy(cls, policy: object) -> None:
        """That the policy goes with the model.

        Raises:
            UsageError: it does not.
        """
        title, own = getattr(policy, "name", type(policy).__name__), getattr(policy, "rate_model", None)
        if own is not None and own.partition(":")[0] != cls.name:
            raise UsageError(f"policy {title!r} needs the rate model {own!r}")
        if cls.name != "rates" and own is None and int(getattr(policy, "gpu_sharing", 1)) > 1:
            raise UsageError(f"policy {title!r} shares GPUs by their effect on rates, which {cls.name!r} does not have")
        if cls.counts_iterations and getattr(policy, "needs_rates", False):
            raise UsageError(f"policy {title!r} uses rates of jobs, which the rate model {cls.name!r} does not have")

    def check_network(self, contention: str, congestion: Mapping[str, float]) -> None:
        """That the model goes with sharing of links and a congested network.

        Raises:
            UsageError: it does not.
        """
        if contention != "none" and not self.shares_links:
            raise UsageError(f"in the rate model {self.name!r} jobs do not share links: leave out {contention!r}")
        if self.instead_of_congestion and any(factor > 1 for factor in congestion.values()):
            raise UsageError(f"the rate model {self.name!r} has its own network model: {self.instead_of_congestion}")

    def check_gpu_sharing(self, asked: int | None) -> None:
        """Checks that the model goes with `asked` jobs on a GPU, if that was asked for.

        Raises:
            UsageError: it does not.
        """
        if (asked or 1) > 1 and not self.shares_gpus:
            raise UsageError(f"in the rate model {self.name!r} jobs do not share GPUs: leave out the sharing of GPUs")

    def speeds(self, named: "NamedModels") -> "Speeds":
        """The tables that compiled code looks speeds up in; `named` takes what had to be assumed."""
        raise NotImplementedError

    def with_computing(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Its tables for a run in which a factor slows computing: rates from tables then need the computing behind
        them.
        """
        return speeds

    def install(self, state: "State", *, admits: bool) -> None:  # noqa: B027 - most have none
        """Write the parameters, and the addresses of compiled code, into a state before its first event.

        Args:
            state: the state.
            admits: whether the policy admits transfers.
        """

    def info(self, layout: "Layout") -> dict[str, Any]:
        """What of the run its report needs besides, for ``Result.info``."""
        return {}


class Factor(ABC):
    """What makes jobs slower than the base model says; a frozen dataclass, made from the options of a run.

    Its compiled code is three functions in the module (or the file) `hooks`: ``slowed(S, f, j)`` says how many times as
    long running job `j` takes where it is; ``begin(S, f, j)`` and ``cease(S, f, j)`` are called when it begins to run
    there and before it ceases to, and mark the jobs whose speed this changes. ``S.factors[f]`` says where its own
    numbers begin in ``S.factor_numbers``, and its loads in ``S.factor_loads``.
    """

    name: ClassVar[str]
    slows: ClassVar[Literal["computing", "iterations"]] = "computing"
    """Computing alone, or iterations with all that belongs to them."""
    counts_nodes: ClassVar[bool] = False
    """Whether its loads say what jobs take of nodes, laid out as `factors.node_room` reads them."""
    instead_of: ClassVar[tuple[str, ...]] = ()
    """Names of the factors for which it stands where policies forecast; such a factor slows no job."""
    options: ClassVar[Mapping[str, tuple[Any, "FieldInfo"]]] = {}
    """The options of a run that it adds: type and field (`pointsman.inputs.option.option`)."""
    hooks: ClassVar[str]
    section: ClassVar[str] = ""
    """As for a base model. Without any section, a report lists the options of the factor."""

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> "Factor | None":
        """The factor that these options and the policy ask for, if they do: of this class, or of another.

        Raises:
            UsageError: a value is wrong, or does not go with the policy or the base model.
        """
        raise NotImplementedError

    def unit(self) -> str:
        """The hooks of this one, where factors of a class may differ in them."""
        return self.hooks

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """The tables of the base model with what its code looks up by the models of jobs."""
        return speeds

    def numbers(self, layout: "Layout", speeds: "Speeds") -> "NDArray[np.float64]":
        """What its code finds in ``S.factor_numbers``."""
        import numpy as np

        return np.zeros(0)

    def loads(self, layout: "Layout") -> int:
        """How many integers it keeps in ``S.factor_loads``."""
        return 0


def _numbers(cls: type[BaseModel], settings: str) -> dict[str, float]:
    """``b=8.56,sharing=4`` as numbers, each a field of `cls`."""
    known: dict[str, Field[Any]] = {field.name: field for field in fields(cls)}
    given: dict[str, float] = {}
    for setting in settings.split(",") if settings else ():
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in known:
            there_are = f"there are {', '.join(known)}" if known else "it has none"
            raise UsageError(f"rate model {cls.name!r}: no parameter {key!r} ({there_are})")
        if key in given:
            raise UsageError(f"rate model {cls.name!r}: {key} is given twice")
        try:
            given[key] = int(value) if known[key].type in (int, "int") else float(value)
        except ValueError:
            value = ""
        if not value or "_" in value:  # Python reads 1_0 as ten; here it is a slip
            raise UsageError(f"rate model {cls.name!r}: {setting.strip()!r} gives no number for {key}")
    return given
