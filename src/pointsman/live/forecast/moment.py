"""A live world between two turns, as it crosses to another process."""

from pathlib import Path
from typing import NamedTuple

from pointsman.cluster import Cluster
from pointsman.live.forecast.present import Present
from pointsman.live.forecast.record import Record
from pointsman.live.world.checkpoint import restore
from pointsman.live.world.kind import Kind
from pointsman.live.world.roster import Deciding, Roster
from pointsman.policies.registry import get_policy


class Moment(NamedTuple):
    """What a `Present` is made of elsewhere. Its jobs are read from the store."""

    checkpoint: bytes
    deciding: Deciding
    relieved_by: str | None
    """The policy that decides in place of the one that has failed."""
    kinds: tuple[Kind, ...]
    """That the world knows, in order."""
    now_ms: int
    began_ms: dict[int, int]
    pauses: tuple[tuple[int, int], ...]
    cancelled: tuple[int, ...]

    def made_again(self, cluster: Cluster, record: Record, store: Path) -> tuple[Present, Roster]:
        """The present, and the roster of its world; the record is read on.

        Raises:
            RunError: the world cannot be made again.
        """
        roster = Roster(cluster, self.deciding, self.kinds)
        world = roster.world()
        if self.relieved_by is not None:
            world.relieve(get_policy(self.relieved_by).make())
        restore(world, self.checkpoint)
        record.read_on(store, world.rows())
        present = Present(
            world,
            self.now_ms,
            record.jobs,
            self.began_ms,
            self.pauses,
            roster.numbers,
            cancelled=self.cancelled,
        )
        return present, roster
