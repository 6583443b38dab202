"""What a clone waits for: the first simulation with a policy after ``make .venv``, one after an edit, ``warmup``.

Wall seconds, and CPU seconds of all processes. The clone is a copy of the sources; what it compiles is kept in a folder
made for this, empty at first. From a wheel nothing is compiled: there the first simulation is as any other.
"""

import ast
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.measures import Measure
from pointsman.policies.registry import get_policy

POLICIES = ("fifo", "srtf", "tiresias", "easy", "dally", "gittins")
HELPER = "pointsman.engine.index.treap", "remove"
"""A helper of the engine that is compiled into much."""
JOBS = "submit_s,gpus,duration_s\n0,1,10\n0,4,20\n5,2,10\n"
ROOT = Path(__file__).parent.parent
POINTSMAN, COMMON = ("pointsman", "-q"), ("pointsman.engine.jit.build",)
"""Modules and arguments: a command, and what ``make .venv`` compiles."""
ROUNDS = 3
_CLASS = """

from typing import ClassVar

from {module} import {name} as BuiltIn


class Edited(BuiltIn):
    hooks: ClassVar[str] = __file__
"""
Seconds = tuple[float, float]
"""On the wall, and CPU seconds of all processes."""


def cold(policies: tuple[str, ...] = POLICIES) -> Iterator[Measure]:
    """``warmup``, what ``make .venv`` compiles, and of each policy the first simulation, another, and those after an
    edit: of the policy as a user's file, of the built-in one, of a helper of the engine.
    """
    found: dict[str, list[Seconds]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            found.setdefault("warmup", []).append(_seconds(_clone(Path(folder)), *POINTSMAN, "warmup"))
        for policy in policies:
            with tempfile.TemporaryDirectory() as folder:
                for name, seconds in _of(policy, _clone(Path(folder))):
                    found.setdefault(name, []).append(seconds)
    for name, seconds in found.items():
        wall_s, own_s = zip(*seconds, strict=True)
        yield Measure(f"cold/{name}/wall_s", wall_s, "s")
        yield Measure(f"cold/{name}/cpu_s", own_s, "s")


def _of(policy: str, place: Path) -> Iterator[tuple[str, Seconds]]:
    built_in = _simulate(policy)
    yield "common", _seconds(place, *COMMON)
    yield f"first/{policy}", _seconds(place, *built_in)
    yield f"again/{policy}", _seconds(place, *built_in)
    yield f"edited/{policy}", _seconds(place, *_simulate(_as_users(policy, place)))
    _edit(place, get_policy(policy).factory.hooks, "decide")
    yield f"edited_built_in/{policy}", _seconds(place, *built_in)
    _edit(place, *HELPER)
    yield f"edited_helper/{policy}", _seconds(place, *built_in)


def _simulate(policy: str) -> tuple[str, ...]:
    return *POINTSMAN, "simulate", "jobs.csv", "--cluster", "2x8", "--policy", policy


def _clone(place: Path) -> Path:
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "home").mkdir(mode=0o700)
    (place / "jobs.csv").write_text(JOBS)
    return place


def _edit(place: Path, module: str, function: str) -> None:
    """Put a statement into a function of the clone."""
    file = (place / "src" / module.replace(".", "/")).with_suffix(".py")
    text = file.read_text(encoding="utf-8")
    found = next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == function)
    last = found.body[-1]
    lines = text.splitlines(keepends=True)
    lines.insert(last.lineno - 1, f"{' ' * last.col_offset}edited = 0\n")
    file.write_text("".join(lines), encoding="utf-8")


def _as_users(policy: str, place: Path) -> str:
    """The policy's hooks as a user's file that was never compiled."""
    factory = get_policy(policy).factory
    hooks = Path(str(import_module(factory.hooks).__file__)).read_text(encoding="utf-8")
    (place / "edited.py").write_text(hooks + _CLASS.format(module=factory.__module__, name=factory.__name__))
    return "edited.py:Edited"


def _seconds(place: Path, *command: str) -> Seconds:
    """Wall and CPU seconds of a command whose folder of compiled code is in `place`."""
    environment = {**os.environ, "POINTSMAN_HOME": str(place / "home"), "PYTHONPATH": str(place / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", *command], cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
