"""What tests of ``pointsman measure`` share: jobs of their own, on a core, for a moment."""

import csv
from pathlib import Path
from typing import Final

JOBS: Final = Path(__file__).parents[1] / "measure" / "own_jobs.py"
CPU: Final = ("--device", "cpu", "--rounds", "2", "--round-s", "0.05", "--spread-limit", "1")
"""Short, and whatever else runs on the machine."""
ABOUT: Final = ("device", "driver", "versions", "mode", "clock_mhz", "measured_at")


def own(*functions: str) -> list[str]:
    return [f"{JOBS}:{function}" for function in functions]


def rows(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))
