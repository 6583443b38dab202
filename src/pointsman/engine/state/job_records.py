"""Records of jobs with further fields: what policies see where columns of the log were kept."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.state.records import JOB
from pointsman.inputs.did_you_mean import nearest


class JobRecords:
    """Read-only. A field by its name is a column of all slots, as of the structured array of a run that keeps none;
    anything else selects records, which are copies.
    """

    def __init__(self, jobs: NDArray[np.void], columns: Mapping[str, NDArray[Any]]) -> None:
        """`jobs` (slots,) JOB, read-only; `columns` (slots,) by name, float64 or int64."""
        self._jobs, self._columns = jobs, columns

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The fields of `JOB`, then the columns."""
        fields: dict[str, Any] = {**JOB.fields} if JOB.fields else {}
        formats = [*(kind for kind, *_ in fields.values()), *(column.dtype for column in self._columns.values())]
        ends = [JOB.itemsize + 8 * k for k in range(len(self._columns) + 1)]
        offsets = [*(offset for _, offset, *_ in fields.values()), *ends[:-1]]
        names = [*fields, *self._columns]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ends[-1]})

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, str):
            return self._records(np.arange(len(self))[index])
        return self._columns[index] if index in self._columns else self._jobs[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        records = self[:]
        return records if dtype is None else records.astype(dtype)

    def _records(self, slots: Any) -> Any:
        """Those of one slot or several."""
        several = np.atleast_1d(slots)
        found = np.zeros(len(several), self.dtype)
        words = found.view(np.int64).reshape(len(several), -1)
        words[:, : JOB.itemsize // 8] = self._jobs[several].view(np.int64).reshape(len(several), -1)
        for name, column in self._columns.items():
            found[name] = column[several]
        return found if np.ndim(slots) else found[0]


def say_what_was_meant(error: BaseException, columns: Iterable[str]) -> str:
    """The error in words; if a field that job records lack was asked for, with what NumPy does not say of it.

    Args:
        error: what a policy raised.
        columns: those of the log that are kept.
    """
    found = re.fullmatch("no field of name (.+)", str(error))
    if found is None:
        return str(error)
    near = nearest(found[1], [*(JOB.names or ()), *columns])
    fix = f"did you mean {near!r}?" if near else f"--keep-columns {found[1]} keeps a column of the log"
    return f"{error} in the job records ({fix})"
