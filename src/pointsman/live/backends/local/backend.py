"""Attempts as processes of this machine, which outlive the daemon: each has a folder, and a shim that watches it."""

import json
import os
import pwd
import secrets
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pointsman.cluster import Cluster
from pointsman.job import PROGRESS
from pointsman.live.backends.facts import (
    AttemptFact,
    AttemptId,
    Exit,
    Launch,
    NodeFact,
    Observation,
    Phase,
    Refused,
    Stop,
    Unsure,
    gpus_in,
    output_name,
)
from pointsman.live.backends.local import shim
from pointsman.live.backends.local.rights import own_directory
from pointsman.live.backends.protocol import Patience
from pointsman.types import NodeState

_LOST = "the process that watched it has died, or the machine was restarted"
_PATIENCE_S = 10.0
"""Beyond its grace, after which whoever watches an attempt that was asked to stop is not waited for any more."""
_PARTIAL = ".partial"
"""At the end of the name of a folder that is not there whole: it is being written, or forgotten."""


class Local:
    """Declared nodes on one machine. What is kept in `folder` is all that a new daemon needs."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.patience = Patience(start_ms=10_000, lost_ms=0, stop_ms=10_000)
        self._names = cluster.layout().node_names
        folder = folder.resolve()  # whoever watches an attempt is elsewhere
        self._attempts = own_directory(folder / "attempts", 0o700)
        self._checkpoints = own_directory(folder / "checkpoints", 0o711)
        self._shims: list[int] = []
        for left in self._checkpoints.glob(f"*{_PARTIAL}"):
            self._remove(left)
        for left in self._attempts.glob(f"*{_PARTIAL}"):  # the daemon before died while it wrote, or forgot
            shutil.rmtree(left)
        self._boot = shim.boot_id()
        self._cgroups = _writable_cgroup()

    def describe(self) -> Cluster:
        return self.cluster

    def observe(self) -> Observation:
        self._reap()
        facts = [self._fact(path) for path in self._attempts.iterdir() if path.suffix != _PARTIAL]
        nodes = tuple(NodeFact(name, NodeState.UP) for name in self._names)
        unix_ms = round(1000 * time.time())
        return Observation(tuple(fact for fact in facts if fact is not None), nodes, unix_ms=unix_ms)

    def launch(self, launch: Launch) -> None:
        if launch.uid not in (-1, os.getuid()) and os.getuid() != 0:
            raise Refused(f"this daemon runs jobs of uid {os.getuid()} only")
        folder = self._folder(launch.id)
        try:
            if not folder.exists():
                self._write(folder, launch)
            if not (folder / "begun").exists():  # else a shim has it, or had
                self._begin(folder)
        except OSError as error:
            raise Unsure(f"{folder}: {error.strerror}") from error

    def stop(self, attempt: AttemptId, how: Stop) -> None:
        folder = self._folder(attempt)
        if not folder.exists() or (folder / "exit.json").exists():
            return
        try:
            now_s = time.clock_gettime(time.CLOCK_BOOTTIME)  # the wall clock may be set meanwhile
            asked_s = (_read(folder / "stop.json") or {}).get("asked_boot_s", now_s)
            asked = {"checkpoint_s": how.checkpoint_s, "grace_s": how.grace_s, "asked_boot_s": asked_s}
            shim.write_whole(folder / "stop.json", asked)
            if (lock := shim.claim(folder)) is not None:  # none has begun it, and none will
                shim.write_end(folder, None, signal.SIGTERM, ran=False, asked=True, detail="stopped before it began")
                os.close(lock)
            elif now_s > asked_s + how.checkpoint_s + how.grace_s + _PATIENCE_S:
                self._kill_marked(folder)  # whoever watches it has not ended it
            elif (pid := self._shim_of(folder)) is not None:
                os.kill(pid, signal.SIGTERM)
            elif (folder / "begun").exists():
                self._kill_marked(folder)
        except ProcessLookupError:
            return
        except OSError as error:
            raise Unsure(f"{folder}: {error.strerror}") from error

    def forget(self, attempts: Iterable[AttemptId], jobs: Iterable[int]) -> None:
        for job in jobs:
            if (folder := self._checkpoints / str(job)).exists():
                self._remove(folder.rename(folder.with_name(f"{job}{_PARTIAL}")))
        for attempt in attempts:
            folder = self._folder(attempt)
            if folder.exists():
                if cgroup := _read(folder / "launch.json").get("cgroup"):
                    with suppress(OSError):  # it is gone since the machine was restarted
                        os.rmdir(cgroup)
                self._remove(folder.rename(folder.with_name(f"{folder.name}{_PARTIAL}")))

    def progress(self, job: int) -> float | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # of whatever a user has put there
        try:
            file = os.open(self._checkpoints / str(job) / PROGRESS, flags)
        except OSError:
            return None
        try:
            share = float(os.read(file, 64)) if stat.S_ISREG(os.fstat(file).st_mode) else -1.0
        except (OSError, ValueError):
            return None
        finally:
            os.close(file)
        return share if 0.0 <= share <= 1.0 else None

    def close(self) -> None:
        pass

    # -- folders ------------------------------------------------------------------------------------------

    def _folder(self, id_: AttemptId) -> Path:
        return self._attempts / f"{id_.job}.{id_.attempt}"

    def _write(self, folder: Path, launch: Launch) -> None:
        """What is to be run is there whole, or not at all."""
        draft = folder.with_name(f"{folder.name}{_PARTIAL}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self._make_checkpoints(launch)
        environments = [self._environment(launch, rank) for rank in range(len(launch.parts))]
        content = {
            "mark": f"{launch.id.job}.{launch.id.attempt}@{secrets.token_hex(16)}",  # that other users cannot know
            "parts": launch.parts,
            "command": launch.command,
            "folder": launch.folder,
            "output": _path(launch, launch.output) or str(folder / "output.log"),
            "error": _path(launch, launch.error),
            "user": _user(launch.uid),
            "cgroup": self._make_cgroup(launch),
            "first": launch.id.attempt == 1,
            "environments": environments,
        }
        shim.write_whole(draft / "launch.json", content)
        draft.rename(folder)

    def _make_cgroup(self, launch: Launch) -> str | None:
        """That of an attempt, which all of its processes stay in; None where the system does not allow it."""
        if self._cgroups is None:
            return None
        cgroup = self._cgroups / f"pointsman-{launch.id.job}.{launch.id.attempt}-{secrets.token_hex(4)}"
        cgroup.mkdir()
        return str(cgroup)

    def _remove(self, folder: Path) -> None:
        """In a process of its own: what a user has left may be deep, or large."""
        self._shims.append(os.posix_spawnp("rm", ["rm", "-rf", "--", str(folder)], os.environ))

    def _make_checkpoints(self, launch: Launch) -> None:
        """The folder in which the job finds what its attempts before have left."""
        folder = self._checkpoints / str(launch.id.job)
        folder.mkdir(mode=0o700, exist_ok=True)
        if user := _user(launch.uid):
            os.chown(folder, user["user"], user["group"])

    def _environment(self, launch: Launch, rank: int) -> dict[str, str]:
        """The environment of the command on one node: its GPUs there, and what torchrun wants to know of the gang."""
        node, mask = launch.parts[rank]
        gpus = gpus_in(mask)
        ranks = sum(int(other).bit_count() for _, other in launch.parts)
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            **launch.environment,
            "POINTSMAN_JOB_ID": str(launch.id.job),
            "POINTSMAN_ATTEMPT": str(launch.id.attempt),
            "SLURM_JOB_ID": str(launch.id.job),  # that scripts name folders by, and remove
            "SLURM_JOBID": str(launch.id.job),
            "SLURM_SUBMIT_DIR": launch.folder,
            "SLURM_RESTART_COUNT": str(launch.id.attempt - 1),
            "POINTSMAN_NODE": node,
            "POINTSMAN_CHECKPOINT_DIR": str(self._checkpoints / str(launch.id.job)),
            "POINTSMAN_GPUS": ",".join(map(str, gpus)),
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus)),
            "NNODES": str(len(launch.parts)),
            "NODE_RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(20_000 + launch.id.job % 20_000),
        }

    def _begin(self, folder: Path) -> None:
        """A shim watches over the attempt from now on, in a session of its own."""
        to_log = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(folder / "shim.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        command = [sys.executable, "-I", "-S", shim.__file__, str(folder)]
        self._shims.append(os.posix_spawn(sys.executable, command, {}, file_actions=to_log, setsid=True))

    def _reap(self) -> None:
        """Let go of shims that have ended."""
        self._shims = [pid for pid in self._shims if os.waitpid(pid, os.WNOHANG) == (0, 0)]

    # -- what is there ------------------------------------------------------------------------------------

    def _fact(self, folder: Path) -> AttemptFact | None:
        """What the folder of an attempt says; None if it has not been begun, and its shim may never have been."""
        job, attempt = folder.name.split(".")
        id_ = AttemptId(int(job), int(attempt))
        try:
            parts = tuple((node, mask) for node, mask in _read(folder / "launch.json")["parts"])
            if (end := _read(folder / "exit.json")) is not None:
                exit_ = Exit(end["code"], end["signal"], end["ran"], end["asked"], detail=end["detail"])
                known = _read(folder / "shim.json")
                now = known is not None and known[2] == self._boot
                began = _when_ms(_read(folder / "running.json"), "began", this_boot=now)
                return AttemptFact(id_, Phase.ENDED, parts, exit_, began, _when_ms(end, "ended", this_boot=now))
            if self._shim_of(folder) is not None:
                began = _when_ms(_read(folder / "running.json"), "began", this_boot=True)
                return AttemptFact(id_, Phase.ACCEPTED if began is None else Phase.RUNNING, parts, began_unix_ms=began)
            return self._without_shim(folder, id_, parts)
        except FileNotFoundError:
            return None  # it was just forgotten

    def _without_shim(self, folder: Path, id_: AttemptId, parts: Any) -> AttemptFact | None:
        """Says what is known of an attempt whose shim has not begun yet, or has died."""
        if not (folder / "begun").exists():  # looked at before the lock is: a shim makes it locked
            return None
        if shim.is_locked(folder / "begun"):
            return AttemptFact(id_, Phase.ACCEPTED, parts)
        if (folder / "exit.json").exists():  # it has just ended
            return self._fact(folder)
        known = _read(folder / "shim.json")
        if known is None:
            return AttemptFact(id_, Phase.ENDED, parts, Exit(ran=False, detail=_LOST))
        if known[2] == self._boot and self._left_over_pids(folder):
            return AttemptFact(id_, Phase.RUNNING, parts)
        asked = (folder / "stop.json").exists()
        return AttemptFact(id_, Phase.ENDED, parts, Exit(asked=asked, detail=_LOST))

    def _shim_of(self, folder: Path) -> int | None:
        """The process that watches an attempt, if it lives."""
        known = _read(folder / "shim.json")
        if known is None or known[2] != self._boot or shim.start_time(known[0]) != known[1]:
            return None
        return int(known[0])

    def _left_over_pids(self, folder: Path) -> set[int]:
        """The processes of an attempt, without the one that watches it."""
        launch, running, known = (_read(folder / f"{name}.json") for name in ("launch", "running", "shim"))
        here = running is not None and known is not None and known[2] == self._boot
        sessions = shim.in_sessions(running.get("leaders", [])) if here else []
        return {*shim.members(launch.get("cgroup")), *shim.marked(launch["mark"]), *sessions}

    def _kill_marked(self, folder: Path) -> None:
        watching = self._shim_of(folder)
        for pid in [*([] if watching is None else [watching]), *self._left_over_pids(folder)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _writable_cgroup() -> Path | None:
    """This process's cgroup, if it may make others in it."""
    own = shim.own_cgroup()
    if own is None:
        return None
    try:
        probe = own / f"pointsman-{os.getpid()}"
        probe.mkdir()
        probe.rmdir()
        return own if os.access(own / "cgroup.procs", os.W_OK) else None
    except OSError:
        return None


def _path(launch: Launch, output: str) -> str:
    """The file to which the commands write, by the name that their user gave it; nothing if they gave none."""
    return os.path.join(launch.folder, output_name(output, launch.id)) if output else ""


def _user(uid: int) -> dict[str, Any]:
    """Who the commands run as, as `subprocess` takes it; nothing if as the daemon.

    Raises:
        Refused: there is no such user.
    """
    if uid in (-1, os.getuid()):
        return {}
    try:
        user = pwd.getpwuid(uid)
    except KeyError:
        raise Refused(f"this machine has no user {uid}") from None
    return {"user": uid, "group": user.pw_gid, "extra_groups": os.getgrouplist(user.pw_name, user.pw_gid)}


def _when_ms(record: Mapping[str, Any] | None, name: str, *, this_boot: bool) -> int | None:
    """When that was, ms since 1970; in this boot of the machine by how long ago: the wall clock may have been set."""
    if record is None:
        return None
    if not this_boot or f"{name}_boot_s" not in record:
        return round(1000 * record[f"{name}_s"])
    return round(1000 * (time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + record[f"{name}_boot_s"]))


def _read(path: Path) -> Any:
    """The JSON in a file; None if it is not there."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
