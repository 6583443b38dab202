"""Other daemons that start jobs of the same Slurm, as far as their marks show."""

from collections.abc import Iterable

from pointsman.live.backends.slurm.marks import store_of
from pointsman.live.backends.slurm.records import SlurmJob


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
        marked = {f"{job.id} {job.admin_comment}": (store, job.id) for job in jobs if (store := store_of(job))}
        if self._before is None:
            self._before = {*marked}
        for key, (store, id_) in marked.items():
            if store != self._own and key not in self._before:
                self._found.setdefault(store, id_)
        return self._found
