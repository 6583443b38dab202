"""A profile: the small tables that say what the jobs of a cluster are like, and when they come."""

from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Self

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pointsman.errors import UsageError
from pointsman.inputs.config_file import read_document

SHIPPED: Final = ("helios", "itp", "philly")
"""Profiles that come with Pointsman."""

DAY_S: Final = 86_400
HOUR_S: Final = 3_600

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Band(_Model):
    """Jobs of like width and work."""

    work_gpu_s: list[float] = Field(min_length=2)
    """Quantiles of GPUs × duration at equally spaced probabilities, ascending, in GPU-seconds."""
    jobs: dict[str, dict[int, int]]
    """Jobs by queue and GPUs."""

    @cached_property
    def count(self) -> int:
        return sum(sum(by_gpus.values()) for by_gpus in self.jobs.values())


class Tier(_Model):
    """Jobs whose work lies between two bounds, with busy and quiet days of their own."""

    daily: list[int]
    """Jobs on each day of the log, its clock's rhythm taken out."""
    bands: list[Band] = Field(min_length=1)
    """By width, then by work."""

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if sum(self.daily) != sum(band.count for band in self.bands):
            raise ValueError("`daily` and the bands do not add up to the same number of jobs")
        return self


class Stream(_Model):
    """Tiers of jobs that burst alike."""

    together: bool
    """Whether the tiers burst together, as short jobs of one campaign do, or each at its own times."""
    clustering: list[float]
    """For a day, its halves, quarters and so on: the correlation between two jobs of the piece in which half of it
    they lie. 0: independent, as in a Poisson process; 1: always the same half."""
    likeness: float = Field(ge=0, lt=1)
    """Probability that a job is like the one before it."""
    tiers: list[Tier] = Field(min_length=1)
    """In order of work."""

    @model_validator(mode="after")
    def _days_agree(self) -> Self:
        if len({len(tier.daily) for tier in self.tiers}) > 1:
            raise ValueError("the tiers have different numbers of days")
        return self

    @property
    def crowds(self) -> list[list[Tier]]:
        """The tiers, those that burst together in one list."""
        return [self.tiers] if self.together else [[tier] for tier in self.tiers]


class Status(_Model):
    """How jobs end, as shares of jobs and of GPU time (none: the log does not say)."""

    jobs: dict[str, float]
    gpu_time: dict[str, float]


class Profile(_Model):
    """What a log is like."""

    name: str
    source: str
    """What the tables were derived from, with its licence."""
    start: str
    """The clock at the first submission: weekday and time."""
    start_hour_of_week: float = Field(ge=0, lt=168)
    """When the profile starts, in hours since Monday 00:00."""
    hourly: list[float] = Field(min_length=24, max_length=24)
    """Submissions by hour of the day, relative to their mean."""
    weekdays: list[float] = Field(min_length=7, max_length=7)
    """Submissions by weekday from Monday, relative to their mean."""
    day_s: float = Field(gt=0)
    """Length of a day of the tables: about 86,400 s, so that the log is a whole number of them long."""
    lead_in_days: int = Field(ge=0)
    """Days at the start that are not repeated when more jobs are wanted than the log has."""
    gaps_s: list[float]
    """Quantiles of the time between submissions at probabilities (1 − cos πi/n)/2, in whole seconds; none: not known,
    and the gaps are whatever the bursts make them."""
    mean_gap_s: float = Field(gt=0)
    shortest_s: float = Field(ge=0)
    """No job is shorter (the log may have been filtered so)."""
    users: dict[str, int]
    """Users of each queue."""
    status: Status | None
    streams: list[Stream] = Field(min_length=1)

    @property
    def jobs(self) -> int:
        """Jobs of the log."""
        return sum(sum(tier.daily) for stream in self.streams for tier in stream.tiers)


def load_profile(like: str) -> Profile:
    """The shipped profile of that name, or the one in a YAML file (see ``pointsman.workload.generator.fit``).

    Raises:
        UsageError: no such profile, or the file is not a valid one.
    """
    if like in SHIPPED:
        return _read_shipped(like)
    if like.endswith((".yaml", ".yml")):
        return read_document(like, Profile).content
    raise UsageError(
        f"there is no profile {like!r}; there are {', '.join(SHIPPED)}, topdrl, dl2-philly, dl2-1-8, dl2-1-16, or "
        "name a profile's YAML file"
    )


@cache
def _read_shipped(name: str) -> Profile:
    """Read once a process, for that takes as long as to draw the jobs."""
    text = files("pointsman.workload.generator").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return Profile.model_validate(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
