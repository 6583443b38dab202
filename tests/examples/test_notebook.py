"""The notebook of ``examples/``, run in a kernel of its own."""

import os
from pathlib import Path

import pytest

import pointsman

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (pip install 'pointsman[dev]')")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (pip install 'pointsman[dev]')")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "two_policies.ipynb"


def test_the_notebook_runs_and_shows_its_tables_and_figures(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is kept without outputs, which would age"
    env = os.environ | {"PYTHONPATH": str(Path(pointsman.__file__).parents[1])}
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute(env=env)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if output["output_type"] == "stream"] == []
    shown = [output["data"] for output in outputs if "data" in output]
    tables = [data["text/html"] for data in shown if "<table" in data.get("text/html", "")]
    assert sum("image/png" in data for data in shown) == 2
    assert any("fifo-backfill" in table and "gittins" in table and "95 % CI" in table for table in tables)
    assert any("pending_s_fifo" in table for table in tables)
    assert any("0.95" in table and "gittins" in table for table in tables)
