"""A format of one's own, from an entry point."""

from importlib.metadata import EntryPoint

import pytest

from pointsman.errors import UsageError
from pointsman.workload import read_workload
from pointsman.workload.readers.formats import formats

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


@pytest.fixture
def plugin(monkeypatch, tmp_path):
    def install(value):
        point = EntryPoint("mine", value, "pointsman.traces")
        monkeypatch.setattr("pointsman.workload.readers.formats.entry_points", lambda group: [point])
        formats.cache_clear()

    (tmp_path / "at_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    yield install
    formats.cache_clear()


def test_a_plugin_is_detected_and_named(plugin, tmp_path):
    plugin("at_plugin:FORMAT")
    log = tmp_path / "log"
    log.write_text("0@1@60\n5@0@60\n")
    workload = read_workload(log)
    assert workload.provenance.format == "at"
    assert workload.quality.dropped == {"asks for no GPU": 1}
    assert read_workload(log, format="at").jobs.equals(workload.jobs)


@pytest.mark.parametrize("value", ["no_such_module:FORMAT", "at_plugin:NOTHING"])
def test_a_broken_plugin_is_named(plugin, tmp_path, value):
    plugin(value)
    (tmp_path / "log").write_text("0@1@60\n")
    with pytest.raises(UsageError, match="plug-in 'mine' cannot be loaded"):
        read_workload(tmp_path / "log")
