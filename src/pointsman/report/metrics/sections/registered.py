"""The sections of the base models and factors that are registered."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pointsman.engine.rate_models.registry import base_models, factors
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.sections import gpu_sharing, node_interference, tree
from pointsman.report.metrics.shared import model_of_run

if TYPE_CHECKING:
    from pointsman.engine.rate_models.contract import BaseModel, Factor

BUILT_IN: Mapping[str, ModuleType] = {
    "gpu-sharing": gpu_sharing,
    "node-interference": node_interference,
    "tree": tree,
}
"""The sections of the base models and factors that Pointsman has itself, by their names."""


def _section(kind: "type[BaseModel | Factor]") -> ModuleType | None:
    """Finds the section of a base model or a factor, if it has one; that of somebody else's is loaded."""
    return import_module(kind.section) if kind.section else BUILT_IN.get(kind.name)


def _of(kinds: "Iterable[type[BaseModel | Factor] | type[Factor]]") -> Iterator[ModuleType]:
    """Yields the sections that these have, in their order."""
    return (section for section in map(_section, kinds) if section is not None)


def facts_of_factors(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Says what was assumed of each factor in a run that has options or metrics: a title and a phrase."""
    return [_fact(factor, info) for factor in factors().values() if _section(factor) or factor.options]


def _fact(factor: "type[Factor]", info: Mapping[str, Any]) -> tuple[str, str]:
    section = _section(factor)
    if section is not None:
        return section.TITLE, section.described(info)
    given = (f"{name.replace('_', ' ')} {info[name]}" for name in factor.options if info.get(name) is not None)
    return factor.name.replace("-", " ").capitalize(), ", ".join(given) or "none"


def section_metrics(run: Measured) -> dict[str, Any]:
    """The metrics of each section that has some, by its key."""
    sections = (*_of(factors().values()), *_of([model_of_run(run.result.info)]))
    found = {section.KEY: section.metrics(run) for section in sections}
    return {key: metrics for key, metrics in found.items() if metrics is not None}


def section_lines(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The lines of each section whose metrics a summary has."""
    sections = (*_of(factors().values()), *_of(base_models().values()))
    return [line for section in sections for line in section.lines(summary.get(section.KEY))]
