"""One simulation as a `gymnasium.Env`."""

from typing import Any, ClassVar, get_args

import gymnasium
import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from pointsman.engine.sdk.environments import copied
from pointsman.errors import UsageError
from pointsman.learn.environments.compiled.columns import ELAPSED, REWARD, TERMINATED, TRUNCATED
from pointsman.learn.environments.picture import RENDER_FPS, RenderMode, as_pixels, as_text
from pointsman.learn.environments.setting import Made, Setting, make
from pointsman.learn.environments.vector_sim import VectorSim
from pointsman.workload import Workload

Observation = dict[str, NDArray[Any]]


def spaces_of(sim: VectorSim) -> tuple[Dict, Discrete]:
    """What one simulation of `sim` shows, and what can be done."""
    parts = {name: Box(0.0, 1.0, shape, np.float32) for name, shape in sim.shapes.items()}
    actions = sim.made.actions
    return Dict({**parts, "action_mask": Box(0, 1, (actions,), np.int8)}), Discrete(actions)


class SingleEnv(gymnasium.Env[Observation, np.int64]):
    """An environment of which only the kind of choice is open; keywords are those of `Setting`.

    An invalid action is counted and taken for waiting, or, where time cannot pass, for the first valid one. The info of
    each step has `action_mask`, `discount` (of what comes after it) and `elapsed_s`; of the last one,
    `episode_metrics`.

    Raises:
        UsageError: a keyword is wrong.
    """

    metadata: dict[str, Any] = {"render_modes": list(get_args(RenderMode)), "render_fps": RENDER_FPS}  # noqa: RUF012
    choice: ClassVar[str]

    def __init__(self, *, render_mode: RenderMode | None = None, **keywords: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UsageError(f"render_mode = {render_mode!r:.60}: it must be 'ansi', 'rgb_array' or None")
        self.render_mode = render_mode
        self.made: Made = make(Setting(**keywords), self.choice)
        self._sim = VectorSim(self.made, 1)
        self.observation_space, self.action_space = spaces_of(self._sim)
        self._action = np.zeros(1, np.int64)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode: the first in the order that `seed` gives, or ``options["episode"]`` of the pool."""
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._sim.seed(0, int(self.np_random.integers(1 << 62)) if seed is None else seed)
            self._seeded = True
        if options and "episode" in options:
            self._sim.ask_for(0, options["episode"])
        self._sim.begin()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do `action` and let time pass to the next decision."""
        sim = self._sim
        self._action[0] = action
        sim.step(self._action)
        answer = sim.answers[0]
        terminated, truncated = bool(answer[TERMINATED]), bool(answer[TRUNCATED])
        info = self._info()
        if terminated or truncated:
            info["episode_metrics"] = sim.metrics(0)
        return self._observation(), float(answer[REWARD]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """(actions,) which actions are allowed now, as sb3-contrib's MaskablePPO asks for them."""
        return self._sim.masks[0] != 0

    def render(self) -> Any:
        """The cluster and its queue as they are: text (``ansi``), or (height, width, 3) pixels (``rgb_array``); None,
        with Gymnasium's warning, without a render mode.
        """
        if self.render_mode is None:
            logger.warn(
                'nothing is rendered: make the environment with render_mode="ansi" or "rgb_array"', stacklevel=2
            )
            return None
        draw = as_text if self.render_mode == "ansi" else as_pixels
        return draw(self.state, self.window, self.made.pool.prepared.layout)

    def close(self) -> None:
        """Nothing is left open."""
        self._sim.close()

    @property
    def episode(self) -> int:
        """Which episode of the pool this is."""
        return int(self._sim.episodes[0])

    def workload(self, episode: int) -> Workload:
        """The jobs of an episode of the pool."""
        return self.made.workloads(episode)

    @property
    def state(self) -> Any:
        """The engine's state as it is (`engine.state.records.State`); not to be written to."""
        return self._sim.handle(0).state

    @property
    def outcomes(self) -> NDArray[np.void]:
        """(jobs,) outcomes of the jobs so far (`engine.state.records.OUTCOME`); ``state`` is 0 until a job ends."""
        world = self._sim.handle(0).world
        return copied(world.outcomes[: int(world.clock["jobs"][0])])

    @property
    def window(self) -> NDArray[np.int64]:
        """The slots of the jobs that the agent sees, in order; -1 behind them."""
        return self._sim.windows[0].copy()

    @property
    def refused(self) -> int:
        """How often the engine refused what the mask allowed: never."""
        return self._sim.refused

    def _observation(self) -> Observation:
        found: Observation = dict(self._sim.parts(self._sim.seen[0].copy()))
        found["action_mask"] = self._sim.masks[0].copy()
        return found

    def _info(self) -> dict[str, Any]:
        sim = self._sim
        return {
            "action_mask": sim.masks[0].copy(),
            "discount": float(sim.discounts()[0]),
            "elapsed_s": float(sim.answers[0, ELAPSED]) / 1000.0,
            "episode_index": self.episode,
        }
