"""Environments of several settings in step, as one: for an agent that is to do well in all of them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.learn.environments.single import Observation
from pointsman.learn.environments.vector import NativeVectorEnv

METRICS = "episode_metrics"


class Mixture(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """`parts` one behind the other; all see and choose the same kinds of things."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, parts: Sequence[NativeVectorEnv]) -> None:
        first = parts[0]
        for part in parts[1:]:
            if (part.single_observation_space, part.single_action_space) != (
                first.single_observation_space,
                first.single_action_space,
            ):
                raise UsageError("environments that differ in what is seen or chosen cannot be mixed")
        self.parts, self.made, self.render_mode = list(parts), first.made, None
        self.num_envs = sum(part.num_envs for part in parts)
        self.single_observation_space = first.single_observation_space
        self.single_action_space = first.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        ends = np.cumsum([0, *(part.num_envs for part in parts)]).tolist()
        self._slices = [slice(*ends) for ends in pairwise(ends)]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episodes; `seed` and ``options["episodes"]`` as of one vector of `num_envs`."""
        seeds: Any = range(seed, seed + self.num_envs) if isinstance(seed, int | np.integer) else seed
        asked = (options or {}).get("episodes")
        found = []
        for part, cut in zip(self.parts, self._slices, strict=True):
            own = None if asked is None else {"episodes": asked[cut]}
            found.append(part.reset(seed=None if seeds is None else list(seeds[cut]), options=own))
        return self._join([seen for seen, _ in found]), self._join_infos([info for _, info in found])

    def step(self, actions: NDArray[np.int64]) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Do `actions` (N,) and let time pass to the next decision of each."""
        found = [part.step(actions[cut]) for part, cut in zip(self.parts, self._slices, strict=True)]
        seen, rewards, ended, cut, infos = zip(*found, strict=True)
        return (
            self._join(seen),
            np.concatenate(rewards),
            np.concatenate(ended),
            np.concatenate(cut),
            self._join_infos(infos),
        )

    def worth(self, e: int, actions: list[int], weights: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
        """Asks the part that simulation `e` is of."""
        k = next(k for k, cut in enumerate(self._slices) if e < cut.stop)
        return self.parts[k].worth(e - self._slices[k].start, actions, weights, reach)

    def close_extras(self, **kwargs: Any) -> None:
        """So do the parts."""
        for part in self.parts:
            part.close()

    def _join(self, seen: Sequence[Observation]) -> Observation:
        return {name: np.concatenate([one[name] for one in seen]) for name in seen[0]}

    def _join_infos(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        told = {name: np.concatenate([info[name] for info in infos]) for name in infos[0] if METRICS not in name}
        if not any(METRICS in info for info in infos):
            return told
        metrics: dict[str, NDArray[np.float64]] = {}
        over = np.zeros(self.num_envs, bool)
        for info, cut in zip(infos, self._slices, strict=True):
            over[cut] = info.get(f"_{METRICS}", False)
            for name, column in info.get(METRICS, {}).items():
                metrics.setdefault(name, np.zeros(self.num_envs))[cut] = column
        return told | {METRICS: metrics, f"_{METRICS}": over}
