"""Results are kept before they are printed: whoever stops reading loses none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_FIGURES = "import sys; sys.modules['matplotlib'] = None; from pointsman.cli import main; main()"
"""The command where matplotlib is not installed, for a page takes seconds."""
FIFO = ("--cluster", "2x4", "--policy", "fifo")


@pytest.mark.parametrize(
    ("verb", "reader"),
    [
        ("simulate", "/dev/full"),
        ("compare", "nobody"),
        pytest.param("simulate", "nobody", marks=pytest.mark.slow),
        pytest.param("compare", "/dev/full", marks=pytest.mark.slow),
    ],
)
def test_what_cannot_be_printed_is_kept_all_the_same(verb: str, reader: str, here: Path, jobs: str) -> None:
    args = [sys.executable, "-c", WITHOUT_FIGURES, verb, jobs, *FIFO, "-o", "run", "--format", "json"]
    if reader == "nobody":
        receiving, printing = os.pipe()
        os.close(receiving)
    else:
        printing = os.open(reader, os.O_WRONLY)
    done = subprocess.run(args, stdout=printing, stderr=subprocess.PIPE, text=True, cwd=here, timeout=300)
    os.close(printing)
    assert (done.returncode, (here / "run/manifest.json").exists()) == (1, True)
    assert "run: run (no page" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
