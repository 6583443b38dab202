"""The sections of the base models and factors that are registered."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from pointsman.engine.rate_models.registry import base_models, factors
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.shared import base_model_of


def of_factors() -> Iterator[ModuleType]:
    """The modules of factors, in the order in which they slow jobs."""
    return (import_module(factor.section) for factor in factors().values() if factor.section)


def section_figures(run: Measured) -> dict[str, Any]:
    """The figures of each section, by its key: None for a factor that the run does not have."""
    own = base_model_of(run.result.info).section
    return {section.KEY: section.figures(run) for section in (*of_factors(), *((import_module(own),) if own else ()))}


def section_lines(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of each section whose figures a summary has."""
    of_models = (import_module(model.section) for model in base_models().values() if model.section)
    return [line for section in (*of_factors(), *of_models) for line in section.lines(summary.get(section.KEY))]
