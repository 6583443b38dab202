"""What an environment is made of: its keywords, checked and resolved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster import Cluster, load_cluster
from pointsman.cluster.layout import Layout
from pointsman.cluster.tree_cost import TreeCost
from pointsman.engine.sdk.environments import GpuSharing, Handle, Tree, options_of_factors, parse_rate_model
from pointsman.errors import UsageError
from pointsman.experiment import Assumptions, RunOptions
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.learn.environments.compiled import columns
from pointsman.learn.environments.compiled.columns import AgentParameters
from pointsman.learn.environments.compiled.gangs import ACTIONS as GANG_ACTIONS
from pointsman.learn.environments.compiled.observations.proximity import MOST_GPUS, PLACES
from pointsman.learn.environments.episode_pool import Agent, EpisodePool, make_episode_pool
from pointsman.learn.environments.workloads import Generated, Sampler
from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS
from pointsman.policies.placers.candidates import weights as shipped
from pointsman.policies.placers.declared import MOST_SCHEDULERS, Order
from pointsman.types import NEVER_MS, PLACEMENT_NAMES
from pointsman.workload import Workload

ORDERS = ("fcfs", "sjf", "tetris", "drf", "random")
"""Orders of waiting jobs, by the numbers of `columns`."""
CUT_REWARDS = ("throughput", "throughput_b")
"""Rewards that add up to the same whatever is done, unless episodes are cut."""
OF_A_RUN = ("rate_model", "contention", "assign_models", "estimate")
"""Keywords that are options of a run, with its limits."""
HORIZON_S = 2 * 86400.0
MOST_SLOTS = 64
OBSERVATIONS = {"picking": "topdrl", "choosing": "proximity", "gangs": "gangs"}
REWARDS = {"picking": "", "choosing": "proximity", "gangs": "delay"}
"""The reward of each kind of choice, unless another is asked for."""


@dataclass(frozen=True)
class Setting:
    """The keywords of every environment; some are for one environment only, as they say.

    Rewards are integrals over simulated time in units of `tau_s`, discounted from the action on. `discount` in the
    info of a step is `gamma` to the power of the step's time over `tau_s`.
    """

    cluster: Cluster | str = "8x4/rack=4"
    """A `Cluster`, or what `load_cluster` takes; by default TopDRL's 2 racks of 4 nodes of 4 GPUs."""
    workload: Sampler | None = None
    """A sampler of episodes; by default `Generated()`."""
    observation: str = ""
    """``topdrl``, ``vector``, ``graph``, ``proximity``, ``gangs``, or a file; by default topdrl for PickJob, proximity
    for PlaceJob, gangs for PlaceGang."""
    reward: str = ""
    """``throughput``, ``throughput_b``, ``jobs``, ``delay``, ``slowdown``, ``proximity``, or a file; by default
    proximity for PlaceJob, delay for PlaceGang, and for PickJob throughput, or jobs if `horizon_s` is None."""
    slots: int = 10
    """Number of waiting jobs that the agent sees, from 1 to 64."""
    gpus: str = "nearest"
    """PickJob only: a GPU picker, as of the policy `pick-place`, or a value of ``--placement``."""
    schedulers: int = 1
    """PlaceGang only: number of schedulers that share the cluster, each with its own racks and jobs."""
    patience: float = shipped.PATIENCE
    """PlaceGang only: how long a job may wait for a compact place, in durations of the job, as under `scorer`."""
    order: str = "fifo"
    """PlaceGang only: the order of waiting jobs: fifo, by submission, or sjf, shortest first."""
    picker: str = "fcfs"
    """PlaceJob only: the order of waiting jobs, the first of which is placed: fcfs, sjf, tetris, drf or random."""
    rate_model: str | None = None
    """An option of a run (``docs/reference/options.md``); ``iterations`` is refused."""
    contention: str = "none"
    """An option of a run."""
    factors: Mapping[str, Any] = field(default_factory=dict)
    """Options of factors, such as ``node_interference``, except those of GPU sharing."""
    profiles: Sequence[str | Path] = ()
    """An option of a run: files of model profiles."""
    assign_models: int | None = None
    """An option of a run."""
    estimate: str = "oracle"
    """An option of a run; ``history`` is refused."""
    horizon_s: float | None = HORIZON_S
    """Simulated time at which episodes are cut; None: they end when all jobs are done."""
    gamma: float = 0.99
    tau_s: float = 241.5
    """Unit of time of rewards; by default the time step of TopDRL's authors."""
    hold: float = 0.1
    """Cost of a GPU that is waited for, in the reward throughput; a running one is worth 1."""
    episodes: int = 64
    """Number of prepared episodes, of which each reset takes the next."""

    def __post_init__(self) -> None:
        Assumptions.checked({name: getattr(self, name) for name in OF_A_RUN} | {**self.factors})
        for name in self.factors:
            if name not in options_of_factors() or name in GpuSharing.options:
                raise UsageError(
                    f"factors = {dict(self.factors)}: environments have no factor with the option {name!r}"
                )
        limits = {"slots": MOST_SLOTS, "episodes": 1 << 20, "schedulers": MOST_SCHEDULERS}
        for name, most in limits.items():
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value <= most:
                raise UsageError(f"{name} = {value!r}: it must be a whole number from 1 to {most}")
        numbers = (0 < self.gamma <= 1, 0 < self.tau_s < 1e9, 0 <= self.hold < 1e6, 0 <= self.patience < 1e6)
        if not all(numbers):
            given = f"gamma {self.gamma}, tau_s {self.tau_s}, hold {self.hold}, patience {self.patience}"
            raise UsageError(f"{given}: numbers out of range")
        if self.estimate == "history":
            raise UsageError("estimate = 'history' is learnt in a run: environments have no such estimates")
        if parse_rate_model(self.rate_model or "rates").counts_iterations:
            raise UsageError(
                f"environments know rates, not chains of iterations: leave out the rate model {self.rate_model!r}"
            )
        if self.horizon_s is not None and not 0 < self.horizon_s < 1e12:
            raise UsageError(f"horizon_s = {self.horizon_s}: it must be seconds above 0, or None")
        if self.picker not in ORDERS:
            raise UsageError(f"there is no picker {self.picker!r} ({did_you_mean(self.picker, ORDERS)})")
        if self.order not in get_args(Order):
            raise UsageError(f"there is no order {self.order!r} ({did_you_mean(self.order, get_args(Order))})")
        known = [*GPU_PICKERS, *PLACEMENT_NAMES]
        if self.gpus not in known:
            raise UsageError(f"there is no GPU picker {self.gpus!r} ({did_you_mean(self.gpus, known)})")
        if isinstance(self.workload, str):
            raise UsageError(f"workload = {self.workload!r}: give a sampler, such as Generated({self.workload!r})")
        if self.reward in CUT_REWARDS and self.horizon_s is None:
            raise UsageError(
                f"reward {self.reward!r} adds up to the same whatever is done where all jobs run to their end: give "
                "horizon_s, and more jobs than it has room for; or reward 'jobs'"
            )


