"""What a cold machine waits for: the first simulation with a policy, one with an edited policy, ``warmup``.

Wall seconds, and CPU seconds of all processes. Compiled code is kept in folders made for this, empty at first.
"""

import inspect
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measures import Measure
from pointsman.policies.registry import get_policy

POLICIES = ("fifo", "srtf", "tiresias", "easy", "dally")
JOBS = "submit_s,gpus,duration_s\n0,1,10\n0,4,20\n5,2,10\n"
ROOT = Path(__file__).parent.parent
ROUNDS = 3
Seconds = tuple[float, float]
"""On the wall, and CPU seconds of all processes."""


def cold(policies: tuple[str, ...] = POLICIES) -> Iterator[Measure]:
    """The first simulation with each policy, the first after it was edited, and ``warmup``."""
    found: dict[str, list[Seconds]] = {}
    for _ in range(ROUNDS):
        for policy in policies:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                (place / "jobs.csv").write_text(JOBS)
                found.setdefault(f"first/{policy}", []).append(_seconds(place, *_simulate(policy)))
                found.setdefault(f"again/{policy}", []).append(_seconds(place, *_simulate(policy)))
                found.setdefault(f"edited/{policy}", []).append(_seconds(place, *_simulate(_edited(policy, place))))
        with tempfile.TemporaryDirectory() as folder:
            found.setdefault("warmup", []).append(_seconds(Path(folder), "warmup"))
    for name, seconds in found.items():
        wall_s, own_s = zip(*seconds, strict=True)
        yield Measure(f"cold/{name}/wall_s", wall_s, "s")
        yield Measure(f"cold/{name}/cpu_s", own_s, "s")


def _simulate(policy: str) -> tuple[str, ...]:
    return "simulate", "jobs.csv", "--cluster", "2x8", "--policy", policy


def _edited(policy: str, place: Path) -> str:
    """The policy as a user's file that was never compiled."""
    factory = get_policy(policy).factory
    text = Path(inspect.getfile(factory)).read_text(encoding="utf-8")
    named = f'"{factory.hooks}"'
    if named not in text:
        raise AssertionError(f"{policy} does not name its hooks as {named}")
    (place / "edited.py").write_text(text.replace(named, "__file__"), encoding="utf-8")
    return f"edited.py:{factory.__name__}"


def _seconds(place: Path, *command: str) -> Seconds:
    """Wall and CPU seconds of a command whose folder of compiled code is in `place`."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "POINTSMAN_HOME": str(place / "home"), "PYTHONPATH": path}
    (place / "home").mkdir(exist_ok=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pointsman", "-q", *command],
        cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
