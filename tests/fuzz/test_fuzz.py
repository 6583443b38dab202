"""No input ends in a traceback, an abort or a hang: it is read, or refused in one sentence."""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pointsman.errors import LONGEST, InputError, PointsmanError, UsageError
from tests.fuzz.__main__ import EVERY, LIMIT_S, chosen, fault
from tests.fuzz.mutants import mutant
from tests.fuzz.targets import Target, targets

ALL, CHUNK = 100_000, 2_500
FEW = [number for number in range(1, 200) if number % EVERY]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return targets(tmp_path_factory.mktemp("shared"))


def test_some_inputs(every: list[Target], tmp_path: Path) -> None:
    found = {}
    for number in FEW:
        target, data = chosen(number, every)
        with tempfile.TemporaryDirectory(dir=tmp_path) as place:
            if wrong := fault(target, data, Path(place)):
                found[number, target.name] = wrong
    assert found == {}


FORCED = ("log as ", "named columns", "--", "table of", "generator", "performance model")
"""Targets that read each example as what most are not."""
IN_PROCESSES = ("log as arrow", "log as parquet", "table of")
"""Each in one of its own; tests/workload/test_fuzz.py forces them too."""


def refused(among: list[Target], tmp_path: Path) -> dict[tuple[str, int], str]:
    """What is said of whole examples that are not read."""
    found = {}
    for target in among:
        for k, seed in enumerate(target.seeds):
            place = tmp_path / f"{target.name}-{k}"
            place.mkdir()
            try:
                target.read(seed, place)
            except PointsmanError as error:
                found[target.name, k] = str(error)
    return found


@pytest.mark.slow
def test_whole_examples_are_read(every: list[Target], tmp_path: Path) -> None:
    """Else damaged ones would be refused for what was wrong before."""
    again = ("Parquet of events", "Parquet of series")  # undamaged, the same run as "Parquet of jobs"
    assert refused([target for target in every if not target.name.startswith((*FORCED, *again))], tmp_path) == {}


@pytest.mark.slow
def test_whole_examples_of_another_kind_are_read_or_refused(every: list[Target], tmp_path: Path) -> None:
    """Those of another format, or of columns that they do not have: any error but a refusal fails."""
    forced = [one for one in every if one.name.startswith(FORCED) and not one.name.startswith(IN_PROCESSES)]
    assert refused(forced, tmp_path) != {}


def test_inputs_are_the_same_every_time(every: list[Target]) -> None:
    again = [(target.name, data) for target, data in (chosen(number, every) for number in FEW[:50])]
    assert again == [(target.name, data) for target, data in (chosen(number, every) for number in FEW[:50])]
    assert len({data for _, data in again}) > 45


def test_what_is_wrong_is_noticed(tmp_path: Path) -> None:
    def breaks(data: bytes, place: Path) -> None:
        raise ValueError("no")

    def cries(data: bytes, place: Path) -> None:
        raise UsageError("")

    assert "ValueError: no" in str(fault(Target("x", (), breaks), b"", tmp_path))
    assert "not one sentence" in str(fault(Target("x", (), cries), b"", tmp_path))
    assert mutant is not None and LIMIT_S > 1


def test_a_sentence_stays_one_whatever_it_quotes() -> None:
    said = str(InputError("a\nb\x1b[31m" + "x" * 5000, path="log\n.csv", fix="mend it"))
    assert said.isprintable() and len(said) <= LONGEST + 3
    assert said.startswith(r"log\n.csv: a\nb\x1b[31m") and said.endswith("x (mend it)")


@pytest.mark.slow
def test_a_hundred_thousand_inputs(tmp_path: Path) -> None:
    """In processes of their own, for what would abort one; ``python -m tests.fuzz K K+1`` repeats input K."""

    def chunk(first: int) -> list[str]:
        told = tmp_path / str(first)
        given = [sys.executable, "-m", "tests.fuzz", str(first), str(first + CHUNK), str(told)]
        done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False)
        found = done.stdout.splitlines()
        if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
            found.append(f"input {told.read_text()} ended the process ({done.returncode}): {done.stderr[-500:]}")
        return found

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as several:
        found = [line for lines in several.map(chunk, range(0, ALL, CHUNK)) for line in lines]
    assert found == [], json.dumps(found[:20], indent=1)
