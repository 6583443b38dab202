"""The example whose declarations the guide explains: by hand, in Python, and with its declarations swapped."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pointsman
from tests.free import simulate

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_overtaking_policy.py"
POLICY = f"{EXAMPLE}:Overtaking"


def jobs_of(*rows: tuple[float, int, float]) -> pointsman.Workload:
    """Of (submit_s, gpus, duration_s) each."""
    schema = {"submit_s": float, "gpus": int, "duration_s": float}
    return pointsman.Workload.of(pl.DataFrame(list(rows), schema=schema, orient="row"))


@pytest.mark.parametrize(
    ("most", "starts_s"),
    [
        (0, [0, 10, 20, 20, 23]),  # the gang keeps all behind it waiting
        (2, [0, 15, 2, 5, 25]),  # two pass it, then the GPUs that come free are its own
        (3, [0, 20, 2, 5, 10]),
    ],
)
def test_so_many_jobs_overtake_a_gang_without_room(most: int, starts_s: list[float]) -> None:
    jobs = jobs_of((0, 1, 10), (1, 2, 10), (2, 1, 3), (3, 1, 10), (4, 1, 10))
    result = simulate(jobs, "1x2", POLICY, params={"most_overtakes": most}, audit=True)
    assert result.jobs["start_s"].to_list() == starts_s


@pytest.mark.slow
def test_swapped_declarations_change_nothing(tmp_path: Path) -> None:
    """With another declaration beside each of the three, before it and behind it."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for name, other in (
        ("starts", '    others = whole("of the record")'),
        ("passed_at", '    others = whole("of the record")'),
        ("most_overtakes", '    others: int = parameter(3, "of the class")'),
    ):
        line = next(line for line in text.splitlines() if line.strip().startswith(name))
        text = text.replace(line, f"{line}\n{other}")
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(text, encoding="utf-8")
    for name in ("starts", "passed_at", "most_overtakes"):
        line = next(line for line in text.splitlines() if line.strip().startswith(name))
        other = text.splitlines()[text.splitlines().index(line) + 1]
        text = text.replace(f"{line}\n{other}\n", f"{other}\n{line}\n")
    two.write_text(text, encoding="utf-8")
    draw = np.random.default_rng(3)
    jobs = jobs_of(*((float(k // 3), int(draw.choice([1, 1, 2, 4])), float(draw.integers(1, 30))) for k in range(200)))
    params = {"most_overtakes": 4}
    schedules = [simulate(jobs, "2x4", f"{file}:Overtaking", params=params) for file in (EXAMPLE, one, two)]
    assert all(schedule.jobs.equals(schedules[0].jobs) for schedule in schedules)
