"""N simulations and the arrays through which compiled code and Python speak about them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.environments import Handle, said_by_factor, units
from pointsman.errors import RunError
from pointsman.learn.environments.batch_state import BatchState
from pointsman.learn.environments.branch import Branch
from pointsman.learn.environments.compiled import columns
from pointsman.learn.environments.compiled.columns import Episode
from pointsman.learn.environments.compiled.features.extent import extent_of
from pointsman.learn.environments.loading import (
    BOOKKEEPING,
    episode_unit,
    observation_unit,
    reward_unit,
    shapes_of,
)
from pointsman.learn.environments.setting import Made

SECONDS_PER_HOUR = 3600.0


class VectorSim:
    """N simulations of one setting, stepped together; the arrays hold what the last step answered."""

    def __init__(self, made: Made, size: int, threads: int = 1) -> None:
        self.made = made
        self._episode, self._observing, rewarding, bookkeeping = units(
            episode_unit(made.choice), observation_unit(made.observation), reward_unit(made.reward), BOOKKEEPING
        )
        self.shapes = shapes_of(made.observation, made.setting.slots, extent_of(made.template.state))
        self._rules = made.rules.copy()
        for hook, address in bookkeeping.addresses.items():
            made.template.state.g[hook] = address
        self._batch = BatchState(made.template, size)
        self._rules[columns.REWARDING] = rewarding.addresses["reward"]
        self._rules[columns.TRACE_AT] = self._batch.trace_at
        self._sims = np.zeros((size, columns.SIM_COLUMNS), np.int64)
        self._sims[:, columns.ADDRESS] = self._batch.addresses
        self._sims[:, columns.NEXT] = -1
        self._orders = np.zeros((size, len(made.pool.rows)), np.int64)
        self.windows = np.full((size, made.setting.slots), -1, np.int64)
        self.masks = np.zeros((size, made.actions), np.int8)
        self.answers = np.zeros((size, columns.ANSWER))
        self._metrics = np.zeros((size, Episode.layout.width))
        self.seen = np.zeros((size, sum(int(np.prod(shape)) for shape in self.shapes.values())), np.float32)
        cuts = np.linspace(0, size, min(threads, size) + 1).astype(int).tolist()
        self._parts = list(pairwise(cuts))
        self._pool = ThreadPoolExecutor(len(self._parts) - 1) if len(self._parts) > 1 else None
        self._branch: Branch | None = None

    def seed(self, e: int, seed: int) -> None:
        """Simulation `e` goes through the episodes in an order by `seed`, from its beginning."""
        self._orders[e] = np.random.default_rng(seed).permutation(self._orders.shape[1])
        self._sims[e, columns.TURN] = 0

    def ask_for(self, e: int, episode: int) -> None:
        """Simulation `e` begins this episode next."""
        self._sims[e, columns.NEXT] = episode

    def begin(self) -> None:
        """All begin their next episodes.

        Raises:
            RunError: a factor of the runs failed.
        """
        self._sims[:, columns.OVER] = 1
        self._episode.begin_all(
            self._sims, self._batch.rows, self._batch.first, self.made.pool.rows, self._orders, self.windows,
            self.masks, self.answers, self._rules,
        )  # fmt: skip
        self._look(0, len(self._sims))

    def step(self, actions: NDArray[np.int64]) -> None:
        """All do their actions and go on to their next decisions; those that are over begin anew.

        Raises:
            RunError: a factor of the runs failed.
        """
        others = [self._pool.submit(self._step, actions, *part) for part in self._parts[1:]] if self._pool else []
        self._step(actions, *self._parts[0])
        for done in others:
            done.result()

    def _step(self, actions: NDArray[np.int64], begin: int, end: int) -> None:
        self._episode.step_all(
            self._sims, self._batch.rows, self._batch.first, self.made.pool.rows, self._orders, actions, self.windows,
            self.masks, self.answers, self._metrics, self._rules, begin, end,
        )  # fmt: skip
        self._look(begin, end)

    def _look(self, begin: int, end: int) -> None:
        for e in begin + np.flatnonzero(self._sims[begin:end, columns.OVER]):
            state = self._batch.handles[e].state
            if state.g[0]["wrong_factor"] != 0:
                raise RunError(said_by_factor(state))
        self._observing.observe_all(self._sims, self.windows, self.seen, begin, end)

    def worth(self, e: int, actions: list[int], weights: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
        """What each of `actions` is worth in simulation `e` (`branch.Branch.worth`)."""
        if self._branch is None:
            self._branch = Branch(self.made, self._rules)
        return self._branch.worth(self._batch.rows[e], self.windows[e], self.masks[e], actions, weights, reach)

    def close(self) -> None:
        """The threads end."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    @property
    def refused(self) -> int:
        """How often the engine refused what a mask allowed: never."""
        return int(self._sims[:, columns.REFUSED].sum())

    @property
    def episodes(self) -> NDArray[np.int64]:
        """(N,) the episode that each is in."""
        return self._sims[:, columns.EPISODE].copy()

    def handle(self, e: int) -> Handle:
        """The state of simulation `e` and its world."""
        return self._batch.handles[e]

    def discounts(self) -> NDArray[np.float64]:
        """(N,) gamma to the power of the time of the last step over τ."""
        setting = self.made.setting
        return np.exp(self.answers[:, columns.ELAPSED] * (np.log(setting.gamma) / (1000.0 * setting.tau_s)))

    def parts(self, seen: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The named parts of what was seen: views of `seen`, whose last axis they share out."""
        found, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            found[name] = seen[..., at : at + size].reshape(*seen.shape[:-1], *shape)
            at += size
        return found

    def metrics(self, e: int) -> dict[str, float]:
        """The metrics of the episode of simulation `e`, which is over."""
        names = (slot.name for slot in Episode.layout.slots)
        m = dict(zip(names, self._metrics[e].tolist(), strict=True))
        ended, started, gangs = (max(1.0, m[name]) for name in ("jobs_ended", "jobs_started", "gangs_started"))
        span_s = max(1e-3, float(self._batch.handles[e].state.g["now"][0]) / 1000.0)
        work_gpu_h = m.pop("work") / 1000.0 / SECONDS_PER_HOUR
        jct_s, slowdown = m.pop("jct") / 1000.0 / ended, m.pop("slowdown") / ended
        cost, nearness = m.pop("cost") / started, m.pop("nearness") / gangs
        return {
            "return": m.pop("reward"),
            **m,
            "span_s": span_s,
            "jct_mean_s": jct_s,
            "slowdown_mean": slowdown,
            "work_gpu_h": work_gpu_h,
            "throughput_gpu_h_per_h": work_gpu_h / (span_s / SECONDS_PER_HOUR),
            "communication_cost_mean": cost,
            "proximity_mean": nearness,
        }
