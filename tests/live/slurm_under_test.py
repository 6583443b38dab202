"""Slurm behind the contract: the job of an attempt is submitted to the gate when it is launched first."""

import time
from contextlib import ExitStack
from pathlib import Path

from pointsman.cluster.imports.read import import_nodes
from pointsman.live.backends.facts import AttemptId, Launch
from pointsman.live.backends.slurm.acting import SlurmBackend
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.marks import Partitions

from .clusters import FAILS, LONG, MISSING, SHORT, parts_of
from .slurm_cluster import SlurmCluster, wait_until

LOOK_S = 0.1
"""Between two looks: each takes commands of Slurm."""


class SlurmUnderTest:
    """Each test has a store of its own, whose marks tell its attempts from those of others on the same Slurm."""

    chooses_gpus, lists_what_ended, forgets_what_never_began = True, True, True

    def __init__(self, folder: Path, slurm: SlurmCluster) -> None:
        self._folder, self._slurm = folder, slurm
        self._work = folder / "work"
        self._work.mkdir()
        self.nodes = tuple(slurm.nodes)
        nodes = folder / "nodes.txt"
        nodes.write_text(slurm.call("scontrol", "show", "node") + "\n")
        self._cluster = import_nodes(nodes).cluster
        self._sharing = ExitStack()
        self.backend = self._begin()
        self._ids: dict[int, str] = {}

    def _begin(self) -> SlurmBackend:
        """As a daemon uses it: one `scontrol` makes all changes."""
        commands = Commands(environment=self._slurm.environment)
        backend = SlurmBackend(self._cluster, self._folder, Partitions(), commands)
        self._sharing.enter_context(backend.together())
        return backend

    def launch(self, id_: AttemptId, does: str = SHORT, masks: tuple[int, ...] = (1,)) -> None:
        parts = parts_of(self.nodes, masks)
        if id_.job not in self._ids:
            gpus = max(mask.bit_count() for _, mask in parts)
            shape = (f"--nodes={len(parts)}", f"--gpus-per-node={gpus}")
            self._ids[id_.job] = self._slurm.submit("--partition=inbox", *shape, does=self._command(id_.job, does))
            self.backend.observe()
        self.backend.launch(Launch(id_, parts, (self._ids[id_.job],)))

    def _command(self, job: int, does: str) -> str:
        note = f"printf x >> {self._work}/{job}"
        return {
            SHORT: f"sh -c 'sleep 0.1; {note}'",
            LONG: "sleep 1000",
            FAILS: f"sh -c '{note}; exit 7'",
            MISSING: "no-such-command",
        }[does]

    def passes(self) -> None:
        time.sleep(LOOK_S)

    def done(self, id_: AttemptId) -> int:
        note = self._work / str(id_.job)
        return len(note.read_text()) if note.exists() else 0

    def reopened(self) -> None:
        self._sharing.close()
        self.backend.close()
        self.backend = self._begin()

    def end(self) -> None:
        """None of its jobs is in the way of the next test."""
        self._sharing.close()
        if self._ids:
            self._slurm.call("scancel", *self._ids.values())
        wait_until(lambda: self._slurm.call("squeue", "--noheader"), "")
