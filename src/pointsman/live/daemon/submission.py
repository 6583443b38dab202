"""What a user submits, checked field by field."""

import pwd
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pointsman.errors import UsageError
from pointsman.live.backends.facts import Stop
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask
from pointsman.live.world.roster import Roster
from pointsman.workload.columns import MAX_DURATION_S, MAX_GPUS

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.+:@/=-]{1,64}$")]
"""Without anything that a terminal or a shell would obey."""
CONTROLS = r"\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""What a terminal would obey, or show in another order."""
Path = Annotated[str, StringConstraints(pattern=f"^/[^{CONTROLS}]*$", max_length=4096)]
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=131_000)]
"""What fits in one argument of a process."""
Output = Annotated[str, StringConstraints(pattern=f"^([^{CONTROLS}%]|%[jaxu])+$", max_length=4096)]
Variable = Annotated[str, StringConstraints(pattern=r"^[^\x00=]+$", max_length=4096)]


_DIGITS = 10
"""Digits of the largest number of a user."""


class Submission(BaseModel):
    """A job as its user asks for it; the names are those of the job table and of `pointsman submit`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: list[Text] = Field(min_length=1, max_length=10_000)
    gpus: int = Field(1, ge=1, le=MAX_GPUS)
    nodes: int | None = Field(None, ge=1, le=MAX_GPUS)
    gpus_per_node: int | None = Field(None, ge=1, le=MAX_GPUS)
    gpu_type: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.+|-]{1,200}$")] | None = None
    partition: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.,-]{1,200}$")] | None = None
    queue: Name | None = None
    account: Name | None = None
    model: Name | None = None
    batch_size: int | None = Field(None, ge=1, le=1 << 40)
    name: Name = "job"
    time_limit_s: float | None = Field(None, gt=0, le=MAX_DURATION_S)
    priority: int = Field(0, ge=-1_000_000, le=1_000_000)
    requeue: bool = False
    """It may be preempted, and waits again after a failure that is not its own."""
    zero_is_done: bool = False
    hold: bool = False
    folder: Path = "/"
    output: Output = "pointsman-%j.out"
    error: Output | None = None
    """For standard error; None: as `output`."""
    environment: dict[Variable, Text] = {}
    checkpoint_s: float = Field(0.0, ge=0, le=3_600)
    grace_s: float = Field(30.0, ge=0, le=600)
    request_key: Name | None = None

    def kind(self, uid: int) -> Kind:
        """What it is alike in with other jobs."""
        return Kind(
            self.gpus, self.nodes, self.gpus_per_node, self.gpu_type, self.partition, self.queue, self.account,
            user_name(uid), self.model, self.batch_size,
        )  # fmt: skip

    @property
    def limit_ms(self) -> int | None:
        """How long one attempt may run."""
        return None if self.time_limit_s is None else max(1, round(1000 * self.time_limit_s))

    def _fill_in_names(self, output: str, uid: int) -> str:
        return output.replace("%x", self.name).replace("%u", user_name(uid))

    def supposed(self, uid: int) -> Job:
        """As whoever asks what would be if it came knows it."""
        ask = Ask(0, 0, -self.priority, 0, pinned=not self.requeue)
        return Job(ask, self.kind(uid), name=self.name, limit_ms=self.limit_ms, requeues=self.requeue, uid=uid)

    def job(self, uid: int, roster: Roster) -> Job:
        """As the control loop knows it; `roster` has its kind."""
        kind, limit_ms = self.kind(uid), self.limit_ms
        number = roster.numbers[kind]
        ask = roster.ask(number, priority=self.priority, limit_ms=limit_ms, pinned=not self.requeue)
        kept: dict[str, Any] = {
            "name": self.name,
            "environment": home(uid) | self.environment,
            "request_key": self.request_key,
        }
        return Job(
            ask, kind, number, limit_ms=limit_ms, held=self.hold, requeues=self.requeue, zero_is_done=self.zero_is_done,
            command=tuple(self.command), folder=self.folder,
            output=self._fill_in_names(self.output, uid), error=self._fill_in_names(self.error or "", uid),
            stop=Stop(self.checkpoint_s, self.grace_s), uid=uid, **kept,
        )  # fmt: skip


def home(uid: int) -> dict[str, str]:
    """What processes of a user find in their environment wherever they begin."""
    try:
        user = pwd.getpwuid(uid)
    except KeyError:
        return {}
    return {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell}


def is_known(uid: int) -> bool:
    """Whether this machine has a user of that number."""
    return bool(home(uid))


def user_number(name: str) -> int:
    """The number of a user, or of none: its jobs are known by number.

    Raises:
        UsageError: this machine has no such user.
    """
    if name.isdecimal() and len(name) <= _DIGITS:
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise UsageError(f"this machine has no user {name!r:.60}") from None


def user_name(uid: int) -> str:
    """What this machine calls a user."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
