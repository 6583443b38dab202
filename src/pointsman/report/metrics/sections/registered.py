"""The sections of the base models and factors that are registered."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pointsman.engine.rate_models.registry import base_models, factors
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.shared import model_of_run

if TYPE_CHECKING:
    from pointsman.engine.rate_models.contract import Factor


def _of_factors() -> Iterator[ModuleType]:
    """The modules of factors, in the order in which they slow jobs."""
    return (import_module(factor.section) for factor in factors().values() if factor.section)


def facts_of_factors(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was assumed of each factor in a run that has options or figures: a title and a phrase."""
    return [_fact(factor, info) for factor in factors().values() if factor.section or factor.options]


def _fact(factor: "type[Factor]", info: Mapping[str, Any]) -> tuple[str, str]:
    if factor.section:
        section = import_module(factor.section)
        return section.TITLE, section.described(info)
    given = (f"{name.replace('_', ' ')} {info[name]}" for name in factor.options if info.get(name) is not None)
    return factor.name.replace("-", " ").capitalize(), ", ".join(given) or "none"


def section_figures(run: Measured) -> dict[str, Any]:
    """The figures of each section that has some, by its key."""
    own = model_of_run(run.result.info).section
    sections = (*_of_factors(), *((import_module(own),) if own else ()))
    found = {section.KEY: section.figures(run) for section in sections}
    return {key: figures for key, figures in found.items() if figures is not None}


def section_lines(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The lines of each section whose figures a summary has."""
    of_models = (import_module(model.section) for model in base_models().values() if model.section)
    return [line for section in (*_of_factors(), *of_models) for line in section.lines(summary.get(section.KEY))]
