"""The jobs of a generated workload, drawn anew with other seeds."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pointsman.errors import UsageError
from pointsman.workload.generator.dl2 import dl2
from pointsman.workload.generator.generate import generate
from pointsman.workload.generator.topdrl import generate_topdrl
from pointsman.workload.provenance import Provenance
from pointsman.workload.table import Workload

MAKERS: Final[Mapping[str, Callable[..., Workload]]] = {"generate": generate, "dl2": dl2, "topdrl": generate_topdrl}
"""What the provenance of a generated workload may name as its maker."""


def redrawn(workload: Workload, seeds: Sequence[int]) -> list[Workload]:
    """Workloads made as `workload` was, but for the seed: one of each of `seeds`.

    Args:
        workload: what `generate` made, or a Parquet file of it.
        seeds: those to draw with.

    Raises:
        UsageError: it was not generated, does not say how, or its jobs are not those that its seed gives.
    """
    if kept := workload.kept_columns:
        raise UsageError(
            f"workload seeds draw jobs anew, which have no {kept[0]!r:.60}: keep no columns of the log, or leave the "
            "workload seeds out"
        )
    found = _recipe(workload.provenance)
    if found is None:
        raise UsageError(
            f"workload seeds draw the jobs of a generated workload anew, and {workload.provenance.source} does not say "
            "how its jobs were generated: give what 'pointsman trace generate' wrote as Parquet, without --only"
        )
    maker, given = found
    try:
        same = maker(**given).jobs.equals(workload.jobs)
    except TypeError:
        same = False
    if not same:
        raise UsageError(
            f"workload seeds draw jobs anew, and those of {workload.provenance.source} are not the jobs that its "
            f"provenance names: it was changed, or is from another version (seed {given.get('seed')})"
        )
    return [maker(**given | {"seed": seed}) for seed in seeds]


def _recipe(provenance: Provenance) -> tuple[Callable[..., Workload], dict[str, Any]] | None:
    """The function that made the jobs, and its arguments; None if that is not known, or only some were kept."""
    if provenance.only:
        return None
    if provenance.format != "generated":
        return None if provenance.origin is None else _recipe(provenance.origin)
    try:
        call = ast.parse(provenance.command, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        return MAKERS[call.func.id], given
    except (SyntaxError, ValueError, KeyError):
        return None
