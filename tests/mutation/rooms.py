"""Which tests are tried on the mutants of a room: those of the room, and those in which it shows."""

from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Room:
    """A part of the package, and its tests."""

    tests: tuple[str, ...]
    """Files and folders, within the tests."""
    compiled: bool = False
    """Whether its code is compiled: it is tried as plain Python then, else lines of it could not be noted."""

    def files(self) -> list[Path]:
        """Of its tests, sorted."""
        found = {file for name in self.tests for file in _files(TESTS / name)}
        return sorted(found)


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [*path.rglob("test_*.py")]


SMALL_WORLDS = "mutation/small_worlds.py"
ENGINE = (
    SMALL_WORLDS, "policies/test_gandiva.py", "engine/rate_models/test_gpu_sharing.py",
    "engine/rate_models/test_iterations.py", "engine/rate_models/test_rates.py",
)  # fmt: skip
SHOWN = {
    "engine": Room(ENGINE, compiled=True),
    "policies": Room((SMALL_WORLDS, "policies"), compiled=True),
    "learn/environments/compiled": Room(("learn/environments",), compiled=True),
    "capacity": Room(("capacity", "cli/test_capacity.py", "cli/test_savings.py")),
    "measure": Room(("measure", "cli/test_measure.py")),
    "report": Room(("report", "cli/test_as_logged.py", "cli/test_compare.py", "cli/test_price.py")),
    "sweeps": Room(("sweeps", "cli/test_grid.py", "cli/test_price.py", "cli/test_resume.py", "cli/test_compare.py")),
    "inputs": Room(("inputs", "report/test_units.py", "cli/test_bad_places.py")),
    "speed": Room(("speed", "engine/rate_models")),
    "api.py": Room(("api",)),
    "experiment.py": Room(("experiment",)),
    "job.py": Room(("live/test_job.py",)),
    "progress.py": Room(("api/test_progress.py",)),
    "types.py": Room(ENGINE, compiled=True),
}
"""Where that is not the folder of the same name alone; the longest name counts."""


def room_of(file: str) -> Room:
    """The room that a file of the package is in."""
    names = [name for name in SHOWN if Path(file).is_relative_to(name)]
    first = Path(file).parts[0]
    return SHOWN[max(names, key=len)] if names else Room((first,) if (TESTS / first).exists() else ("api",))
