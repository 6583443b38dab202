"""PlaceGang as a `pettingzoo.ParallelEnv`, in which each scheduler is an agent (``docs/papers/marl.md`` §5).

It is a module of its own, not among the names of the package, so that the Gymnasium environments do without PettingZoo
(extra ``[learn]``).
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, get_args

import numpy as np
from gymnasium.spaces import Space
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.learn.environments.compiled.gangs import ACTIONS, WAIT
from pointsman.learn.environments.picture import RENDER_FPS, RenderMode
from pointsman.learn.environments.place_gang import PlaceGangEnv
from pointsman.learn.environments.single import Observation
from pointsman.policies.placers.declared import owner

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as missing:
    needed = "pip install pettingzoo, or all of 'pointsman[learn]'"
    raise UsageError(f"PlaceGangParallelEnv needs pettingzoo: {needed}") from missing

Infos = dict[str, dict[str, Any]]


class PlaceGangParallelEnv(ParallelEnv[str, Observation, Any]):
    """PlaceGang with an agent for each of the `schedulers`: ``scheduler_0``, ``scheduler_1``, ... Keywords are those of
    `Setting`.

    It is turn-based underneath: schedulers act one after another on one cluster, and each step decides about one job.
    Only the agent that owns this job has a choice. The `action_mask` of every other agent allows only action 33, to
    wait, which does nothing.

    All agents share the observation of `PlaceGangEnv`, in which `owner` says whose turn it is, the reward, the end of
    the episode and the infos. Only `action_mask` is an agent's own. The arrays of the shared parts are the same objects
    for all agents.

    An invalid action of the owner is replaced as in `PlaceGangEnv`; one of another agent does nothing. In the
    `episode_metrics` of each agent, `invalid_actions` counts its own.

    Raises:
        UsageError: a keyword is wrong.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "pointsman/PlaceGang-v0",
        "render_modes": list(get_args(RenderMode)),
        "render_fps": RENDER_FPS,
    }

    def __init__(self, *, render_mode: RenderMode | None = None, **keywords: Any) -> None:
        self.render_mode = render_mode
        self.single = PlaceGangEnv(render_mode=render_mode, **keywords)
        """The simulation as one agent sees it; to be read, not to be stepped."""
        self.agents: list[str] = []
        self.possible_agents = [f"scheduler_{p}" for p in range(self.single.made.setting.schedulers)]
        # Each agent has spaces of its own, for they are seeded one by one.
        self.observation_spaces = {agent: deepcopy(self.single.observation_space) for agent in self.possible_agents}
        self.action_spaces = {agent: deepcopy(self.single.action_space) for agent in self.possible_agents}
        self._masks: dict[str, NDArray[np.int8]] = {}
        self._invalid: dict[str, int] = {}

    def observation_space(self, agent: str) -> Space[Any]:
        """The parts of the observation and the agent's `action_mask`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """34 actions, as in `PlaceGangEnv`."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin the next episode: the first in the order that `seed` gives, or ``options["episode"]`` of the pool."""
        seen, info = self.single.reset(seed=seed, options=options)
        self.agents = self.possible_agents.copy()
        self._invalid = dict.fromkeys(self.agents, 0)
        return self._distribute(seen, info)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Do the action of the owner, and let time pass to the next decision. Without live agents, all results are
        empty.

        Raises:
            UsageError: `actions` are not those of the live agents.
        """
        if set(actions) != set(self.agents):
            raise UsageError(
                f"actions of {sorted(actions)}: each live agent gives one, and these are live: {self.agents} (none is "
                "before the first reset and after the last step of an episode: call reset)"
            )
        if not self.agents:
            return {}, {}, {}, {}, {}
        for agent, mask in self._masks.items():
            self._invalid[agent] += not _is_allowed(actions[agent], mask)
        asked = self._agent_to_decide()
        seen, reward, terminated, truncated, info = self.single.step(WAIT if asked is None else actions[asked])
        observations, infos = self._distribute(seen, info)
        live = self.agents
        if terminated or truncated:
            self.agents = []
        ends = dict.fromkeys(live, terminated), dict.fromkeys(live, truncated)
        return observations, dict.fromkeys(live, reward), *ends, infos

    def render(self) -> Any:
        """Draws as `PlaceGangEnv` does."""
        return self.single.render()

    def close(self) -> None:
        """Nothing is left open."""
        self.single.close()

    def _agent_to_decide(self) -> str | None:
        """The agent that owns the job to be decided about; None where there is no such job."""
        slot = int(self.single.window[0])
        if slot < 0:
            return None
        return self.possible_agents[owner(self.single.state.jobs[slot], len(self.possible_agents)).scheduler]

    def _distribute(self, seen: Observation, info: dict[str, Any]) -> tuple[dict[str, Observation], Infos]:
        """Observations and infos of the live agents, of what one agent would be told."""
        asked = self._agent_to_decide()
        self._masks = {agent: seen["action_mask"] if agent == asked else _only_waiting() for agent in self.agents}
        observations = {agent: seen | {"action_mask": mask.copy()} for agent, mask in self._masks.items()}
        infos = {agent: info | {"action_mask": mask.copy()} for agent, mask in self._masks.items()}
        if "episode_metrics" in info:
            for agent, own in infos.items():
                own["episode_metrics"] = info["episode_metrics"] | {"invalid_actions": float(self._invalid[agent])}
        return observations, infos


def _only_waiting() -> NDArray[np.int8]:
    mask = np.zeros(ACTIONS, np.int8)
    mask[WAIT] = 1
    return mask


def _is_allowed(action: Any, mask: NDArray[np.int8]) -> bool:
    return 0 <= int(action) < len(mask) and bool(mask[int(action)])
