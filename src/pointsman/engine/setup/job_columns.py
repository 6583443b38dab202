"""Kept columns of the log, as policies see them: numbers of each job, behind those of a briefing."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.state.records import JOB
from pointsman.engine.state.state_pointer import Handle
from pointsman.errors import UsageError
from pointsman.inputs.messages import quoted
from pointsman.types import DEADLINE
from pointsman.workload.rules.kept_columns import kept_columns

OF_RESULTS: Final = (
    "row", "estimate_s", "wait_s", "jct_s", "pending_s", "run_s", "held_gpu_s", "preemptions", "lost_s", "comm_s",
    "nodes", "locality", "state", "slowed_s", "done_s", "bucket", "asked", "rho", "time_ms", "seq", "kind", "arg",
    "reason", "node", "node_name", "gpu_mask",
)  # fmt: skip
"""Columns that the jobs and events of a result get, and what reports work out of them."""


@dataclass(frozen=True)
class JobColumns:
    """Which they are: the last columns of ``State.job_numbers``."""

    names: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of columns that hold text, by code."""

    def under(self, policy: object) -> "JobColumns":
        """Puts those first that `policy` declares, for it reads them by position."""
        declared = [name for name in declared_by(policy) if name in self.names]
        return replace(self, names=(*declared, *(name for name in self.names if name not in declared)))

    def of(self, numbers: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        """(slots,) each of them in rows of ``State.job_numbers``, read-only; codes of texts are whole."""
        found = {name: numbers[:, k - len(self.names)] for k, name in enumerate(self.names)}
        found |= {name: found[name].astype(np.int64) for name in self.texts}
        for column in found.values():
            column.flags.writeable = False
        return found

    def handle_under(self, handle: Handle, policy: object) -> Handle:
        """Puts the columns of a state in the order in which `policy` reads them; drops the numbers of a briefing."""
        names = self.under(policy).names
        if not names or (names == self.names and handle.state.job_numbers.shape[1] == len(names)):
            return handle
        places = [self.names.index(name) - len(names) for name in names]
        told = np.ascontiguousarray(handle.world.told_numbers[:, places])
        numbers = np.ascontiguousarray(handle.state.job_numbers[:, places])
        return Handle(handle.state._replace(job_numbers=numbers), handle.world._replace(told_numbers=told))


NO_COLUMNS: Final = JobColumns()


def declared_by(policy: object) -> tuple[str, ...]:
    """The columns that a policy requires."""
    return getattr(policy, "columns", ())


def job_columns(jobs: pl.DataFrame, policy: object) -> JobColumns:
    """The kept columns of a job table as `policy` reads them."""
    names = kept_columns(jobs.columns)
    texts = {name: tuple(jobs[name].drop_nulls().unique().sort()) for name in names if jobs.schema[name] == pl.String}
    return JobColumns(names, texts).under(policy)


def briefed_of(jobs: pl.DataFrame, columns: JobColumns, briefing: Briefing | None) -> Briefing | None:
    """The briefing with the numbers of the kept columns behind its own; None if there are neither."""
    if not columns.names:
        return briefing
    own = Briefing(np.zeros((jobs.height, 0)), np.zeros(0)) if briefing is None else briefing
    numbers = [_numbers(jobs, name, columns.texts.get(name)) for name in columns.names]
    return own._replace(numbers=np.column_stack([own.numbers, *numbers]))


def _numbers(jobs: pl.DataFrame, name: str, texts: tuple[str, ...] | None) -> NDArray[np.float64]:
    """(jobs,) numbers, NaN where there is none; 1 and 0 for true and false; codes of texts, -1 where there is none; a
    deadline in seconds since the first submission.
    """
    values = jobs[name]
    if texts is not None:
        codes = {text: code for code, text in enumerate(texts)}
        return values.replace_strict(codes, default=-1, return_dtype=pl.Float64).to_numpy()
    numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return numbers - jobs["submit_s"][0] if name == DEADLINE else numbers


def check_columns(jobs: pl.DataFrame, policy: Any) -> None:
    """That the jobs have the columns that `policy` requires, and none that is called as a number of the engine is.

    Raises:
        UsageError: they lack one, or have such.
    """
    kept = kept_columns(jobs.columns)
    for name in kept:
        if name in (JOB.names or ()) or name in OF_RESULTS:
            whose = "records of jobs" if name in (JOB.names or ()) else "results"
            raise UsageError(f"{quoted(name)} cannot be kept: {whose} have this name; keep it as my_{name}={name:.60}")
    if lacking := [name for name in declared_by(policy) if name not in kept]:
        raise _not_kept(policy, lacking, kept)


def check_columns_of_run(policy: Any, columns: JobColumns) -> None:
    """That a policy that takes over has the columns that it requires.

    Raises:
        UsageError: the run lacks one.
    """
    if lacking := [name for name in declared_by(policy) if name not in columns.names]:
        raise _not_kept(policy, lacking, columns.names)


def _not_kept(policy: Any, lacking: list[str], kept: tuple[str, ...]) -> UsageError:
    have = f"the log's kept columns are {', '.join(kept)}" if kept else "no column of the log is kept"
    names = ",".join((*kept, *lacking))
    return UsageError(
        f"policy {policy.name!r} requires the column {lacking[0]}, and {have}: --keep-columns {names} keeps it, and in "
        f"Python Workload.of(df, columns={[*kept, *lacking]})"
    )
