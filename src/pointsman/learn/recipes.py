"""All that can be trained, by name: networks, and what needs none and is trained in whole runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pointsman.learn import scorer_recipe as scorer
from pointsman.learn.agents import PRACTICE, Recipe, Settings, practice_config, recipe
from pointsman.learn.meta import recipe as metarl
from pointsman.learn.meta.recipe import MetaRecipe
from pointsman.learn.meta.training import MetaTraining
from pointsman.learn.scorer_checkpoint import ScorerTraining
from pointsman.learn.scorer_recipe import ScorerRecipe
from pointsman.learn.training_setup import LOGGED, JobsConfig, is_log

AnyRecipe = Recipe | ScorerRecipe | MetaRecipe
TRAINED_IN_RUNS: Final = {
    scorer.AGENT: (scorer.scorer_recipe, scorer.scorer_practice),
    metarl.AGENT: (metarl.meta_recipe, metarl.meta_practice),
}


def recipe_of(name: str, settings: Settings) -> AnyRecipe:
    """How the agent of this name is trained, with these settings.

    Raises:
        UsageError: there is no such agent, part or parameter, or a value is wrong.
    """
    settings = {**settings, PRACTICE: on_log(name, settings.get(PRACTICE, {}))}
    return TRAINED_IN_RUNS[name][0](settings) if name in TRAINED_IN_RUNS else recipe(name, settings)


def on_log(name: str, practice: Mapping[str, Any]) -> Mapping[str, Any]:
    """These settings of the practice of the agent of this name and, on a job log, those that they leave open: jobs
    arrive as logged, and no episode is cut, for most rewards of cut episodes need an overloaded cluster.
    """
    if "load" in practice or not is_log(str(practice.get("workload", ""))):
        return practice
    uncut = {} if name in TRAINED_IN_RUNS else {"horizon_s": None}
    return {"load": LOGGED, **uncut, **practice}


def practice_of(name: str, values: Mapping[str, Any]) -> JobsConfig:
    """Where the agent of this name practises, likewise."""
    return TRAINED_IN_RUNS[name][1](values) if name in TRAINED_IN_RUNS else practice_config(values)


def training_in_runs(
    recipe: ScorerRecipe | MetaRecipe, directory: Path, seed: int, command: str
) -> ScorerTraining | MetaTraining:
    """A training without a network that is kept in `directory`."""
    if isinstance(recipe, ScorerRecipe):
        return ScorerTraining(recipe, directory, seed, command)
    return MetaTraining(recipe, directory, seed, command)
