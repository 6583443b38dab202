"""N simulations as a native `gymnasium.vector.VectorEnv`: stepped in one call of compiled code."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.learn.environments.compiled.columns import ELAPSED, REWARD, TERMINATED, TRUNCATED
from pointsman.learn.environments.setting import Made, Setting, make
from pointsman.learn.environments.single import Observation, spaces_of
from pointsman.learn.environments.vector_sim import VectorSim
from pointsman.workload import Workload

Bools = NDArray[np.bool_]


class NativeVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` environments of which only the kind of choice is open; other keywords are those of `Setting`.

    `threads` share the simulations out. Without `copy` the observations of the next step overwrite those of this one.
    The step after the last of an episode begins the next, whatever the action (NEXT_STEP). Infos are arrays; that of
    `episode_metrics` holds for the simulations of `_episode_metrics`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    choice: ClassVar[str]

    def __init__(
        self, num_envs: int = 1, *, threads: int = 1, copy: bool = True, render_mode: None = None, **keywords: Any
    ) -> None:
        if num_envs < 1 or threads < 1:
            raise UsageError(f"num_envs {num_envs}, threads {threads}: both must be at least 1")
        if render_mode is not None:
            raise UsageError(f"render_mode = {render_mode!r:.60}: only single environments have one, not vector ones")
        self.num_envs, self.render_mode, self._copy = num_envs, render_mode, copy
        self.made: Made = make(Setting(**keywords), self.choice)
        self._sim = VectorSim(self.made, num_envs, threads)
        self.single_observation_space, self.single_action_space = spaces_of(self._sim)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episodes. By a number s, simulation i goes through the pool in the order of seed s + i;
        ``options["episodes"]`` (N,) asks for some of the pool.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        for e, own in enumerate(self._seeds(seed)):
            if own is not None:
                self._sim.seed(e, own)
        self._seeded = True
        if options and "episodes" in options:
            for e, episode in enumerate(options["episodes"]):
                self._sim.ask_for(e, int(episode))
        self._sim.begin()
        return self._observation(), self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if isinstance(seed, int | np.integer):
            return [int(seed) + e for e in range(self.num_envs)]
        if seed is not None:
            return list(seed)
        if self._seeded:
            return [None] * self.num_envs
        return self.np_random.integers(1 << 62, size=self.num_envs).tolist()

    def step(self, actions: NDArray[np.int64]) -> tuple[Observation, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Do `actions` (N,) and let time pass to the next decision of each."""
        sim = self._sim
        sim.step(np.ascontiguousarray(actions, np.int64))
        answers = sim.answers
        terminated, truncated = answers[:, TERMINATED] != 0.0, answers[:, TRUNCATED] != 0.0
        info = self._info()
        over = terminated | truncated
        if over.any():
            info["episode_metrics"], info["_episode_metrics"] = self._metrics(over), over
        return self._observation(), answers[:, REWARD].copy(), terminated, truncated, info

    def worth(self, e: int, actions: list[int], weights: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
        """(K,) minus the delay that follows each of `actions` in simulation `e`, in mean durations of a job, if the
        `scorer` with these weights goes on from there, for `reach` mean durations. Of PlaceGang only.
        """
        return self._sim.worth(e, actions, weights, reach)

    def _metrics(self, over: Bools) -> dict[str, NDArray[np.float64]]:
        columns: dict[str, NDArray[np.float64]] = {}
        for e in np.flatnonzero(over).tolist():
            for name, value in self._sim.metrics(e).items():
                columns.setdefault(name, np.zeros(self.num_envs))[e] = value
        return columns

    def close_extras(self, **kwargs: Any) -> None:
        """The threads end."""
        self._sim.close()

    def workload(self, episode: int) -> Workload:
        """The jobs of an episode of the pool."""
        return self.made.workloads(episode)

    @property
    def refused(self) -> int:
        """How often the engine refused what a mask allowed: never."""
        return self._sim.refused

    def _observation(self) -> Observation:
        sim = self._sim
        found: Observation = dict(sim.parts(sim.seen.copy() if self._copy else sim.seen))
        found["action_mask"] = sim.masks.copy() if self._copy else sim.masks
        return found

    def _info(self) -> dict[str, Any]:
        sim = self._sim
        return {
            "action_mask": sim.masks.copy() if self._copy else sim.masks,
            "discount": sim.discounts(),
            "elapsed_s": sim.answers[:, ELAPSED] / 1000.0,
            "episode_index": sim.episodes,
        }
