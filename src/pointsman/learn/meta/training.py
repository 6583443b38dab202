"""A training of `metarl` from its first run to its last, and what it leaves.

The directory is a checkpoint (``policy.yaml``, ``performance-model.yaml``) with ``metrics.jsonl``, a line for each run,
and ``training.json``, from which ``--resume`` goes on exactly as if nothing had been.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import Field

from pointsman.api import simulate
from pointsman.cluster import load_cluster
from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import replace_files
from pointsman.learn.checkpoint import (
    CARD,
    METRICS,
    SEARCH,
    WEIGHTS,
    Card,
    Named,
    card_yaml,
    check_same,
    read_card,
    tensors_bytes,
)
from pointsman.learn.meta.recipe import AGENT, ALGORITHM, MetaRecipe, Network
from pointsman.learn.policies.adaptation.adapting import EPISODES, JOBS, TOGETHER
from pointsman.learn.policies.adaptation.meta_network import card_of
from pointsman.learn.saved_state import Saved, no_state, read_state
from pointsman.learn.training_setup import sampler, settings_of
from pointsman.policies.placers.candidates import weights as shipped
from pointsman.speed.interference.online.expectations import Expectations, error
from pointsman.speed.interference.online.file import NAME, ServerExperience, experience_yaml, parse_experience
from pointsman.speed.interference.online.learner import InterferenceLearner
from pointsman.speed.interference.online.performance_model import Expected
from pointsman.workload import Workload

if TYPE_CHECKING:
    from pointsman.learn.meta.weights import LearntWeights

FIGURES: Final = {"run", "jobs", "jct_mean_s", "error_before", "error_after"}
"""What is told of each run."""


class _MetaState(Saved):
    """``training.json``."""

    history: list[dict[str, int | float]]
    expected: str
    weights: dict[str, list[float]] = Field(default_factory=dict)


class MetaTraining:
    """Runs, the directory that keeps what they taught, and how many there were."""

    def __init__(self, recipe: MetaRecipe, directory: Path, seed: int, command: str) -> None:
        self.recipe, self.directory, self.seed, self.command = recipe, directory, seed, command
        self.settings = settings_of(recipe.practice)
        self.history: list[dict[str, int | float]] = []
        self.expected: list[ServerExperience] = []
        self.weights = _weights(recipe.meta.network, seed)

    def resume(self) -> None:
        """Go on from where the directory is.

        Raises:
            InputError: it holds no such training, a broken one, or one of something else.
        """
        check_same(read_card(self.directory), self._card(), self.directory)
        path = self.directory / SEARCH
        saved = read_state(path, _MetaState)
        try:
            self.history = [_row(k, row) for k, row in enumerate(saved.history, 1)]
            if len(self.history) > self.recipe.meta.runs:
                raise ValueError(f"it has {len(self.history)} runs of {self.recipe.meta.runs}")
            self.expected = parse_experience(saved.expected, "expected")
            if self.weights is not None:
                self.weights.restore(saved.weights, len(self.history))
        except (ValueError, UsageError) as wrong:
            raise no_state(path, wrong) from None

    def run(self, tell: Callable[[float, str], None]) -> None:
        """Run until all runs are done; whatever stops it, those that are done are saved.

        Raises:
            InputError, UsageError: the jobs, the cluster or an option are wrong. RunError: it cannot be saved.
        """
        many = self.recipe.meta.runs
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._save()
            while len(self.history) < many:
                self._learn()
                self._save()
                tell(len(self.history) / many, f"error before {self.history[-1]['error_before']:.4f}")
        except OSError as wrong:
            why = wrong.strerror or wrong
            raise RunError(f"{self.directory}: the training cannot be saved: {why}; make room there") from wrong

    def _learn(self) -> None:
        """From one more run, of the next setting, with jobs and a truth of its own."""
        done = len(self.history)
        practice = self.settings[done % len(self.settings)]
        jobs = sampler(practice, "train")(done // len(self.settings), load_cluster(practice.cluster).gpus)
        own = int(np.random.SeedSequence((self.seed, done)).generate_state(1)[0])
        options: dict[str, Any] = practice.options() | {"node_interference": practice.truth(1 + own)}
        exploration = {} if self.weights is None else self.weights.exploration
        as_is = {"seed": own, "steps": 0, "reviewed": False, "order": practice.order}
        knowing = {"checkpoint": str(self.directory), **as_is, **exploration}
        result = simulate(jobs, practice.cluster, AGENT, log=False, params=knowing, **options)
        seen = parse_experience(result.learnt[NAME].decode(), f"run {done + 1}")
        expectations = Expectations(self.recipe.meta.method, self.recipe.meta.step, self.expected, done)
        expectations.learn(seen, own)
        taught = {} if self.weights is None else self._teach(self.weights, practice.cluster, jobs, seen, own)
        lasted = (result.jobs["end_s"] - result.jobs["submit_s"]).to_numpy()
        self.history.append(
            {
                "run": done + 1,
                "jobs": len(lasted),
                "jct_mean_s": round(float(lasted.mean()), 3),
                "error_before": error_of(self.expected, seen),
                "error_after": error_of(expectations.now, seen),
            }
            | taught
        )
        self.expected = expectations.now

    def _teach(
        self, weights: "LearntWeights", on: str, jobs: Workload, seen: Sequence[ServerExperience], seed: int
    ) -> dict[str, float]:
        """Let the network adapt to jobs like those of a run, slowed as the run saw it."""
        from pointsman.learn.policies.adaptation.rehearsals import like, rehearsals

        cluster, draw = load_cluster(on), np.random.default_rng(seed)
        learner = InterferenceLearner(seen)
        learner.begin(sorted(set(jobs.jobs["model"].drop_nulls())), [one.server for one in seen])
        came = [like(jobs.jobs, JOBS, draw) for _ in range(EPISODES)]
        order = self.recipe.practice.order
        environments = rehearsals(TOGETHER, cluster, came, learner.spec, shipped.PATIENCE, order, gamma=weights.gamma)
        done = len(self.history) / self.recipe.meta.runs
        return weights.learn(environments, seed, self.recipe.meta.decisions, done)

    def _card(self) -> Card:
        layout = load_cluster(self.settings[0].cluster).layout()
        card = card_of(None if self.weights is None else self.weights.network)
        about = {
            "algorithm": Named(name=ALGORITHM, config=self.recipe.meta.model_dump(mode="json")),
            "environment": self.recipe.practice.model_dump(mode="json"),
            "cluster": {
                "racks": len(set(layout.node_rack.tolist())),
                "nodes": len(layout.node_gpus),
                "gpus": int(layout.node_gpus.sum()),
            },
            "seed": self.seed,
            "steps": int(sum(row["jobs"] for row in self.history)),
            "command": self.command,
        }
        return card.model_copy(update=about | _machine(self.weights))

    def _save(self) -> None:
        """The state is one file, from which the others can be made again."""
        lines = [json.dumps(row) for row in self.history]
        state = {"history": self.history, "expected": experience_yaml(self.expected)}
        if self.weights is not None:
            state["weights"] = self.weights.numbers
        contents = {
            SEARCH: json.dumps(state).encode(),
            METRICS: "".join(f"{line}\n" for line in lines).encode(),
            NAME: state["expected"].encode(),
            CARD: card_yaml(self._card()).encode(),
        }
        if self.weights is not None:
            contents[WEIGHTS] = tensors_bytes(self.weights.network.state_dict())
        replace_files({self.directory / name: content for name, content in contents.items()})


def _weights(method: Network, seed: int) -> "LearntWeights | None":
    """For which PyTorch is needed, unless there are none."""
    if method == "none":
        return None
    if method == "actor-critic":
        from pointsman.learn.meta.actor_critic import ActorCriticWeights

        return ActorCriticWeights(seed)
    from pointsman.learn.meta.weights import MetaWeights

    return MetaWeights(method, seed)


def error_of(expected: Sequence[ServerExperience], run: Sequence[ServerExperience]) -> float:
    """By how much log slow-downs that were expected differ from those that a run saw (root mean square, each
    combination once).
    """
    laws = {one.server: one.expected for one in expected}
    squares = count = 0.0
    for one in run:
        law = laws.get(one.server, Expected())
        models = tuple(sorted({*law.models, *one.models}))
        squares += 2 * error(Expected(models, law.of(models)), one.combinations) * len(one.combinations)
        count += len(one.combinations)
    return round(float(np.sqrt(squares / max(1.0, count))), 5)


def _machine(weights: "LearntWeights | None") -> dict[str, str]:
    """With what a network was trained."""
    if weights is None:
        return {}
    import torch

    from pointsman.learn.setup import hardware

    return {"torch": torch.__version__, "hardware": hardware(torch.device("cpu"), torch.get_num_threads())}


def _row(run: int, row: dict[str, int | float]) -> dict[str, int | float]:
    """A line of the history; ValueError: it is none of that run."""
    if not row.keys() >= FIGURES or row["run"] != run:
        raise ValueError(f"the history of run {run} is {row!r:.60}")
    return row
