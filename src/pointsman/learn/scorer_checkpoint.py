"""A training of the linear scorer from its first generation to its last, and what it leaves.

The directory is a checkpoint (``policy.yaml``, ``policy.json``) with ``metrics.jsonl``, a line for each generation, and
``training.json``, from which ``--resume`` goes on exactly as if nothing had been.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, ValidationError

from pointsman.cluster import load_cluster
from pointsman.errors import InputError, RunError
from pointsman.inputs.messages import wording
from pointsman.inputs.output_path import replace_files
from pointsman.learn.checkpoint import (
    CARD,
    METRICS,
    PARAMETERS,
    SEARCH,
    Card,
    Named,
    ObservationSpec,
    card_yaml,
    check_same,
    read_card,
)
from pointsman.learn.saved_state import Pcg64, Saved, no_state, read_state
from pointsman.learn.scorer_recipe import AGENT, ALGORITHM, ScorerRecipe
from pointsman.learn.scorer_training import FIRST, ScorerTask, cost_of, first, weights_of
from pointsman.learn.training_setup import sampler, settings_of
from pointsman.policies.placers.declared import FEATURES, MOST_CANDIDATES
from pointsman.policies.placers.scorer import Scorer
from pointsman.version import __version__

EACH = Field(min_length=len(FIRST), max_length=len(FIRST))
WIDEST = 1e6
"""No search goes so far from where it begins: weights are about 1."""


class _SearchState(Saved):
    """``training.json``."""

    mean: Annotated[list[Annotated[float, Field(ge=-WIDEST, le=WIDEST)]], EACH]
    deviation: Annotated[list[Annotated[float, Field(ge=0, le=WIDEST)]], EACH]
    random: Pcg64
    history: list[float]


class ScorerTraining:
    """A search, the directory it is kept in, and how far it is."""

    def __init__(self, recipe: ScorerRecipe, directory: Path, seed: int, command: str) -> None:
        self.recipe, self.directory, self.seed, self.command = recipe, directory, seed, command
        self.where = first(seed)
        self.history: list[float] = []

    def resume(self) -> None:
        """Go on from where the directory is.

        Raises:
            InputError: it holds no such training, a broken one, or one of something else.
        """
        check_same(read_card(self.directory), self._card(), self.directory)
        path = self.directory / SEARCH
        saved = read_state(path, _SearchState)
        if len(saved.history) > self.recipe.search.generations:
            many = self.recipe.search.generations
            raise no_state(path, f"it has {len(saved.history)} generations of {many}")
        self.where.mean, self.where.deviation = np.array(saved.mean), np.array(saved.deviation)
        self.where.draw.bit_generator.state = saved.random.model_dump()
        self.history = saved.history

    def run(self, tell: Callable[[float, str], None]) -> None:
        """Search until all generations are done; whatever stops it, those that are done are saved.

        Raises:
            InputError, UsageError: the jobs, the cluster or an option are wrong. RunError: it cannot be saved.
        """
        many = self.recipe.search.generations
        costs = [cost_of(training) for training in self._tasks()]
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._save()
            while len(self.history) < many:
                least = self.where.next_generation(
                    lambda vector: float(np.mean([cost(vector) for cost in costs])), self.recipe.search
                )
                self.history.append(least)
                self._save()
                tell(len(self.history) / many, f"mean JCT {least:.4f} of packed")
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{self.directory}: the training cannot be saved: {why}; make room there") from error

    def _tasks(self) -> list[ScorerTask]:
        """One for each cluster, log and load."""
        found = []
        for one in settings_of(self.recipe.practice):
            made_by, gpus = sampler(one, "train"), load_cluster(one.cluster).gpus
            workloads = [made_by(k, gpus) for k in range(one.workloads)]
            found.append(ScorerTask(workloads, one.cluster, one.options(), self.seed, one.order, self.recipe.search))
        return found

    def _card(self) -> Card:
        layout = load_cluster(settings_of(self.recipe.practice)[0].cluster).layout()
        seen = ObservationSpec(name="placements", shapes={"features": (FEATURES,)}, actions=MOST_CANDIDATES)
        evaluated = len(self.history) * self.recipe.search.population * self.recipe.practice.workloads
        return Card(
            agent=AGENT,
            network=Named(name="linear"),
            observation=seen,
            observation_sha256=seen.digest,
            algorithm=Named(name=ALGORITHM, config=self.recipe.search.model_dump(mode="json")),
            environment=self.recipe.practice.model_dump(mode="json"),
            cluster={
                "racks": len(set(layout.node_rack.tolist())),
                "nodes": len(layout.node_gpus),
                "gpus": int(layout.node_gpus.sum()),
            },
            seed=self.seed,
            steps=evaluated * self.recipe.practice.jobs * len(settings_of(self.recipe.practice)),
            pointsman=__version__,
            command=self.command,
        )

    def _save(self) -> None:
        """The state comes last: what is saved by then is of this generation or, if it is made again, the same."""
        weights = weights_of(self.where.mean)
        lines = [json.dumps({"generation": k, "cost": cost}) for k, cost in enumerate(self.history, 1)]
        state = {
            "mean": self.where.mean.tolist(),
            "deviation": self.where.deviation.tolist(),
            "random": self.where.draw.bit_generator.state,
            "history": self.history,
        }
        contents = {
            METRICS: "".join(f"{line}\n" for line in lines),
            PARAMETERS: json.dumps(weights, indent=2),
            CARD: card_yaml(self._card()),
            SEARCH: json.dumps(state),
        }
        replace_files({self.directory / name: text.encode() for name, text in contents.items()})


def trained_weights(directory: str) -> Mapping[str, float]:
    """The parameters of `scorer` that a training in `directory` found.

    Raises:
        InputError: there is none, or it is broken, or of another agent.
    """
    place = Path(directory)
    card = read_card(place)
    if card.agent != AGENT:
        fix = f"use it as --policy {card.agent}:{place}"
        raise InputError(f"a checkpoint of {card.agent!r:.60}", path=place / CARD, fix=fix)
    path = place / PARAMETERS
    try:
        if path.exists() and not path.is_file():
            raise ValueError("no regular file")
        found = json.loads(path.read_text())
        if why := _fault(found):
            raise ValueError(why)
        Scorer(**found)
    except (OSError, ValueError, RecursionError) as error:
        why = _first_fault(error) if isinstance(error, ValidationError) else str(error).splitlines()[0]
        raise InputError(
            f"not the weights of {AGENT}: {why}", path=path, fix="copy it again, or train it again"
        ) from None
    return found


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{first['loc'][0]} = {first['input']!r:.60}: {wording(first['msg'])}"


def _fault(weights: object) -> str:
    """Why these are not weights; empty if they are."""
    if not isinstance(weights, dict):
        return "no object of names and numbers"
    if unlike := sorted(FIRST.keys() ^ weights.keys()):
        return f"{unlike[0]!r:.60} is {'missing' if unlike[0] in FIRST else 'none of them'}"
    odd = [name for name, value in weights.items() if type(value) not in (int, float) or not abs(value) < np.inf]
    return f"{odd[0]} is {weights[odd[0]]!r:.60}, and no finite number" if odd else ""
