"""A simulated cluster whose time passes by itself, so that a daemon can be tried without running anything."""

import time
from contextlib import suppress
from typing import Final

from pointsman.cluster import Cluster
from pointsman.inputs.durations import parse_duration_s
from pointsman.live.backends.facts import AttemptId, Launch, Observation, Stop
from pointsman.live.backends.shadow import Program, Shadow

ENDLESS: Final = Program(1e15)
"""What a command does there that is not ``sleep``: it runs until it is stopped."""


class Paced(Shadow):
    """Its time passes `speed` times as fast, and ``sleep N`` takes N s of it. Nothing outlives the process."""

    def __init__(self, cluster: Cluster, speed: float) -> None:
        self._does: dict[int, Program] = {}
        super().__init__(cluster, self._does)
        self._began_s, self._speed = time.monotonic(), speed

    def _pass(self) -> None:
        """Everything up to now."""
        self.step(int(1000 * self._speed * (time.monotonic() - self._began_s)))

    def observe(self) -> Observation:
        self._pass()
        return super().observe()

    def launch(self, launch: Launch) -> None:
        self._pass()
        self._does[launch.id.job] = program_of(launch.command)
        super().launch(launch)

    def stop(self, attempt: AttemptId, how: Stop) -> None:
        self._pass()
        super().stop(attempt, how)


def program_of(command: tuple[str, ...]) -> Program:
    """What a command does on a simulated cluster."""
    if len(command) == 2 and command[0] == "sleep":
        with suppress(ValueError):
            return Program(1000.0 * parse_duration_s(command[1]))
    return ENDLESS
