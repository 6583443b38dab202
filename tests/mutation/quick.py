"""The quick set of tests: which lines each comes by, and whether one notices a mutant."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import coverage

from tests.mutation.points import Point
from tests.mutation.rooms import Room, room_of

ROOT = Path(__file__).parents[2]
MOST_S = 4.0
"""Of computing of one test, with its lines noted."""
NO_TESTS = 5
"""Exit code of pytest where all tests of a file are left out."""


def environment(room: Room, package: Path, home: Path, **more: str) -> dict[str, str]:
    """`home` is where the engine puts the copies of modules that it runs without the JIT."""
    ours = {"PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT)]), "POINTSMAN_ORACLE_INSTANCES": "20"}
    plain = {"POINTSMAN_HOME": str(home), "NUMBA_DISABLE_JIT": "1"} if room.compiled else {}
    return {**os.environ, **ours, **plain, **more}


def pytest_command(*arguments: str) -> list[str]:
    plugin = ["-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-m", "not slow"]
    return ["-m", "pytest", "-q", "-x" if arguments[0] == "-x" else "--no-header", *plugin, *arguments]


@dataclass(frozen=True)
class Baseline:
    """What the tests do with the package as it is."""

    took_s: dict[str, float]
    """By test, of those that pass in time."""
    lines: list[coverage.CoverageData]
    """Of each file of tests, which of them comes by which line."""
    package: Path

    @classmethod
    def of(cls, room: Room, package: Path) -> "Baseline":
        """Of the tests of a room; kept from run to run, for each file of tests, as long as neither it nor the package
        changes.

        Raises:
            RuntimeError: some of the tests fail.
        """
        took_s: dict[str, float] = {}
        lines = []
        for file in room.files():
            folder = _timed(room, package, file)
            took_s |= json.loads((folder / "took.json").read_text())
            if (folder / "coverage").exists():
                lines.append(coverage.CoverageData(str(folder / "coverage")))
                lines[-1].read()
        return cls(took_s, lines, package)

    def tests_of(self, point: Point, limit_s: float) -> list[str]:
        """Those that come by its statement, the quickest first, as many as there is time for; of a line that only an
        import comes by, those of the file.
        """
        by_line: dict[int, set[str]] = {}
        for data in self.lines:
            for file in data.measured_files():
                if self._is_copy(Path(file), point.file):
                    for line, tests in data.contexts_by_lineno(file).items():
                        by_line.setdefault(line, set()).update(test for test in tests if test in self.took_s)
        first, last = point.lines
        here = {test for line in range(first, last + 1) for test in by_line.get(line, ())}
        found = here or {test for tests in by_line.values() for test in tests}
        chosen, spent_s = [], 0.0
        for test in sorted(found, key=lambda test: (self.took_s[test], test)):
            spent_s += self.took_s[test]
            if spent_s <= limit_s:
                chosen.append(test)
        return chosen

    def _is_copy(self, measured: Path, file: str) -> bool:
        """Whether that is this file of the package, or one that the engine made of it, line by line."""
        if measured.is_relative_to(self.package):
            return measured == self.package / file
        return re.fullmatch(rf"{Path(file).stem}(_\w+)?_[0-9a-f]{{12}}\.py", measured.name) is not None


def _timed(room: Room, package: Path, tests: Path) -> Path:
    """A folder with the notes on a file of tests, made if it is not there."""
    digest = hashlib.sha256(f"{tests.relative_to(ROOT)} {room.compiled}".encode() + tests.read_bytes())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"pointsman-mutation-{digest.hexdigest()[:16]}"
    notes, lines = folder / "took.json", folder / "coverage"
    if notes.exists():
        return folder
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    measured = ["--rcfile", os.devnull, f"--data-file={lines}", f"--source={package},{home}"]
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", *measured, *pytest_command(str(tests))],
        cwd=ROOT,
        env=environment(
            room, package, home, POINTSMAN_MUTATION_MOST_S=str(MOST_S), POINTSMAN_MUTATION_NOTES=str(notes)
        ),
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, NO_TESTS):
        notes.unlink(missing_ok=True)
        said = done.stdout[-3000:] + done.stderr[-3000:]
        raise RuntimeError(f"tests fail without any mutant:\n{said}")
    return folder


def copied(package: Path, folder: Path) -> Path:
    """A copy of the package that can be changed."""
    return Path(shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__")))


def killed_by(point: Point, package: Path, baseline: Baseline, limit_s: float) -> str | None:
    """What notices the mutant, applied to `package` and taken back; None if nothing does."""
    tests = baseline.tests_of(point, limit_s)
    if not tests:
        return None
    path = package / point.file
    source = path.read_bytes()
    path.write_bytes(point.applied(source))
    try:
        done = subprocess.run(
            [sys.executable, *pytest_command("-x", *tests)],
            cwd=ROOT,
            env=environment(room_of(point.file), package, package.parent / "home"),
            capture_output=True,
            text=True,
            timeout=30 + limit_s,
        )
    except subprocess.TimeoutExpired:
        return "out of time (look at it)"
    finally:
        path.write_bytes(source)
    if done.returncode == 0:
        return None
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed by {failed[0].rpartition('::')[2]}" if failed else "cannot be imported"
