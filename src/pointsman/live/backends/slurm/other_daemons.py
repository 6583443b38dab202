"""Other daemons that start jobs of the same Slurm, as far as their marks show."""

import re
from collections.abc import Iterable
from typing import Final

from pointsman.live.backends.slurm.records import SlurmJob

_MARK: Final = re.compile("pointsman:([0-9a-f]+):.*")


class OtherDaemons:
    """Those that have started a job since the first look: marks of before may be of daemons that are gone."""

    def __init__(self, own: str = "") -> None:
        """`own`: the name of our store, if we start jobs."""
        self._own = own
        self._before: set[str] | None = None
        """Jobs that had marks of others at the first look, with these."""
        self._found: dict[str, str] = {}
        """By store, the first job."""

    def look(self, jobs: Iterable[SlurmJob]) -> dict[str, str]:
        """A job that each has started, by the names of their stores."""
        marked = {f"{job.id} {found[0]}": (found[1], job.id) for job in jobs if (found := _found(job))}
        if self._before is None:
            self._before = {*marked}
        for key, (store, id_) in marked.items():
            if store != self._own and key not in self._before:
                self._found.setdefault(store, id_)
        return self._found


def _found(job: SlurmJob) -> re.Match[str] | None:
    return _MARK.fullmatch(job.admin_comment)
