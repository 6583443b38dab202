"""The site builds, loads nothing from elsewhere, and what scrolls can be reached with the keyboard."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT

pytestmark = pytest.mark.slow  # "make docs" builds it too
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio)\b[^>]*?\s(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)"
)
"""What a page loads from another host, by the elements that load."""
UNREACHABLE = """<script>window.addEventListener("load", () => setTimeout(() => {
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth;
  const areas = [...document.querySelectorAll(".md-content *")].filter(scrolls);
  const lost = areas.filter((e) => e.tabIndex < 0 && !e.querySelector("a[href], [tabindex='0']"));
  document.documentElement.dataset.areas = areas.length + " of which " + lost.length;
}, 500));</script>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    home = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", home / "docs")
    shutil.copy(ROOT / "mkdocs.yml", home)
    (home / "src").symlink_to(ROOT / "src")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"], cwd=home, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "site"


def test_it_builds_without_a_warning(site: Path) -> None:
    assert 'id="pointsman.api.simulate"' in (site / "reference" / "api.html").read_text()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    found = {url for page in site.rglob("*.html") for url in LOADED.findall(page.read_text())}
    assert not found


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page was not opened")
@pytest.mark.parametrize("width_px", [500, 1280])
def test_what_scrolls_in_the_tutorial_can_be_reached_with_the_keyboard(
    site: Path, tmp_path: Path, width_px: int
) -> None:
    page = site / f"tutorial-{width_px}.html"
    page.write_text((site / "tutorial.html").read_text().replace("</body>", f"{UNREACHABLE}</body>"))
    done = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
         f"--window-size={width_px},900", "--virtual-time-budget=8000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    areas, lost = map(int, re.findall(r'data-areas="(\d+) of which (\d+)"', done.stdout)[0])
    assert areas > 0 and lost == 0
