"""How a daemon is started that observes Slurm: what the cluster and its scheduler are is asked of Slurm itself."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Final

from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import BackendError, InputError, UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.local.rights import own_directory
from pointsman.live.backends.slurm.acting import SlurmBackend
from pointsman.live.backends.slurm.answers.scontrol import read_controller
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.handing_back import HandingBack
from pointsman.live.backends.slurm.marks import Marks, Partitions
from pointsman.live.backends.slurm.pace import Pace
from pointsman.live.backends.slurm.reader import Reader
from pointsman.live.backends.slurm.rights import check_may_act, check_may_advise, check_sees_all
from pointsman.live.control.clock import Clock
from pointsman.live.daemon.setting import PARTITIONS, Setting
from pointsman.live.daemon.slurm.check import check_version
from pointsman.live.observe.advising import Scope, hand_back
from pointsman.live.observe.slurm.watch import SlurmPriorities, SlurmWatch
from pointsman.live.records.store import Store

PAST_MS: Final = 400 * 86_400_000
"""When a store begins, jobs may have been submitted so long ago."""
TURN_S: Final = 0.5
"""How soon what was seen is taken in."""
LOOK_S: Final = 5.0
"""Between two looks, unless the controller is slow."""
_LONGEST_S: Final = 15.0
"""Between two looks of a daemon that acts, whose jobs start late meanwhile."""
_SLOW: Final = 1.0
"""It asks a slow controller for about half of the time."""


def observing(
    setting: Setting, look_s: float = LOOK_S, advises: Scope | None = None, *, finds_cluster: bool = True
) -> Setting:
    """The setting of a daemon that observes the Slurm of this machine, and advises it on some jobs. If it
    `finds_cluster`, the cluster is as Slurm has it.

    Raises:
        BackendError: Slurm does not answer. UsageError: its commands are not here, or may not be used. InputError: its
            nodes make no cluster that we know.
    """
    own_directory(setting.folder, 0o711)
    commands = Commands()
    reader = Reader(commands, Pace(least_s=look_s))
    try:
        conf = _written(commands, setting.folder, "slurm.conf", "scontrol", "show", "config")
        controller = read_controller(conf.read_text(encoding="utf-8"))
        check_sees_all(commands, controller)
        if advises is not None:
            check_version(controller)
            check_may_advise(commands, controller)
            _check_partitions(commands, advises)
        cluster = _cluster_of(commands, setting.folder) if finds_cluster else setting.cluster
    except Unsure as error:
        raise BackendError(f"Slurm cannot be observed: {error}") from None
    stand_in = f"multifactor:{conf}"

    def compile_both(policy: str) -> None:
        setting.compile(policy)
        setting.compile(stand_in)

    return replace(
        setting,
        cluster=str(cluster),
        backend=lambda *_: SlurmWatch(reader, Commands(), advises.partitions if advises else frozenset()),
        clock=lambda store, least_ms: Clock(store, max(least_ms, PAST_MS)),
        compile=compile_both,
        observes=stand_in,
        advises=advises,
        poll_s=TURN_S,
    )


def acting(
    setting: Setting,
    partitions: Partitions,
    preempts: frozenset[str],
    look_s: float = 1.0,
    *,
    finds_cluster: bool = True,
) -> Setting:
    """The setting of a daemon that says which jobs of the Slurm of this machine start, and where; those of the QOS
    `preempts` may be preempted.

    Raises:
        BackendError, UsageError, InputError: as `observing`.
    """
    own_directory(setting.folder, 0o711)
    commands, pace = Commands(), Pace(least_s=look_s, most_s=max(look_s, _LONGEST_S), slow_share=_SLOW)
    try:
        controller = read_controller(commands.ask("scontrol", "show", "config").text)
        check_version(controller)
        check_may_act(commands, controller)
        cluster = _cluster_of(commands, setting.folder) if finds_cluster else setting.cluster
    except Unsure as error:
        raise BackendError(f"Slurm cannot be asked: {error}") from None
    return replace(
        setting,
        cluster=str(cluster),
        backend=lambda cluster, folder: SlurmBackend(cluster, folder, partitions, commands, pace),
        preempts=preempts,
        poll_s=look_s,
    )


def hand_back_all(folder: Path) -> None:
    """Jobs that wait have their own nice values again, and are Slurm's to start, after a daemon has stopped.

    Raises:
        BackendError: a daemon owns the store, or Slurm did not take some of them: they are named. InputError: there is
            no store.
    """
    if not (folder / "store").exists():
        raise InputError("no daemon has kept anything here", path=folder, fix="name its directory with --state")
    try:
        store, commands = Store(folder / "store"), Commands()
    except BackendError as error:
        raise BackendError(f"{error}: it is a daemon at another socket; name that in POINTSMAN_SOCKET") from None
    try:
        if (kept := store.setting(PARTITIONS)) is not None:
            partitions = Partitions(**json.loads(kept))
            failed = HandingBack(commands, partitions, Marks(folder, partitions)).run()
            if failed:
                raise BackendError(f"these jobs are not handed back: {', '.join(failed)}; try again")
        asyncio.run(hand_back(store, SlurmPriorities(commands), Clock(store).now_ms()))
    except Unsure as error:
        raise BackendError(f"nothing is handed back: {error}") from None
    finally:
        store.close()


def _check_partitions(commands: Commands, scope: Scope) -> None:
    """No job is in the scope of a partition that is misspelt.

    Raises:
        UsageError: Slurm has no such partition. Unsure: no answer.
    """
    there = {*commands.ask("sinfo", "--all", "--noheader", "--format=%R").text.split()}
    if missing := sorted(scope.partitions - there):
        raise UsageError(f"Slurm has no partition {missing[0]!r:.60} (it has {', '.join(sorted(there)):.300})")


def _cluster_of(commands: Commands, folder: Path) -> Path:
    """A cluster file of the nodes that Slurm has."""
    nodes = _written(commands, folder, "nodes.txt", "scontrol", "show", "node")
    answer = commands.run("scontrol", "show", "topology")
    topology = None
    if answer.code == 0 and "SwitchName=" in answer.text:
        topology = folder / "topology.txt"
        topology.write_text(answer.text, encoding="utf-8")
    place = folder / "cluster.yaml"
    place.write_text(import_nodes(nodes, topology=topology).cluster.to_yaml(), encoding="utf-8")
    return place


def _written(commands: Commands, folder: Path, name: str, *command: str) -> Path:
    """A file of what a command prints."""
    place = folder / name
    place.write_text(commands.ask(*command).text, encoding="utf-8")
    return place.resolve()
