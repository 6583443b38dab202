"""A format of one's own, from an entry point."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.workload import read_workload
from pointsman.workload.readers.formats import _plugins, formats
from pointsman.workload.readers.sdk import open_source, settle

ROOT = Path(__file__).parents[2]

PLUGIN = """
import polars as pl
from pointsman.workload.readers.sdk import TraceFormat, settle

def read(source):
    cells = [line.split("@") for line in source.text.splitlines()]
    frame = pl.DataFrame([[float(cell) for cell in row] for row in cells],
                         schema=["submit_s", "gpus", "duration_s"], orient="row")
    return settle(source, frame)

FORMAT = TraceFormat("at", "cells between at signs", lambda source: source.data.count(b"@") > 1, read)
"""


def forget():
    """What was found."""
    formats.cache_clear()
    _plugins.cache_clear()


@pytest.fixture
def plugin(monkeypatch, tmp_path):
    def install(value):
        point = EntryPoint("mine", value, "pointsman.traces")
        monkeypatch.setattr("pointsman.workload.readers.formats.entry_points", lambda group: [point])
        forget()

    (tmp_path / "at_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    yield install
    sys.modules.pop("at_plugin", None)
    forget()


def test_a_plugin_is_detected_and_named(plugin, tmp_path):
    plugin("at_plugin:FORMAT")
    log = tmp_path / "log"
    log.write_text("0@1@60\n5@0@60\n")
    workload = read_workload(log)
    assert workload.provenance.format == "at"
    assert workload.quality.dropped == {"asks for no GPU": 1}
    assert read_workload(log, format="at").jobs.equals(workload.jobs)


def page_block(heading):
    """The first block of text under a heading of the guide."""
    return (
        (ROOT / "docs/guides/add-a-trace-format.md").read_text().split(heading)[1].split("```text\n")[1].split("```")[0]
    )


def test_the_guides_format_reads_the_guides_log(plugin, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    plugin("my_trace_format:FORMAT")
    log = tmp_path / "log"
    log.write_text(page_block("## A log"))
    workload = read_workload(log)
    assert workload.provenance.format == "my-queue"
    assert workload.quality.render() + "\n" == page_block("## Make it known")
    assert workload.jobs.select("job_id", "queue", "gpu_type", "submit_s", "gpus", "duration_s", "status").rows() == [
        ("r1", "vision", "A100", 0.0, 4, 3600.0, "COMPLETED"),
        ("r2", "speech", "A100", 60.0, 1, 90.0, "CANCELLED"),
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module", "plug-in 'mine' cannot be loaded: ModuleNotFoundError"),
        ("FORMAT = TraceFormat('at')", "plug-in 'mine' cannot be loaded: TypeError"),
        ("del FORMAT", "plug-in 'mine' cannot be loaded: AttributeError"),
        ("FORMAT = read", "plug-in 'mine' names no TraceFormat"),
        ("FORMAT = TraceFormat('at', '', lambda source: source.readline(), read)", "'at' failed: AttributeError"),
        ("FORMAT = TraceFormat('at', '', lambda source: True, lambda source: 1 / 0)", "'at' failed: ZeroDivisionError"),
    ],
)
def test_a_broken_plugin_is_named(plugin, tmp_path, code, said):
    (tmp_path / "at_plugin.py").write_text(f"{PLUGIN}\n{code}\n")
    plugin("at_plugin:FORMAT")
    (tmp_path / "log").write_text("0@1@60\n")
    with pytest.raises(UsageError, match=said):
        read_workload(tmp_path / "log")


@pytest.mark.parametrize(
    ("column", "said"),
    [("gpus", "gives settle\\(\\) no column 'gpus'"), ("team", "gives settle\\(\\) an unknown column 'team'")],
)
def test_a_column_that_a_format_misspells_is_named(tmp_path, column, said):
    (tmp_path / "log").write_text("0@1@60\n")
    frame = pl.DataFrame({"submit_s": [0.0], "gpus": [1.0], "duration_s": [1.0], "team": ["a"]})
    chosen = frame.drop("gpus", "team") if column == "gpus" else frame
    with pytest.raises(UsageError, match=said):
        settle(open_source(tmp_path / "log"), chosen)
