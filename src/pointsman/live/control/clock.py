"""Logical time: milliseconds since a store was made, which never go backwards, whatever is done to the wall clock."""

import json
import time
from pathlib import Path

from pointsman.live.records.store import Store

ANCHOR = "clock"
"""Under which name a store keeps the last time that both clocks were read."""
STEP_MS = 1000
"""By so much the wall clock drifts unheeded."""


class Clock:
    """The time of a store: that since the machine booted, as long as it is the same boot; else the wall clock's."""

    def __init__(self, store: Store, least_ms: int = 0) -> None:
        """`least_ms`: a time that has been already."""
        self._boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        kept = json.loads(store.setting(ANCHOR) or "null")
        if kept is None:
            now_ms = least_ms
        elif kept["boot"] == self._boot:
            now_ms = max(least_ms, kept["at_ms"] + _since_boot_ms() - kept["boot_ms"])
        else:
            now_ms = max(least_ms, kept["at_ms"] + round(1000 * time.time()) - kept["unix_ms"])
        self._at_ms, self._boot_ms = now_ms, _since_boot_ms()
        self._look_at_wall_clock(store)

    def _look_at_wall_clock(self, store: Store) -> None:
        at_ms, boot_ms, unix_ms = self.now_ms(), _since_boot_ms(), round(1000 * time.time())
        self._origin_ms = unix_ms - at_ms
        anchor = {"boot": self._boot, "at_ms": at_ms, "boot_ms": boot_ms, "unix_ms": unix_ms}
        with store.turn():
            store.keep_setting(ANCHOR, json.dumps(anchor))

    def heed_steps(self, store: Store) -> None:
        """If the wall clock has been set, all times are shown as it says now."""
        if abs(round(1000 * time.time()) - self.now_ms() - self._origin_ms) > STEP_MS:
            self._look_at_wall_clock(store)

    def unix_ms(self, at_ms: int) -> int:
        """What the wall clock shows at a time of the store, as far as is known now."""
        return self._origin_ms + at_ms

    def now_ms(self) -> int:
        """Since the store was made."""
        return self._at_ms + _since_boot_ms() - self._boot_ms

    def until_s(self, at_ms: int) -> float:
        """How long it is until then."""
        return (at_ms - self.now_ms()) / 1000


class FastClock(Clock):
    """That of a simulated cluster, `speed` times as fast."""

    def __init__(self, store: Store, least_ms: int, speed: float) -> None:
        self._speed = speed
        super().__init__(store, least_ms)

    def now_ms(self) -> int:
        return self._at_ms + int(self._speed * (super().now_ms() - self._at_ms))

    def heed_steps(self, store: Store) -> None:
        """It shows another time than the wall clock."""

    def until_s(self, at_ms: int) -> float:
        return super().until_s(at_ms) / self._speed


def _since_boot_ms() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
