"""A real Slurm on this machine: munged, slurmctld and one slurmd a node, on loopback, in a folder of its own."""

import os
import random
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "scancel")
WAIT_S = 60.0
PORTS = range(12_000, 32_000)
SCRIPT = "#!/bin/sh\nexec {}\n"
_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
_CONF = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
MinJobAge=300
KillWait=2
SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0,bf_interval=1,default_queue_depth=2000
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
JobRequeue=1
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.log
"""


def why_not() -> str:
    """The sentence that says why Slurm cannot be booted here; nothing if it can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"no Slurm here ('make slurm' installs it): {', '.join(missing)} missing"
    return "" if os.getuid() == 0 else "Slurm's daemons start the jobs of users: that needs root"


@dataclass
class SlurmCluster:
    """A running Slurm; `environment` is what its commands need."""

    folder: Path
    environment: dict[str, str]
    nodes: Sequence[str]
    controller: "subprocess.Popen[bytes] | None" = None
    slurmds: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Where commands are, those of Slurm's daemons too."""
        return self.environment["PATH"]

    def wait_for_registration(self) -> None:
        """Until each node answers the controller again."""
        wait_until(lambda: "*" in self.call("sinfo", "--noheader", "-N", "--format=%T"), False)

    def call(self, *command: str | bytes) -> str:
        """What a command prints; it must succeed."""
        done = subprocess.run(command, env=self.environment, cwd=self.folder / "jobs", capture_output=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="surrogateescape").strip()

    def submit(self, *options: str | bytes, does: str = "sleep 600") -> str:
        """The id of a new job."""
        script = self.folder / "jobs" / f"{secrets.token_hex(8)}.sh"
        script.write_text(SCRIPT.format(does))
        return self.call("sbatch", "--parsable", "--output=/dev/null", *options, str(script))

    def wait(self, job: str, *states: str) -> str:
        """The state of a job, once it is one of these."""
        return wait_until(lambda: self.state(job), *states)

    def state(self, job: str) -> str:
        """Slurm's word."""
        return self.call("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T")

    def start_controller(self) -> None:
        """What it had saved before counts."""
        self.controller = self._start("slurmctld", "-D")
        deadline_s = time.monotonic() + WAIT_S
        while "is UP" not in self._ping():
            assert self.controller.poll() is None and time.monotonic() < deadline_s, self._log("slurmctld.out")
            time.sleep(0.02)

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Another configuration, in which lines of nodes may be missing: all daemons begin anew."""
        _end([*self.slurmds.values(), *([self.controller] if self.controller else [])])
        for name in ("slurm.conf", "gres.conf"):
            place = self.folder / name
            place.write_text(change(place.read_text()))
        conf = (self.folder / "slurm.conf").read_text()
        self.start_controller()
        for name in [name for name in self.nodes if f"NodeName={name} " in conf]:
            self.start_slurmd(name)
        self.wait_for_registration()

    def kill_controller(self) -> None:
        """As a power cut does."""
        assert self.controller is not None
        self.controller.kill()
        self.controller.wait()

    def start_slurmd(self, node: str) -> None:
        """The daemon of one node."""
        (self.folder / "spool" / node).mkdir(parents=True, exist_ok=True)
        self.slurmds[node] = self._start("slurmd", "-D", "-N", node)

    def wait_for_nodes(self) -> None:
        """Until each is idle."""
        wait_until(lambda: {*self.call("sinfo", "--noheader", "-N", "--format=%T").split()} == {"idle"}, True)

    def end(self) -> None:
        """Ends the jobs, then the daemons; nothing that was not started here."""
        _end([*self.slurmds.values(), *([self.controller] if self.controller else [])])
        for pid in _left_by_jobs(self.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _start(self, program: str, *options: str) -> "subprocess.Popen[bytes]":
        with (self.folder / "log" / f"{program}.out").open("ab") as log:
            return subprocess.Popen(
                [program, *options], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def _ping(self) -> str:
        done = subprocess.run(["scontrol", "ping"], env=self.environment, capture_output=True, timeout=60)
        return done.stdout.decode()

    def _log(self, name: str) -> str:
        return (self.folder / "log" / name).read_text(errors="replace")[-2000:]


@contextmanager
def slurm_cluster(
    nodes: int = 4, gpus: int = 8, scheduler: str = "sched/builtin", more: str = ""
) -> Iterator[SlurmCluster]:
    """Boots nodes ``gpu1`` ... whose GPUs are null devices; skips the test where that is not possible."""
    if reason := why_not():
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="pointsman-slurm-"))
    folder.chmod(0o755)
    environment = {"PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf"), "LC_ALL": "C"}
    names = [f"gpu{i}" for i in range(1, nodes + 1)]
    cluster = SlurmCluster(folder, environment, names)
    munged = None
    try:
        _write(folder, names, gpus, f"SchedulerType={scheduler}\n{more}")
        munged = _start_munged(folder)
        cluster.start_controller()
        for name in names:
            cluster.start_slurmd(name)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.end()
        _end([munged] if munged else [])
        shutil.rmtree(folder, ignore_errors=True)


def wait_until(look: Callable[[], Any], *wanted: Any, within_s: float = WAIT_S) -> Any:
    """What `look` returns, once it is one of those wanted."""
    deadline_s = time.monotonic() + within_s
    while (found := look()) not in wanted:
        assert time.monotonic() < deadline_s, f"{found!r}, not one of {wanted!r}"
        time.sleep(0.02)
    return found


def _write(folder: Path, names: Sequence[str], gpus: int, more: str) -> None:
    for name in ("state", "log", "run", "dev", "jobs", "munge"):
        (folder / name).mkdir()
    for k in range(gpus):
        os.mknod(folder / "dev" / f"gpu{k}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    host = socket.gethostname().partition(".")[0]
    controller, *ports = _free_ports(1 + len(names))
    lines = [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=32 RealMemory=64000 "
        f"Gres=gpu:a100:{gpus} Feature=a100,ib State=UNKNOWN"
        for name, port in zip(names, ports, strict=True)
    ]
    lines += [
        "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=inbox Nodes=ALL MaxTime=INFINITE State=DOWN",
    ]
    text = _CONF.format(name="emulated", host=host, port=controller, folder=folder)
    (folder / "slurm.conf").write_text("\n".join((text + more, *lines, "")))
    listed = ",".join(names)
    (folder / "gres.conf").write_text(
        f"AutoDetect=off\nNodeName={listed} Name=gpu Type=a100 File={folder}/dev/gpu[0-{gpus - 1}]\n"
    )
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nConstrainCores=no\nConstrainDevices=no\n")


def _free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens at, and that the system gives to nobody who does not ask for one."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found


def _start_munged(folder: Path) -> "subprocess.Popen[bytes]":
    """With a key of its own: nothing else of this machine is trusted, or trusts it."""
    own = folder / "munge"
    own.chmod(0o711)
    (own / "key").write_bytes(os.urandom(128))
    (own / "key").chmod(0o600)
    names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={own / name}" for option, name in names.items()]
    with (folder / "log" / "munged.out").open("ab") as log:
        munged = subprocess.Popen(
            ["munged", "--foreground", *options], env={"PATH": _PATH}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    wait_until(lambda: (own / "socket").exists() or munged.poll() is not None, True)
    assert munged.poll() is None, (folder / "log" / "munged.out").read_text()
    return munged


def _left_by_jobs(folder: Path) -> list[int]:
    """Processes of jobs, and of those that watch them: Slurm leaves them alone when its daemons end."""
    found = []
    mark = f"SLURM_CONF={folder}/slurm.conf".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (process / "environ").read_bytes().split(b"\0")
            name = (process / "comm").read_text().strip()
            if mark in environment and (
                name == "slurmstepd" or any(e.startswith(b"SLURM_JOB_ID=") for e in environment)
            ):
                found.append(int(process.name))
    return found


def _end(processes: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Asks each, waits, and kills what remains."""
    for one in processes:
        if one.poll() is None:
            one.send_signal(signal.SIGTERM)
    deadline_s = time.monotonic() + 10.0
    for one in processes:
        try:
            one.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
