"""Runs one attempt, and outlives the daemon that launched it: ``python -I -S shim.py FOLDER``.

Standard library only. In the folder it finds ``launch.json``, and leaves ``begun`` before the command is run, so that
no attempt is ever begun twice; ``shim.json``, by which it is known to live; and ``exit.json`` once nothing of it lives.
It becomes the parent of all that its commands leave behind, and where the system allows a cgroup holds them, too.
SIGTERM: ask the commands to stop, as ``stop.json`` says.
"""

import ctypes
import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

MARK = "POINTSMAN_MARK"
"""The environment variable by which processes of an attempt are known."""
_SUBREAPER = 36
_HEARD = {signal.SIGCHLD, signal.SIGTERM}
_LOOK_S = 0.5
"""How often it looks for what its commands left behind."""
_GRACE_S = 10.0
"""What that has to end by itself."""


def start_time(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None if there is none, or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def is_locked(path: Path) -> bool:
    """Whether a process that has locked a file lives."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def boot_id() -> str:
    """Which boot of the machine this is."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def now(name: str) -> dict[str, float]:
    """What both clocks show; that of the machine is not set while it runs."""
    return {f"{name}_s": time.time(), f"{name}_boot_s": time.clock_gettime(time.CLOCK_BOOTTIME)}


def write_whole(path: Path, content: object) -> None:
    """Write JSON: whole or not at all, and still there after a crash of the machine."""
    draft = path.with_suffix(".draft")
    with draft.open("w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def marked(mark: str) -> list[int]:
    """The processes of an attempt, but for this one, wherever they have gone."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it is gone, or another user's
        if wanted in environment and start_time(int(name)) is not None:
            found.append(int(name))
    return found


def _living() -> Iterator[tuple[int, list[str]]]:
    """Each living process, with what its file ``stat`` has behind its name: its state, parent, group, session, …"""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                yield int(name), fields


def in_sessions(leaders: list[list[int]]) -> list[int]:
    """The processes in the sessions that these processes began, each named with its `start_time`. While any lives, no
    other process gets the number of a session.
    """
    began = {pid: start for pid, start in leaders if start_time(pid) in (None, start)}
    return [pid for pid, fields in _living() if int(fields[3]) in began]


def below(ancestor: int) -> list[int]:
    """The living processes whose parent, or a parent of whose, is `ancestor`."""
    parents = {pid: int(fields[1]) for pid, fields in _living()}
    known = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in known} - known:
        known |= more
    return sorted(known - {ancestor})


def own_cgroup() -> Path | None:
    """The directory of this process's cgroup of version 2; None if the system has none."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    there = next((fields[1] for fields in mounts if fields[2] == "cgroup2"), None)
    name = [line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
    return Path(f"{there}{name[0]}") if there and name else None


def members(cgroup: str | None) -> list[int]:
    """The processes in a cgroup, but for this one."""
    if cgroup is None:
        return []
    try:
        listed = Path(cgroup, "cgroup.procs").read_text().split()
    except OSError:
        return []
    return [int(pid) for pid in listed if int(pid) != os.getpid() and start_time(int(pid)) is not None]


def claim(folder: Path) -> int | None:
    """A lock on an attempt that is begun by nothing but this process, ever; None if another has, or had, it. The file
    that says so is locked while this process lives.
    """
    mine = folder / f"begun.{os.getpid()}"
    lock = os.open(mine, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        os.link(mine, folder / "begun")
    except FileExistsError:
        os.close(lock)
        return None
    finally:
        mine.unlink()
    return lock


def write_end(folder: Path, code: int | None, number: int | None, *, ran: bool, asked: bool, detail: str) -> None:
    """How an attempt has ended."""
    end = {"code": code, "signal": number, "ran": ran, "asked": asked, "detail": detail, **now("ended")}
    write_whole(folder / "exit.json", end)


class Shim:
    """The commands of one attempt, one for each node."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launch = json.loads((folder / "launch.json").read_text())
        self.tasks: list[subprocess.Popen[Any]] = []
        self.asked = False
        self.first_failure = 0
        """The exit code of the command that failed first."""
        self.deadlines: list[tuple[float, int]] = []
        """(when, which signal) is to be sent, in order."""

    def run(self) -> None:
        """Begin the commands, wait until nothing of them lives, and say how they ended."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, nobody hears how a command ends
        if claim(self.folder) is None:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        write_whole(self.folder / "shim.json", [os.getpid(), start_time(os.getpid()), boot_id()])
        if (self.folder / "stop.json").exists():
            write_end(self.folder, None, signal.SIGTERM, ran=False, asked=True, detail="stopped before it began")
            return
        error = self._begin()
        self._wait()
        code = 127 if error else self.first_failure
        exit_ = (code, None) if code >= 0 else (None, -code)
        _at_last(lambda: write_end(self.folder, *exit_, ran=True, asked=self.asked, detail=error))

    def _begin(self) -> str:
        """Why a command could not be begun; nothing if all were."""
        began = now("began")
        for environment in self.launch["environments"]:
            try:
                with self._in_cgroup():
                    self._begin_one(environment)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                self._signal(signal.SIGKILL)
                what = getattr(error, "filename", None) or self.launch["command"][0]
                return f"{what}: {getattr(error, 'strerror', None) or error}"
        leaders = [[task.pid, start_time(task.pid)] for task in self.tasks]
        _at_last(lambda: write_whole(self.folder / "running.json", {**began, "leaders": leaders}))
        return ""

    def _begin_one(self, environment: dict[str, str]) -> None:
        """The command of one node, as its user."""
        anew = self.launch["first"] and not self.tasks
        with self._as_user(), ExitStack() as opened:
            folder = os.open(self.launch["folder"] or "/", os.O_PATH)
            opened.callback(os.close, folder)
            output = opened.enter_context(_open(self.launch["output"], anew=anew))
            name = self.launch.get("error") or self.launch["output"]
            error = output if name == self.launch["output"] else opened.enter_context(_open(name, anew=anew))
            files = opened.pop_all()

        def become_command() -> None:
            """It hears all signals, although this process does not, and is its user by now."""
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.fchdir(folder)

        with files:
            task: subprocess.Popen[Any] = subprocess.Popen(
                self.launch["command"],
                env={**environment, MARK: self.launch["mark"]},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=error,
                start_new_session=True,
                preexec_fn=become_command,
                **self.launch["user"],
            )
        self.tasks.append(task)

    @contextmanager
    def _in_cgroup(self) -> Generator[None]:
        """What is begun here is in the cgroup of the attempt, and so is all that it begins."""
        mine = own_cgroup()
        cgroup = self.launch.get("cgroup")
        if cgroup is None or mine is None:
            yield
            return
        Path(cgroup, "cgroup.procs").write_text("0")
        try:
            yield
        finally:
            (mine / "cgroup.procs").write_text("0")

    @contextmanager
    def _as_user(self) -> Generator[None]:
        """With the rights of the user, and no others."""
        user = self.launch["user"]
        own = os.geteuid(), os.getegid(), os.getgroups()
        if user:
            os.setgroups(user["extra_groups"])
            os.setegid(user["group"])
            os.seteuid(user["user"])
        try:
            yield
        finally:
            if user:
                os.seteuid(own[0])
                os.setegid(own[1])
                os.setgroups(own[2])

    def _family(self) -> set[int]:
        """All processes of the attempt: in its cgroup, with its mark, or come from here."""
        return {*members(self.launch.get("cgroup")), *marked(self.launch["mark"]), *below(os.getpid())}

    def _wait(self) -> None:
        """Until no process of the attempt lives."""
        while not self._is_over():
            until_s = self.deadlines[0][0] - time.monotonic() if self.deadlines else _LOOK_S
            heard = signal.sigtimedwait(_HEARD, max(0.0, min(until_s, _LOOK_S)))
            if heard is not None and heard.si_signo == signal.SIGTERM and not self.asked:
                self.asked = True
                self._press()
            while self.deadlines and self.deadlines[0][0] <= time.monotonic():
                self._signal(self.deadlines.pop(0)[1])

    def _is_over(self) -> bool:
        """Whether nothing of it lives. A gang ends when one of its commands fails, and all that they left behind."""
        codes = [task.poll() for task in self.tasks]
        self.first_failure = self.first_failure or next((code for code in codes if code not in (None, 0)), 0)
        _reap({task.pid for task in self.tasks})
        over = all(code is not None for code in codes)
        if over and not self._family():
            return True
        if (over or any(code not in (None, 0) for code in codes)) and not self.deadlines:
            self._press(0.0)
        return False

    def _press(self, checkpoint_s: float | None = None) -> None:
        """They are asked for a checkpoint, told to stop, and killed, each in its time."""
        path = self.folder / "stop.json"
        stop = json.loads(path.read_text()) if path.exists() else {"checkpoint_s": 0.0, "grace_s": _GRACE_S}
        now, wait_s = time.monotonic(), stop["checkpoint_s"] if checkpoint_s is None else checkpoint_s
        asks = [(now, signal.SIGUSR1)] if wait_s > 0.0 else []
        killed_s = now + wait_s + stop["grace_s"]
        kills = [(killed_s + k * _LOOK_S, signal.SIGKILL) for k in range(100)]
        self.deadlines = [*asks, (now + wait_s, signal.SIGTERM), *kills]

    def _signal(self, number: int) -> None:
        """The eldest first: a shell that traps a signal is to hear it before it sees its command end."""
        for pid in sorted(self._family(), key=lambda pid: (start_time(pid) or 0, pid)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _at_last(write: Callable[[], None]) -> None:
    """As soon as there is room on the disk: a daemon waits for it."""
    while True:
        try:
            return write()
        except FileNotFoundError:
            return None  # somebody has removed the folder
        except OSError:
            time.sleep(_LOOK_S)


def _open(path: str, *, anew: bool) -> BinaryIO:
    """A file to append to, or to begin `anew`. One that would let whoever opens it wait, as a pipe does, is refused."""
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    file = os.open(path, how, 0o644)
    if not stat.S_ISREG(os.fstat(file).st_mode) and path != os.devnull:
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file", path)
    if anew and path != os.devnull:
        os.ftruncate(file, 0)
    os.set_blocking(file, True)
    return os.fdopen(file, "ab")


def _reap(commands: set[int]) -> None:
    """Let go of orphans that have ended here; the commands themselves are waited for by `poll`."""
    for pid in _zombie_children():
        if pid not in commands:
            os.waitpid(pid, os.WNOHANG)


def _zombie_children() -> list[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if start_time(int(pid)) is None]


if __name__ == "__main__":
    os.chdir("/")
    Shim(Path(sys.argv[1])).run()
