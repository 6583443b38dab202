"""Whether this machine's Slurm is set so that a daemon can say which jobs start, and what is missing."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from pointsman.errors import BackendError, PointsmanError, UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.marks import Partitions
from pointsman.live.backends.slurm.reader import Reader
from pointsman.live.backends.slurm.records import Controller, SlurmPartition, Snapshot
from pointsman.live.backends.slurm.rights import check_may_act, check_may_advise
from pointsman.live.daemon.check import Finding, fault_of, find

LEAST: Final = (22, 5)
"""The first version that was tried with jobs that are changed."""
_SETTING: Final = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.M)

_WHERE: Final = re.compile(r" to start at .* in partition (\S+)")
"""What `sbatch --test-only` says, which submits nothing."""


class _Slurm(NamedTuple):
    """What was asked."""

    seen: Snapshot
    settings: Mapping[str, str]
    """As `scontrol show config` prints them."""
    partitions: Partitions

    def partition(self, name: str) -> SlurmPartition | None:
        return next((one for one in self.seen.partitions if one.name == name), None)


def check_slurm(partitions: Partitions, *, acts: bool, advises: bool = False) -> Iterator[Finding]:
    """All that a daemon needs of Slurm, one after another; nothing is changed. `acts`: it is to start jobs; `advises`:
    it is to set their nice values.
    """
    commands = Commands()
    try:
        settings = dict(_SETTING.findall(commands.ask("scontrol", "show", "config").text))
        slurm = _Slurm(Reader(commands).look(), settings, partitions)
    except Unsure as error:
        yield fault_of(BackendError(f"Slurm does not answer: {error}"))
        return
    except PointsmanError as error:
        yield fault_of(error)
        return
    yield Finding(f"Slurm {slurm.seen.controller.version} answers: {_size(slurm)}")
    rights: dict[str, Callable[[Commands, Controller], None]] = {}
    if advises:
        rights["this user may set the nice values of jobs"] = check_may_advise
    if acts:
        rights["this user may place jobs"] = check_may_act
    for said, look in rights.items():
        yield _find(partial(_rights, look, said, commands, slurm.seen.controller))
    if advises or acts:
        yield _find(partial(_version, slurm))
    looks = (_gate, _target, _requeue, partial(_submit_plugin, commands), _credentials)
    for look in looks if acts else ():
        yield _find(partial(look, slurm))


def _find(look: Callable[[], str]) -> Finding:
    """What a look says, or the fault that it finds."""
    try:
        return find(look)
    except Unsure as error:
        return fault_of(BackendError(f"Slurm does not answer: {error}"))


def faults_of(seen: Snapshot, partitions: Partitions) -> Iterator[str]:
    """What is wrong now with the partitions in which jobs wait and run, and what to do."""
    for look in (_gate, _target):
        try:
            look(_Slurm(seen, {}, partitions))
        except UsageError as error:
            yield str(error)


def _size(slurm: _Slurm) -> str:
    nodes = [node for node in slurm.seen.nodes if node.gpus]
    gpus = sum(many for node in nodes for _, many in node.gpus)
    return f"{len(nodes)} nodes with {gpus} GPUs"


def check_version(controller: Controller) -> None:
    """Older versions were not tried with jobs that are changed.

    Raises:
        UsageError: it is older than `LEAST`.
    """
    numbers = tuple(int(part) for part in re.findall(r"\d+", controller.version)[:2])
    if numbers < LEAST:
        raise UsageError(f"Slurm {controller.version} is older than 22.05: use --observe")


def _version(slurm: _Slurm) -> str:
    check_version(slurm.seen.controller)
    return f"jobs of Slurm {slurm.seen.controller.version} can be changed"


def _rights(
    check: Callable[[Commands, Controller], None], said: str, commands: Commands, controller: Controller
) -> str:
    check(commands, controller)
    return said


def _gate(slurm: _Slurm) -> str:
    name = slurm.partitions.gate
    gate = slurm.partition(name)
    if gate is None:
        line = f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=DOWN"
        raise UsageError(f"there is no partition {name!r:.40} in which jobs wait: add '{line}' to slurm.conf")
    if gate.state != "DOWN":
        raise UsageError(f"partition {name} is {gate.state}, and Slurm starts its jobs itself: set its State=DOWN")
    return f"jobs wait in partition {name}, which is down"


def _target(slurm: _Slurm) -> str:
    name = slurm.partitions.target
    target = slurm.partition(name)
    if target is None or target.state != "UP":
        state = "is not there" if target is None else f"is {target.state}"
        mend = "set its State=UP, or name another with --target"
        raise UsageError(f"partition {name!r:.40}, in which jobs are to run, {state}: {mend}")
    return f"jobs run in partition {name}"


def _requeue(slurm: _Slurm) -> str:
    if slurm.settings.get("JobRequeue", "1") == "0":
        return "jobs are not preempted, unless they say --requeue: JobRequeue=0"
    return "jobs may be preempted, unless they say --no-requeue: JobRequeue=1"


def _submit_plugin(commands: Commands, slurm: _Slurm) -> str:
    gate, target = slurm.partitions.gate, slurm.partitions.target
    by_hand = f"users submit to the gate themselves (sbatch -p {gate})"
    if "lua" not in slurm.settings.get("JobSubmitPlugins", ""):
        return f"{by_hand}; 'JobSubmitPlugins=lua' in slurm.conf and the script in the guide send all jobs there"
    answer = commands.run("sbatch", "--test-only", f"--partition={target}", "--nodes=1", "--gpus=1", "--wrap=true")
    found = _WHERE.search(answer.errors)
    if found is None:
        return f"whether job_submit.lua sends jobs to the gate cannot be tried as this user: {answer.errors:.200}"
    if found[1] != gate:
        return f"{by_hand}: job_submit.lua leaves jobs in partition {found[1]}; see slurmctld's log for errors in it"
    return f"job_submit.lua sends jobs from partition {target} to the gate"


def _credentials(slurm: _Slurm) -> str:
    if "cred_expire" in slurm.settings.get("AuthInfo", ""):
        return "a job that was preempted can start again at once"
    line = "AuthInfo=cred_expire=5"
    return f"a job that was preempted waits 2 min before it can start again, unless slurm.conf has '{line}'"
