"""The page that filters the data of the results, in a browser."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from .pages import ROOT

RESULTS = ROOT / "docs/results"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page was not opened")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page's own elements and script beside its data."""
    place = tmp_path_factory.mktemp("site")
    (place / "data").symlink_to(RESULTS / "data")
    (place / "browse.js").symlink_to(RESULTS / "browse.js")
    elements = (RESULTS / "browse.md").read_text(encoding="utf-8").partition("<div id")
    (place / "browse.html").write_text(f"<!doctype html><meta charset=utf-8><div id{elements[2]}", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/browse.html"
    server.shutdown()
    server.server_close()


def rows_shown(address: str, text: str, home: Path) -> int:
    """How many rows of index.csv the page says that it finds."""
    done = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}",
         "--virtual-time-budget=8000", "--dump-dom", f"{address}#{text}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    (found,) = re.findall(r'id="browse-count">(\d+) of \d+ rows', done.stdout)
    return int(found)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", pl.lit(True)),
        ("workload=Philly", pl.col("workload") == "Philly"),
        ("gittins%20seed=1", pl.col("policy").str.contains("gittins") & (pl.col("seed") == 1)),
        ("jct_mean_s%3C14000", pl.col("jct_mean_s") < 14000),
    ],
)
def test_rows_are_those_of_the_file(text: str, wanted: pl.Expr, address: str, tmp_path: Path) -> None:
    frame = pl.read_csv(RESULTS / "data/index.csv", infer_schema_length=None)
    assert rows_shown(address, text, tmp_path / "home") == frame.filter(wanted).height
