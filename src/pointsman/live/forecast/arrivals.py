"""How jobs will come: each hour as in some hour of the last week at the same time of day."""

import random
from collections import deque
from typing import Final, NamedTuple

from pointsman.live.records.job import Job

HOUR_MS: Final = 3_600_000
DAY: Final = 24
WEEK: Final = 7 * DAY
KEPT: Final = 20_000


class Came(NamedTuple):
    """A job that was submitted."""

    at_ms: int
    job: Job


class Arrivals:
    """Those of the last week."""

    def __init__(self) -> None:
        self._came: deque[Came] = deque(maxlen=KEPT)

    def add(self, came: Came) -> None:
        """A job was submitted, after those before."""
        self._came.append(came)
        while came.at_ms - self._came[0].at_ms > WEEK * HOUR_MS:
            self._came.popleft()

    def hours(self, now_ms: int) -> "Hours":
        """Those of each whole hour before now since the first of them."""
        whole = (now_ms - self._came[0].at_ms) // HOUR_MS if self._came else 0
        hours: dict[int, list[Came]] = {ago: [] for ago in range(1, whole + 1)}
        for came in self._came:
            ago = -(-(now_ms - came.at_ms) // HOUR_MS)
            if ago in hours:
                hours[ago].append(Came(came.at_ms - (now_ms - ago * HOUR_MS), came.job))
        return Hours(hours)


class Hours:
    """What came in each of the last hours, by how many hours ago it began; times are since its beginning."""

    def __init__(self, hours: dict[int, list[Came]]) -> None:
        self._hours = hours

    def drawn(self, ahead: int, draw: random.Random) -> list[Came]:
        """What may come in the hour that begins `ahead` hours from now."""
        if not self._hours:
            return []
        alike = [ago for ago in self._hours if (ago + ahead) % DAY == 0] or [*self._hours]
        return self._hours[draw.choice(alike)]
