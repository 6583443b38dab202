"""The clock of Slurm's controller, as far as its answers tell: in whole seconds, and now and then."""

import time
from collections.abc import Iterable
from typing import Final

from pointsman.inputs.durations import duration
from pointsman.live.backends.slurm.records import Controller, SlurmJob

UNHEEDED_S: Final = 2.0
"""By so much it may differ from what was thought: it is told in whole seconds."""
SLACK_S: Final = 5.0
"""What has happened since the last look may have so much an earlier, or later, time."""
TOLD_S: Final = 60.0
"""If it differs more from this machine's, a person should know."""


class ControllerClock:
    """It is compared with the time since this machine booted, so that setting this machine's clock changes nothing."""

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()
        """What it shows is that much more than our own time."""
        self._boot_unix_s, self._up_since_s = 0, 0.0
        self._times: set[int] = set()
        self._seen_s = 0.0
        """When the look before was begun; 0: there was none."""

    def hear(self, controller: Controller, asked_s: float) -> None:
        """What the controller says, which was asked at `asked_s` and has just answered."""
        now_s = time.monotonic()
        offset_s = controller.asked_unix_s + 0.5 - (asked_s + now_s) / 2
        if abs(offset_s - self._offset_s) > UNHEEDED_S + (now_s - asked_s):
            self._offset_s = offset_s
        if controller.boot_unix_s != self._boot_unix_s:
            self._boot_unix_s = controller.boot_unix_s
            self._up_since_s = now_s - max(0, controller.asked_unix_s - controller.boot_unix_s)

    def unix_s(self, at_s: float) -> float:
        """What it showed, or will, at a time of this machine since its boot."""
        return at_s + self._offset_s

    def up_s(self) -> float:
        """For how long the controller has been up, also if its clock was set since."""
        return time.monotonic() - self._up_since_s

    def skew_s(self) -> float:
        """By how much it is ahead of this machine's now."""
        return self.unix_s(time.monotonic()) - time.time()

    def seems_set(self, jobs: Iterable[SlurmJob], begun_s: float) -> bool:
        """Whether it was set since the look before, as times show that have come since; this look was `begun_s`."""
        times = {at for job in jobs for at in (job.submit_unix_s, job.start_unix_s, job.end_unix_s) if at is not None}
        new, before_s = times - self._times, self._seen_s
        self._times, self._seen_s = times, begun_s
        if not new or before_s == 0.0:
            return False
        first_s, last_s = self.unix_s(before_s) - SLACK_S, self.unix_s(time.monotonic()) + SLACK_S
        return min(new) < first_s or max(new) > last_s


def describe_skew(skew_s: float) -> str:
    """What a person should know of a controller's clock that is so far ahead; nothing if it is not far."""
    if abs(skew_s) < TOLD_S:
        return ""
    sense = "ahead of" if skew_s > 0 else "behind"
    differs = f"the clock of Slurm's controller is {duration(60 * round(abs(skew_s) / 60))} {sense} this machine's"
    return f"{differs}: times are shown by this machine's clock; set the one that is wrong"
