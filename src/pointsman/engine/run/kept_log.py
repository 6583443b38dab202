"""What a run has logged: the engine fills arrays of a fixed size, which are emptied into parts, up to a limit."""

import os
import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.run.snapshot import copied
from pointsman.engine.state.records import LOG, SPEED, State
from pointsman.errors import RunError, UsageError

MOST_EVENTS: Final = "POINTSMAN_MOST_EVENTS"
"""The environment variable that says how many events a run may keep."""
FEWEST_MOST, MOST_OF_A_JOB = 5_000_000, 5
"""Without it: that many, or that many for each job if that is more. An event takes about 200 bytes until it is written.
"""


def most_events(jobs: int) -> int:
    """How many events a run of `jobs` jobs may keep.

    Raises:
        UsageError: the environment says something that is no number.
    """
    text = os.environ.get(MOST_EVENTS)
    if text is None:
        return max(FEWEST_MOST, MOST_OF_A_JOB * jobs)
    if not re.fullmatch(r"[1-9]\d{0,11}", text, re.ASCII):
        raise UsageError(f"{MOST_EVENTS} = {text!r:.60}: write a whole number such as 100000000")
    return int(text)


class KeptLog:
    """The plan log, and changes of speed, so far."""

    def __init__(self, *, may_drop: bool = False) -> None:
        self.may_drop = may_drop
        """Whether the plan log ends where it becomes too large; else the run does."""
        self.dropped = False
        self.events: list[NDArray[np.void]] = []
        self.speeds: list[NDArray[np.void]] = []

    def copy(self) -> "KeptLog":
        """Makes a copy that can go on by itself; the parts are shared, since none is ever changed."""
        other = KeptLog(may_drop=self.may_drop)
        other.dropped, other.events, other.speeds = self.dropped, list(self.events), list(self.speeds)
        return other

    def empty(self, state: State) -> None:
        """Take what the engine's arrays hold."""
        g = state.g
        self.events.append(copied(state.log[: int(g[0]["logged"])]))
        g[0]["logged"] = 0
        if g[0]["log_speeds"]:
            self.speeds.append(copied(state.speed_log[: int(g[0]["speeds_logged"])]))
            g[0]["speeds_logged"] = 0

    def limit(self, state: State, jobs: int) -> None:
        """See that it does not become too large.

        Raises:
            RunError: it has, and was asked for.
        """
        most = most_events(jobs)
        if _rows(self.speeds) > most:
            raise _too_many("changes of speed", "leave out --log-speeds", most, state)
        if _rows(self.events) <= most:
            return
        if not self.may_drop:
            raise _too_many("events", "leave their log out (--no-log; in Python log=False)", most, state)
        self.dropped, self.events = True, []
        state.g[0]["log_on"] = 0

    def log(self) -> NDArray[np.void]:
        """The plan log in one piece."""
        self.events = [np.concatenate([part.view(np.int64) for part in self.events]).view(LOG)]
        return self.events[0]

    def changes_of_speed(self) -> NDArray[np.void]:
        """Every change of a job's speed, in order."""
        return np.concatenate([part.view(np.int64) for part in self.speeds]).view(SPEED)


def _rows(parts: list[NDArray[np.void]]) -> int:
    return sum(map(len, parts))


def _too_many(what: str, fix: str, most: int, state: State) -> RunError:
    at_s = int(state.g[0]["now"]) / 1000
    more = f"or let {MOST_EVENTS} allow more, at about 200 bytes each"
    return RunError(f"at {at_s:.3f} s the run has logged more than {most:,} {what}; {fix}, {more}")