@dataclass(frozen=True)
class Made:
    """What is made of a setting for one kind of choice."""

    setting: Setting
    choice: str
    """Module of the choice."""
    observation: str
    reward: str
    actions: int
    pool: EpisodePool
    rules: NDArray[np.int64]
    workloads: Callable[[int], Workload]
    """That of episode k."""
    cluster: Cluster

    @property
    def template(self) -> Handle:
        """A state before its first event, with room for the longest episode."""
        return self.pool.template


def make(setting: Setting, choice: str) -> Made:
    """Everything that the environments of this setting need, where agents choose by the module `choice`.

    Raises:
        InputError, UsageError: the cluster, the jobs or a keyword is wrong.
    """
    cluster = setting.cluster if isinstance(setting.cluster, Cluster) else load_cluster(setting.cluster)
    layout = cluster.layout()
    sampler: Any = setting.workload or Generated()
    gpus = int(layout.node_gpus.sum())
    pool = make_episode_pool(
        [sampler(k, gpus) for k in range(setting.episodes)], cluster, _agent(setting, choice, layout), _options(setting)
    )
    rules = np.zeros(columns.RULES, np.int64)
    rules[columns.HORIZON] = NEVER_MS if setting.horizon_s is None else round(1000 * setting.horizon_s)
    rules[columns.HOW] = GPU_PICKERS.index(setting.gpus) if setting.gpus in GPU_PICKERS else columns.CONFIGURED
    rules[columns.UNITS] = columns.BY_GPU if gpus <= MOST_GPUS else columns.BY_NODE
    return Made(
        setting,
        choice,
        setting.observation or OBSERVATIONS[choice],
        setting.reward or REWARDS[choice] or ("jobs" if setting.horizon_s is None else "throughput"),
        _actions(setting, choice, layout),
        pool,
        rules,
        lambda k: sampler(k, gpus),
        cluster,
    )


