"""The agents that can be trained: each a network, an algorithm and a task, with the settings it is known by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.messages import wording
from pointsman.learn.config import Config
from pointsman.learn.networks import NETWORKS
from pointsman.learn.training_setup import PracticeConfig

Settings = Mapping[str, Mapping[str, Any]]
"""By name (the agent's, its algorithm's or ``practice``), parameters and their values."""
PRACTICE = "practice"
C = TypeVar("C", bound=Config)

ALGORITHMS = {
    "ppo": "pointsman.learn.algorithms.ppo:Ppo",
    "counterfactual": "pointsman.learn.algorithms.counterfactual:Counterfactual",
    "reinforce": "pointsman.learn.algorithms.reinforce:Reinforce",
}
CONFIGS = {
    "ppo": "pointsman.learn.algorithms.ppo:PpoConfig",
    "counterfactual": "pointsman.learn.algorithms.counterfactual:CounterfactualConfig",
    "reinforce": "pointsman.learn.algorithms.reinforce:ReinforceConfig",
}
TASKS = {
    "pick": "pointsman.learn.environments.pick_job:PickJobVectorEnv",
    "place": "pointsman.learn.environments.place_job:PlaceJobVectorEnv",
    "gangs": "pointsman.learn.environments.place_gang:PlaceGangVectorEnv",
}


@dataclass(frozen=True)
class Agent:
    """What an agent is made of."""

    name: str
    network: str
    algorithm: Literal["ppo", "reinforce", "counterfactual"]
    task: Literal["pick", "place", "gangs"]
    settings: Settings = field(default_factory=dict)
    """Where it differs from the defaults."""


_SEVERAL_SCHEDULERS: Settings = {
    PRACTICE: {
        "cluster": "fat-tree:8/gpus=4,nic=10Gbps",
        "workload": "dl2-1-8",
        "load": 0.7,
        "jobs": 3000,
        "rate_model": "rates",
        "contention": "duty-cycle",
        "node_interference": "table",
        "schedulers": 4,
        "order": "sjf",
        "gamma": 1.0,
        "assign_models": None,
        "horizon_s": None,
        "tau_s": None,
        "episodes": 64,
    },
}
MARL = Agent("marl", "marl", "counterfactual", "gangs", _SEVERAL_SCHEDULERS)
ACTORS = Agent(
    "marl",
    "marl-actors",
    "ppo",
    "gangs",
    {
        PRACTICE: {**_SEVERAL_SCHEDULERS[PRACTICE], "gamma": 0.9, "jobs": 800, "patience": 1.0},
        "ppo": {"num_envs": 8, "steps": 512, "trace": 1.0, "learning_rate": 1e-3, "entropy_weight": 0.003},
    },
)
"""The task of `marl` for agents that learn by rewards, as in the paper."""
AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "topdrl",
            "topdrl",
            "ppo",
            "pick",
            {
                "topdrl": {"first_filters": 4, "second_filters": 8, "image_width": 32},
                "ppo": {"num_envs": 36, "learning_rate": 1e-3, "trace": 0.98},
                PRACTICE: {"hold": 0.0},
            },
        ),
        Agent(
            "deeprm",
            "deeprm",
            "reinforce",
            "pick",
            {PRACTICE: {"reward": "slowdown", "gpus": "first-available", "gamma": 1.0}},
        ),
        Agent(
            "proximity-drl",
            "proximity",
            "ppo",
            "place",
            {"ppo": {"entropy_weight": 0.005, "value_weight": 0.05, "epochs": 10}},
        ),
        MARL,
    )
}
LEARNERS = {"marl": {"improvement": MARL, "actor-critic": ACTORS}}
"""Agents that are trained in several ways, by the parameter ``learner`` of their networks; the first is the default."""


@dataclass(frozen=True)
class Recipe:
    """An agent with all its settings."""

    agent: Agent
    network: Config
    algorithm: Config
    practice: PracticeConfig

    @property
    def parts(self) -> dict[str, Config]:
        """The settings, by the name they go by."""
        return {self.agent.name: self.network, self.agent.algorithm: self.algorithm, PRACTICE: self.practice}


def recipe(name: str, settings: Settings) -> Recipe:
    """The agent of this name with these settings.

    Raises:
        UsageError: there is no such agent, name or parameter, or a value is wrong.
    """
    if name not in AGENTS:
        raise UsageError(f"there is no agent {name!r:.60} ({did_you_mean(name, AGENTS)})")
    agent = _by_learner(name, settings)
    kinds = kinds_of(agent)
    for given in settings:
        if given not in kinds:
            raise UsageError(f"--set {given}.…: {name} has no part {given!r:.60} ({did_you_mean(given, kinds)})")
    values = {part: {**agent.settings.get(part, {}), **settings.get(part, {})} for part in kinds}
    network, algorithm = (make_part(part, kinds[part], values[part]) for part in (agent.name, agent.algorithm))
    return Recipe(agent, network, algorithm, practice_config(values[PRACTICE]))


def _by_learner(name: str, settings: Settings) -> Agent:
    """The agent of this name as it is to be trained.

    Raises:
        UsageError: there is no such way.
    """
    ways = LEARNERS.get(name, {})
    learner = settings.get(name, {}).get("learner")
    if not ways or learner is None:
        return AGENTS[name]
    if learner not in ways:
        raise UsageError(f"{name}.learner = {learner!r:.60} ({did_you_mean(str(learner), ways)})")
    return ways[learner]


def networks_of(name: str) -> tuple[str, ...]:
    """The networks that an agent of this name may have."""
    return tuple(agent.network for agent in LEARNERS.get(name, {"": AGENTS[name]}).values())


def practice_config(values: Mapping[str, Any]) -> PracticeConfig:
    """The practice with these settings.

    Raises:
        UsageError: there is no such parameter, or a value is wrong.
    """
    return make_part(PRACTICE, PracticeConfig, values)


def kinds_of(agent: Agent) -> dict[str, type[Config]]:
    """The classes of its settings, by the name they go by."""
    network: Any = _load(NETWORKS[agent.network])
    return {agent.name: network.Config, agent.algorithm: _load(CONFIGS[agent.algorithm]), PRACTICE: PracticeConfig}


def learner_class(agent: Agent) -> Any:
    """The class of its algorithm."""
    return _load(ALGORITHMS[agent.algorithm])


def environments_class(agent: Agent) -> Any:
    """The class of the environments of its task."""
    return _load(TASKS[agent.task])


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def make_part(part: str, kind: type[C], values: Mapping[str, Any]) -> C:
    """Settings of this kind; `part` is the name that they go by.

    Raises:
        UsageError: there is no such parameter, or a value is wrong.
    """
    try:
        return kind(**values)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        if fault["type"] == "extra_forbidden":
            raise UsageError(
                f"{part} has no parameter {name!r:.60} ({did_you_mean(name, kind.model_fields)})"
            ) from None
        raise UsageError(f"{part}.{name}: {wording(fault['msg'])}, not {fault['input']!r:.60}") from None
