"""One ``pointsman`` command with a clock around each of its stages: ``python -m benchmarks.stages simulate ...``.

Prints JSON on stdout: by stage its CPU and wall seconds, those of the stages inside it not counted, and the highest
memory by its end. What is in no stage, imports for the most part, is `start`.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from pointsman.cli import collect_rarely

STAGES = {
    "pointsman.cli.simulate:read_jobs": "reading",
    "pointsman.api:open_simulation": "preparing",
    "pointsman.engine.run.simulation:Simulation.run": "engine",
    "pointsman.api:make_result": "outcome",
    "pointsman.report.metrics.groups:metrics_of": "metrics",
    "pointsman.report.rundir:make_page": "figures",
    "pointsman.report.rundir:write_run": "writing",
}
"""Where each stage is called; `cli.simulate` imports what it calls when it runs."""

LATE = {"pointsman.cli.simulate": "pointsman.cli.replay"}
"""Modules whose functions are looked up elsewhere when they are called."""


class Clock:
    """CPU and wall seconds by stage, each stage without those inside it."""

    def __init__(self) -> None:
        self.stages: dict[str, dict[str, float]] = {}
        self._open = ["start"]
        self._since = (0.0, time.perf_counter())  # the CPU time before this line is the stage's, too

    def turn(self) -> None:
        """Book the time since the last turn."""
        now = time.process_time(), time.perf_counter()
        booked = self.stages.setdefault(self._open[-1], {"cpu_s": 0.0, "wall_s": 0.0, "peak_mb": 0.0})
        booked["cpu_s"] += now[0] - self._since[0]
        booked["wall_s"] += now[1] - self._since[1]
        booked["peak_mb"] = peak_mb()
        self._since = now

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What is done inside is of the stage `name`."""
        self.turn()
        self._open.append(name)
        try:
            yield
        finally:
            self.turn()
            self._open.pop()

    def around(self, place: str, name: str) -> None:
        """Have every call of what stands at `place` counted as stage `name`."""
        module, _, path = place.partition(":")
        *within, function = path.split(".")
        owner: Any = import_module(LATE.get(module, module))
        for part in within:
            owner = getattr(owner, part)
        setattr(owner, function, self._clocked(getattr(owner, function), name))

    def _clocked(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(function)
        def clocked(*arguments: Any, **options: Any) -> Any:
            with self.stage(name):
                return function(*arguments, **options)

        return clocked


def peak_mb() -> float:
    """The most memory that this process has had; `getrusage` would also count its parent's before it was this one."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Run the command; what it prints is not shown."""
    clock = Clock()
    collect_rarely()
    for place, name in STAGES.items():
        clock.around(place, name)
    from pointsman.cli.run import run

    stdout = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        code = run(sys.argv[1:])
        os.dup2(stdout, 1)
    clock.turn()
    os.write(1, json.dumps(clock.stages).encode())
    sys.exit(code)


if __name__ == "__main__":
    main()
