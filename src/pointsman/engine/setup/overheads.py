"""What starting, stopping and failing cost."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.inputs.messages import fault_of

SWITCH = "loses_since_checkpoint"


class Overheads(BaseModel):
    """Costs of a job's life besides its work (``docs/reference/semantics.md`` §5); all 0 by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start_s: float = Field(0.0, ge=0, le=1e7, description="from start to running: scheduling, image, data")
    stop_s: float = Field(
        0.0, ge=0, le=1e7, description="from preemption until the GPUs are free: writing a checkpoint"
    )
    restore_s: float = Field(
        0.0, ge=0, le=1e7, description="added to the start of a job that has run before: reading a checkpoint"
    )
    lost_s: float = Field(0.0, ge=0, le=1e9, description="nominal work lost by a preemption")
    rebatch_s: float = Field(0.0, ge=0, le=1e7, description="a pause at each change of accumulation while running")
    checkpoint_every_s: float = Field(
        0.0, ge=0, le=1e9, description="work between checkpoints, which failures of nodes lose; 0: nothing is lost"
    )
    loses_since_checkpoint: bool = Field(
        False, description="whether a preempted job loses its work since the last checkpoint, as Slurm's requeue has it"
    )
    start_fail_rate: float = Field(0.0, ge=0, lt=1, description="share of starts that fail, after start_s")

    @model_validator(mode="after")
    def _checkpoints_are_written(self) -> "Overheads":
        if self.loses_since_checkpoint and self.checkpoint_every_s == 0:
            raise ValueError("loses_since_checkpoint needs a checkpoint_every_s above 0")
        return self

    @model_validator(mode="after")
    def _failing_takes_time(self) -> "Overheads":
        if self.start_fail_rate > 0 and self.start_s == 0:
            raise ValueError("start_fail_rate needs a start_s above 0: a start that takes no time cannot fail")
        return self

    @property
    def interval_s(self) -> float:
        """Seconds of work between checkpoints, of which a preempted job loses the last; 0: it loses none."""
        return self.checkpoint_every_s if self.loses_since_checkpoint else 0.0

    def at_interval(self, checkpoint_every_s: float) -> "Overheads":
        """Makes a preempted job lose its work since its last checkpoint, one every `checkpoint_every_s` seconds;
        nothing at 0.
        """
        fields = self.model_dump() | {SWITCH: checkpoint_every_s > 0}
        return Overheads(**fields | ({"checkpoint_every_s": checkpoint_every_s} if checkpoint_every_s > 0 else {}))

    def stated(self) -> dict[str, Any]:
        """As manifests and tables state them: what preempted jobs lose besides only where they do."""
        fields = self.model_dump()
        return fields if self.loses_since_checkpoint else {k: v for k, v in fields.items() if k != SWITCH}

    def milliseconds(self) -> dict[str, Any]:
        """As fields of `Rules`."""
        times = ("start", "stop", "restore", "rebatch", "lost", "checkpoint_every")
        named = {f"{name.removesuffix('_every')}_ms": round(1000 * getattr(self, f"{name}_s")) for name in times}
        return {**named, "start_fail_rate": self.start_fail_rate, SWITCH: self.loses_since_checkpoint}


REALISTIC = Overheads(start_s=10.0, stop_s=5.0, restore_s=20.0, lost_s=0.0, checkpoint_every_s=1800.0)
"""Ours: a container starts in 10 s, a checkpoint is written in 5 s and read in 20 s, one every half hour."""

PERIODIC = REALISTIC.model_copy(update={SWITCH: True})
"""The realistic overheads, where a job that is asked to stop writes no checkpoint."""
STARTS_INCLUDED = {"start_s": 0.0, "stop_s": 5.0, "restore_s": 30.0, "checkpoint_every_s": 1800.0}
"""The realistic ones where durations include first starts, as those of logs and of observed jobs do."""
NAMED = {"none": Overheads(), "realistic": REALISTIC, "periodic": PERIODIC}


def load_overheads(named: str | Mapping[str, Any]) -> Overheads:
    """``none``, ``realistic``, ``periodic``, a YAML file of the fields, or the fields themselves.

    Raises:
        UsageError: no such name, file or field, or a value is wrong.
    """
    if not isinstance(named, str):
        return _overheads(named)
    if named in NAMED:
        return NAMED[named]
    if not names_file(named):
        raise UsageError(f"unknown overheads {named!r:.60}: use none, realistic, periodic or an existing file")
    from pointsman.inputs.config_file import read_document

    return read_document(named, Overheads).content


def _overheads(fields: Mapping[str, Any]) -> Overheads:
    try:
        return Overheads(**fields)
    except ValidationError as error:
        name, said = fault_of(error)
        if error.errors()[0]["type"] == "extra_forbidden":
            said = f"no such cost ({did_you_mean(name, Overheads.model_fields)})"
        raise UsageError(f"overheads{name and '.'}{name}: {said}") from None
