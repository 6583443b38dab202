"""A run is measured once, whatever is made of it."""

from collections import Counter
from pathlib import Path

import pytest

from pointsman.report import compare, measure, summarise, write_run
from pointsman.report.metrics import measured, summary
from pointsman.report.metrics.counted import counted_jobs
from pointsman.report.result import Result

MEASURES = ((measured, "counted_jobs"), (measured, "holdings"), (summary, "lower_bound_s"), (summary, "breakdown"))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found: Counter[str] = Counter()

    def counting(module: object, name: str) -> None:
        function = getattr(module, name)

        def called(*arguments: object, **options: object) -> object:
            found[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, called)

    for module, name in MEASURES:
        counting(module, name)
    return found


def test_tables_figures_page_and_run_directory_share_one_measurement(
    fifo: Result, tmp_path: Path, calls: Counter[str]
) -> None:
    run = measure(fifo)
    assert not calls
    write_run(tmp_path / "run", run)
    assert run.summary["jobs_counted"] == 400
    assert calls == {"counted_jobs": 1, "holdings": 1, "lower_bound_s": 1, "breakdown": 4}


def test_a_comparison_measures_each_run_once(fifo: Result, srtf: Result, calls: Counter[str]) -> None:
    compare([fifo, srtf])
    assert calls == {"counted_jobs": 2, "holdings": 2, "lower_bound_s": 2, "breakdown": 8}


def test_a_run_says_what_summarise_says(fifo: Result) -> None:
    window = (0.0, 1e5)
    assert measure(fifo, window).summary == summarise(fifo, window=window)


def test_a_table_of_which_every_job_counts_is_not_copied(fifo: Result) -> None:
    run = measure(fifo)
    counted = counted_jobs(fifo, run.window)
    assert counted.height == fifo.jobs.height
    assert counted["jct_s"].to_numpy().ctypes.data == fifo.jobs["jct_s"].to_numpy().ctypes.data