def _actions(setting: Setting, choice: str, layout: Layout) -> int:
    if choice == "gangs":
        return GANG_ACTIONS
    return 1 + (setting.slots if choice == "picking" else _places(layout))


def _places(layout: Layout) -> int:
    nodes = len(layout.node_gpus)
    if int(layout.node_gpus.sum()) > MOST_GPUS and nodes > PLACES:
        raise UsageError(f"PlaceJob chooses among at most {PLACES} nodes; the cluster has {nodes}")
    return PLACES


def _options(setting: Setting) -> RunOptions:
    """The options of the run that the episodes are of."""
    own = {name: getattr(setting, name) for name in (*OF_A_RUN, "profiles")}
    return RunOptions.checked({**own, **setting.factors, "overheads": "none", "log": False})


def _agent(setting: Setting, choice: str, layout: Layout) -> Agent:
    """The agent, as a run asks for a policy."""
    by_engine = choice == "picking" and setting.gpus not in GPU_PICKERS
    return Agent(
        _params(setting, choice, layout),
        setting.gpus if by_engine else "spread",
        setting.schedulers if choice == "gangs" else 1,
        "none" if setting.estimate == "none" else "oracle",
    )


def _params(setting: Setting, choice: str, layout: Layout) -> NDArray[np.float64]:
    """What compiled code finds in ``State.params``."""
    least, greatest = costs_by_size(layout, _tree(setting).costs)
    params = AgentParameters.zeros({"least_cost": len(least), "greatest_cost": len(greatest)})
    P = AgentParameters(params)
    P.forward, P.patient_share = True, setting.patience
    P.hold, P.tau_ms = setting.hold, 1000.0 * setting.tau_s
    P.decay = -np.log(setting.gamma) / P.tau_ms
    P.job_order = ORDERS.index(_order(setting, choice))
    P.least_cost.array[:], P.greatest_cost.array[:] = least, greatest
    return params


def _order(setting: Setting, choice: str) -> str:
    """The order of waiting jobs."""
    if choice != "gangs":
        return setting.picker
    return "sjf" if setting.order == "sjf" else "fcfs"


def _tree(setting: Setting) -> Tree:
    """By which communication is priced, whatever the rate model."""
    base = parse_rate_model(setting.rate_model or "rates")
    return base if isinstance(base, Tree) else Tree()


def costs_by_size(layout: Layout, tree: TreeCost) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the greatest that the communication of a gang of 0, 1, ... GPUs costs on the empty cluster."""
    nodes = layout.node_gpus, layout.node_rack
    sizes = range(int(layout.node_gpus.sum()) + 1)
    return np.array([tree.least(*nodes, n) for n in sizes]), np.array([tree.most(*nodes, n) for n in sizes])
