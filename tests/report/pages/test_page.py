"""The page stands alone, and a browser shows all of it without complaint."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from copy import copy
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.report.comparison import compare
from pointsman.report.figures import catalogue, style
from pointsman.report.figures.catalogue import KINDS, runs_caption
from pointsman.report.figures.distributions import _wait_sentence
from pointsman.report.figures.over_time import _rho_sentence
from pointsman.report.figures.panels import _nodes_of_a_row, node_rows
from pointsman.report.metrics.groups import group_runs
from pointsman.report.pages.lead import lead
from pointsman.report.pages.page import facts, make_page
from pointsman.report.result import Result
from pointsman.report.rundir import write_comparison, write_run
from pointsman.report.units import duration
from tests import free
from tests.report.small_results import Job, busy_jobs, simulate

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: the report was not opened (apt-get install chromium)"
)

PROBE = """
<script>
addEventListener('error', event => console.error('uncaught ' + event.message));
addEventListener('load', () => {
  const seen = [...document.querySelectorAll('figure')].map(figure => {
    const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
    const drawn = [...svg.querySelectorAll('path, use, image')].filter(part => part.getBoundingClientRect().width > 0);
    const cut = [...svg.querySelectorAll('text')].filter(text => {
      const own = text.getBoundingClientRect(), sideways = own.left < box.left - 1 || own.right > box.right + 1;
      return sideways || own.top < box.top - 1 || own.bottom > box.bottom + 1;
    }).map(text => text.textContent.trim());
    const style = getComputedStyle(svg);
    return {name: figure.id, width: box.width, height: box.height, drawn: drawn.length, cut,
      visible: style.visibility === 'visible' && style.display !== 'none'};
  });
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const ids = [...document.querySelectorAll('[id]')].map(part => part.id);
  document.body.dataset.probe = JSON.stringify({seen, wide, twice: ids.length - new Set(ids).size});
});
</script>
"""


class Links(HTMLParser):
    """Every address that the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted = ("src", "href", "xlink:href", "srcset")
        self.found += [value for name, value in attrs if name in wanted and value and tag != "a"]


def browse(page: Path, tmp_path: Path, *more: str) -> tuple[dict, list[str]]:
    """What the probe found on the page, and what the console said."""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text().replace("<head>", "<head>" + PROBE, 1))
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,900", "--enable-logging=stderr", "--v=0",
        "--virtual-time-budget=5000", *more, "--dump-dom", probed.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert found is not None, done.stderr[-2000:]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(found.group(1).replace("&quot;", '"').replace("&gt;", ">").replace("&amp;", "&")), console


@pytest.fixture(scope="module")
def pages(srtf: Result, many: list[Result], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("pages")
    write_run(out / "one", srtf, command="pointsman simulate log.csv --policy srtf")
    write_comparison(out / "many", many, runs=False)
    return {name: out / name / "report.html" for name in ("one", "many")}


@pytest.fixture
def draw_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Leaves out all figures but those named, which the test does not look at and which take a second."""

    def only(*names: str) -> None:
        monkeypatch.setattr(catalogue, "KINDS", [kind for kind in KINDS if kind.name in names])

    return only


@needs_chromium
@pytest.mark.parametrize("name", ["one", "many"])
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_every_figure(pages: dict[str, Path], name: str, width: int, tmp_path: Path) -> None:
    found, console = browse(pages[name], tmp_path, f"--window-size={width},900")
    assert console == []
    assert [figure["name"] for figure in found["seen"]] == [f"figure-{kind.name}" for kind in KINDS]
    for figure in found["seen"]:
        assert figure["visible"], figure
        assert figure["width"] > 0.8 * min(width, 1000), figure
        assert figure["height"] > 100, figure
        assert figure["drawn"] >= 5, figure
        assert figure["cut"] == [], figure
    assert found["twice"] == 0, "every id is there once"
    assert not found["wide"], "nothing but tables scrolls sideways"


@needs_chromium
def test_the_probe_would_see_an_error(pages: dict[str, Path], tmp_path: Path) -> None:
    """A page that is wrong on purpose: the test above can fail."""
    broken = tmp_path / "broken.html"
    wrong = pages["one"].read_text().replace("</body>", "<script>nothing.here()</script></body>")
    broken.write_text(wrong.replace("figure svg { display: block", "figure svg { display: none"))
    found, console = browse(broken, tmp_path)
    assert any("nothing is not defined" in line for line in console)
    assert not any(figure["visible"] for figure in found["seen"])


@pytest.mark.parametrize("name", ["one", "many"])
def test_the_page_fetches_nothing(pages: dict[str, Path], name: str) -> None:
    text = pages[name].read_text()
    links = Links()
    links.feed(text)
    assert [link for link in links.found if not link.startswith(("data:", "#"))] == []
    assert re.findall(r"url\((?!#)[^)]*\)|@import", text) == []


def test_the_result_comes_first_then_who_pays_and_last_what_was_assumed(pages: dict[str, Path]) -> None:
    text = pages["many"].read_text()
    parts = ("result", "figure-1-jct-cdf", "losers", "waiting", "figures", "what", "terms")
    order = [text.index(f'id="{part}"') for part in parts]
    assert order == sorted(order)
    assert '<details id="what">' in text
    assert "No group of jobs takes significantly longer under" in text
    assert "durations are on the asked GPUs at the best locality, alone" in text
    assert "95 % CI" in text
    assert "oracle" in text


def test_sentences_under_figures_compare_policies_or_say_that_they_do_not(pages: dict[str, Path]) -> None:
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", pages["many"].read_text(), re.DOTALL)
    assert len(captions) == len(KINDS)
    for caption in captions:
        named = {name for name in ("fifo", "sjf-backfill", "srtf") if re.search(rf"[( ]{name}[):., ]", caption)}
        assert len(named) > 1 or "under all" in caption or "not how well" in caption, caption


def test_a_gpu_count_of_few_jobs_is_not_said_to_wait_longest() -> None:
    jobs = [*(Job(i, i, 1, 60) for i in range(30)), Job(30, 0, 4, 60)]
    runs = [simulate([*map(copy, jobs)], nodes=1, size=4, policy=name) for name in ("fifo", "srtf")]
    groups = group_runs(runs)
    assert _wait_sentence(groups, ["1", "3-4"]).startswith("Jobs of 1 GPU wait longest, on average ")
    assert "3-4" in _wait_sentence(groups, ["3-4"])


def test_where_no_job_waits_there_is_no_table_of_who_does(tmp_path: Path, draw_only: Callable[..., None]) -> None:
    draw_only("1-jct-cdf")
    jobs = [[Job(0, 0, 1, 60), Job(1, 5, 1, 90)] for _ in range(2)]
    runs = [simulate(own, nodes=1, size=2, policy=name) for own, name in zip(jobs, ("fifo", "srtf"), strict=True)]
    write_comparison(tmp_path / "both", runs)
    assert 'id="losers"' not in (tmp_path / "both" / "report.html").read_text()


def test_names_from_a_log_are_only_text(tmp_path: Path, draw_only: Callable[..., None]) -> None:
    draw_only("5a-fairness", "5b-tenants")
    jobs = [Job(0, 0, 1, 60, "<script>alert(1)</script>", "a&b"), Job(1, 5, 2, 90, "$x_1^2$ %", "q")]
    page = write_run(tmp_path / "run", simulate(jobs, nodes=1, size=2)) / "report.html"
    assert "<script>" not in page.read_text()
    assert "&lt;script&gt;alert(1)" in page.read_text()


@pytest.mark.parametrize(("seeds", "said"), [((4,), "seed 4;"), ((1, 4), "seeds 1, 4;")])
def test_one_seed_is_singular(seeds: tuple[int, ...], said: str) -> None:
    runs = [simulate([Job(0, 0, 1, 60)], nodes=1, size=1, seed=seed) for seed in seeds]
    assert f"n = 1 job counted, {said}" in runs_caption(group_runs(runs))


def test_each_figure_says_what_it_shows(many: list[Result]) -> None:
    for drawing in make_page(group_runs(many)).drawings:
        assert drawing.sentence.endswith((".", "%")), drawing.name
        assert "n = 900 jobs counted, seeds 1, 2, 3" in drawing.svg, drawing.name
        assert len(drawing.svg) < 200_000, drawing.name
        for label in ("fifo", "sjf-backfill", "srtf"):
            assert label in drawing.svg, drawing.name


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_page_of_next_to_nothing(count: int, tmp_path: Path) -> None:
    jobs = [Job(row, 0, 1, 0 if row else 7) for row in range(max(count, 1))]
    result = simulate(jobs, nodes=1, size=1)
    if count == 0:
        assert result.events is not None
        result = Result(result.jobs.clear(), result.events.clear(), result.series.clear(), result.info)
    assert (write_run(tmp_path / "run", result) / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_ten_policies_fit() -> None:
    fifo = simulate(busy_jobs(60, 1), nodes=8, size=8, policy="fifo", seed=1)
    named = [Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"policy": f"policy-{i}"}) for i in range(10)]
    names = [drawing.name for drawing in make_page(group_runs(named)).drawings]
    assert names == [kind.name for kind in KINDS if kind.name != "8-preemptions"], (
        "nobody is preempted: nothing to show"
    )


def test_lost_work_is_drawn_only_where_some_was_lost(srtf: Result, draw_only: Callable[..., None]) -> None:
    draw_only("8-preemptions")

    def drawn(result: Result) -> str:
        return make_page(group_runs([result])).drawings[0].svg

    lossy = srtf.jobs.with_columns(lost_s=pl.when(pl.col("preemptions") > 0).then(60.0).otherwise(0.0))
    assert "work lost" not in drawn(srtf)
    assert "work lost (GPU-hours)" in drawn(Result(lossy, srtf.events, srtf.series, srtf.info))


def _boxes(page: Path, width: int, tmp_path: Path) -> dict:
    """Widths of boxes that may scroll, and of what is in them; windows are at least 500 px wide, so it is framed."""
    probe = """<script>addEventListener('load', () => {
      const boxes = [...document.querySelectorAll('.scroll')];
      const of = box => [box.clientWidth, box.scrollWidth, getComputedStyle(box).overflowX];
      parent.document.body.dataset.probe = JSON.stringify({boxes: boxes.map(of),
        wide: document.documentElement.scrollWidth > document.documentElement.clientWidth});
    });</script>"""
    framed = tmp_path / "framed.html"
    html = page.read_text().replace("<head>", "<head>" + probe, 1)
    framed.write_text(f'<iframe style="width:{width}px;height:800px" srcdoc="{escape(html)}"></iframe>')
    found, console = browse(framed, tmp_path)
    assert console == []
    return found


@needs_chromium
def test_tables_fit_a_laptop(pages: dict[str, Path], tmp_path: Path) -> None:
    """Nothing needs to be scrolled to be seen."""
    found = _boxes(pages["many"], 1300, tmp_path)
    assert [inside for width, inside, _ in found["boxes"] if inside > width] == []


@needs_chromium
def test_wide_tables_and_figures_scroll_in_their_boxes_on_a_phone(pages: dict[str, Path], tmp_path: Path) -> None:
    found = _boxes(pages["many"], 400, tmp_path)
    assert not found["wide"], "the page itself stays"
    assert all(width <= 400 and overflow == "auto" for width, _, overflow in found["boxes"])
    assert sum(inside > width for width, inside, _ in found["boxes"]) > len(KINDS), "all figures, and tables"


@pytest.fixture(scope="module")
def wide(srtf: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of tables with as many columns, and as long words, as there may be."""
    info = srtf.info | {"knowledge": "estimate lognormal:0.5", "told_profiles": "lognormal:0.3"}
    unfinished = srtf.jobs.with_columns(state=pl.when(pl.col("row") < 3).then(pl.lit("RUNNING")).otherwise("state"))
    jobs = unfinished.with_columns(comm_s=pl.lit(3.0), user=pl.lit("u" * 64))
    names = [f"dally-policy-{i} (slice_s = 60)" for i in range(8)]
    runs = [Result(jobs, srtf.events, srtf.series, info | {"policy": name}) for name in names]
    out = tmp_path_factory.mktemp("wide") / "out"
    write_comparison(out, runs, runs=False)
    return out / "report.html"


WIDTHS = {"window of 1300": (1300, False), "window of 900": (900, False), "A4 print": (718, True)}
"""Width in pixels, and whether it is printed. A4 is 794 wide; browsers keep 38 on each side for margins."""


@needs_chromium
@pytest.mark.parametrize("where", WIDTHS)
def test_no_table_or_figure_is_clipped(wide: Path, where: str, tmp_path: Path) -> None:
    width, printed = WIDTHS[where]
    probe = """<script>addEventListener('load', () => {
      const boxes = [...document.querySelectorAll('.scroll')];
      const type = box => parseFloat(getComputedStyle(box.querySelector('table') || document.body).fontSize);
      parent.document.body.dataset.probe = JSON.stringify({
        boxes: boxes.map(box => [box.clientWidth, box.scrollWidth, type(box)]),
        wide: document.documentElement.scrollWidth > document.documentElement.clientWidth});
    });</script>"""
    page = wide.read_text().replace("<head>", "<head>" + probe, 1)
    page = page.replace("@media print", "@media all") if printed else page
    framed = tmp_path / "framed.html"
    framed.write_text(f'<iframe style="width:{width}px;height:800px;border:0" srcdoc="{escape(page)}"></iframe>')
    found, _ = browse(framed, tmp_path, "--window-size=1400,900")
    assert len(found["boxes"]) > 10
    assert [box for box in found["boxes"] if box[1] > box[0]] == [], "[room, needed, type size]"
    assert min(size for *_, size in found["boxes"]) >= (7 if printed else 8.8), "legible"
    assert not found["wide"]


A4_PX = (297 - 2 * 14) / 25.4 * 96
"""Height of what is printed on one page, between margins of 14 mm, in pixels."""


@needs_chromium
def test_the_decision_is_printed_on_two_pages_and_the_rest_named(pages: dict[str, Path], tmp_path: Path) -> None:
    pdf = tmp_path / "page.pdf"
    browse(pages["many"], tmp_path, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 2
    probe = """<script>addEventListener('load', () => {
      const ends = [...document.querySelectorAll('#figure-1-jct-cdf, #losers, #losers ~ .note, #waiting')];
      parent.document.body.dataset.probe = JSON.stringify(
        ends.map(part => [part.id || part.className, part.getBoundingClientRect().bottom])
          .concat([['tall', ends[0].getBoundingClientRect().height]]));
    });</script>"""
    page = pages["many"].read_text().replace("<head>", "<head>" + probe, 1).replace("@media print", "@media all")
    framed = tmp_path / "framed.html"
    framed.write_text(f'<iframe style="width:688px;height:800px;border:0" srcdoc="{escape(page)}"></iframe>')
    found, _ = browse(framed, tmp_path)
    bottom = dict(found)  # ty: ignore
    assert 0 < bottom["figure-1-jct-cdf"] < A4_PX, "the result is on the first page"
    assert 0 < bottom["tall"] < A4_PX / 4, "which leaves room for who loses, and for the price on the second"
    assert 0 < bottom["losers"] < 2 * A4_PX
    assert bottom["printed note"] > bottom["losers"], "who reads the paper is told that there is more"
    assert bottom["waiting"] == 0, "which is not printed"


def test_all_of_the_page_of_one_run_is_printed(pages: dict[str, Path]) -> None:
    text = pages["one"].read_text()
    assert '<div class="unprinted"' not in text and 'class="printed' not in text


def test_the_page_names_files_without_their_folders(fifo: Result, draw_only: Callable[..., None]) -> None:
    """Whoever gets the page need not know where its author keeps things."""
    draw_only("1-jct-cdf", "6-occupancy")
    log = {"source": "/home/me/logs/may.parquet", "sha256": "ab" * 32, "format": "parquet"}
    own = Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"policy": "/home/me/mine.py:Mine", "workload": log})
    html = make_page(group_runs([own])).html
    assert "<title>Mine on may.parquet" in html
    assert "may.parquet, sha256 abababababab…" in html
    assert "/home/me" not in html


def test_the_lead_names_the_best_policy_that_needs_no_durations(many: list[Result]) -> None:
    groups = group_runs(many)
    said = lead(groups)
    assert "under srtf, which uses true durations: -" in said
    assert "Of the policies that require no durations, fifo has" in said
    assert "Counted are" not in said, "all are"
    assert "between 60 min and" in lead(group_runs(many, (3600, float("inf")))).replace("1 h", "60 min")


def test_where_nothing_waits_all_policies_are_alike(draw_only: Callable[..., None]) -> None:
    draw_only("2-jct-bars", "3-wait-by-gpus")
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 9.0], "gpus": [1, 2], "duration_s": [5.0, 7.0]}))
    groups = group_runs([free.simulate(jobs, "1x4", policy) for policy in ("fifo", "sjf")])
    assert lead(groups) == "The mean completion time is 6 s under every policy."
    said = make_page(groups).html
    assert "The mean is the same under every policy: 6 s." in said and "No job waits under any policy." in said


def test_the_lead_of_a_run_with_preemptions_tells_the_wait_from_all_queueing(fifo: Result, srtf: Result) -> None:
    assert lead(group_runs([fifo])).endswith(" of it waiting for their first start.")
    queued_s = (srtf.jobs["jct_s"] - srtf.jobs["run_s"]).mean()
    assert f", {duration(queued_s)} of it pending, of which " in lead(group_runs([srtf]))


@pytest.mark.parametrize(
    ("p99", "worst", "said"),
    [
        (1.0, 1.0000004, "a fair share: 1 under fifo; the worst: 1 under fifo."),
        (1.0004, 12.345, "a fair share: 1.0004 under fifo; the worst: 12.3 under fifo."),
        (0.91, 1.002, "a fair share: 0.91 under fifo; the worst: 1.002 under fifo."),
    ],
)
def test_the_fairness_of_a_run_is_not_rounded_to_1(p99: float, worst: float, said: str) -> None:
    first = SimpleNamespace(summary={"fairness_rho_p99": p99, "fairness_rho_max": worst})
    group: Any = SimpleNamespace(label="fifo", first=first)
    assert _rho_sentence([group]).endswith(said)


def test_what_was_counted_is_said(fifo: Result) -> None:
    said = dict(facts(group_runs([fifo])))
    assert said["Seed"] == "1"
    assert said["Counted"].endswith("after the first, all of which ran to their end.")
    half_s = fifo.jobs["submit_s"].max() / 2
    said = dict(facts(group_runs([fifo], (half_s, float("inf")))))
    assert said["Counted"].endswith("also run, because they add to the queue.")
    cut = fifo.jobs.with_columns(state=pl.when(pl.col("row") < 3).then(pl.lit("RUNNING")).otherwise("state"))
    said = dict(facts(group_runs([Result(cut, fifo.events, fifo.series, fifo.info)])))
    assert said["Counted"].startswith("400 of 400 jobs")
    assert said["Counted"].endswith("Not run to their end: 3 of 400 jobs under fifo; times leave these out.")


def test_a_converted_or_generated_log_says_where_its_jobs_came_from() -> None:
    result = simulate([Job(0, 0, 1, 10)], nodes=1, size=8)
    origin = {"source": "generated like philly", "sha256": "", "format": "generated", "command": "generate(seed=3)"}
    result.info["workload"] = {"source": "out/jobs.parquet", "sha256": "ab" * 32, "format": "parquet", "origin": origin}
    told = dict(facts(group_runs([result])))["Workload"]
    assert told == "jobs.parquet, sha256 abababababab…; its jobs: generated like philly, generate(seed=3)"


def test_the_page_has_gpu_time_and_places_and_defines_its_columns(
    many: list[Result], draw_only: Callable[..., None]
) -> None:
    draw_only()
    comparison = compare(many)
    html = make_page(comparison.groups, comparison=comparison).html
    assert "<h3>GPU time</h3>" in html and "<h3>Where jobs ran</h3>" in html
    assert '<td class="left">one node</td>' in html
    for term in ("To baseline", "Above bound", "Allocated, productive", "GPUs in use", "GPU-hours lost"):
        assert f"<dt>{term}</dt>" in html


def test_the_interval_of_checkpoints_says_what_it_is_for(fifo: Result) -> None:
    costs = {"start_s": 10.0, "checkpoint_every_s": 1800.0}
    own = Result(fifo.jobs, fifo.events, fifo.series, fifo.info | {"overheads": costs})
    said = "start 10 s, checkpoint every 30 min against node failures (a preempted job writes a checkpoint first)"
    assert dict(facts(group_runs([own])))["Overheads"] == said


@pytest.mark.parametrize(
    ("nodes", "said"), [(64, "a node"), (72, "1 or 2 neighbouring nodes"), (128, "2 neighbouring nodes")]
)
def test_a_row_of_the_heat_map_says_how_many_nodes_it_is(nodes: int, said: str) -> None:
    assert _nodes_of_a_row(nodes) == said
    assert said == "a node" or set(np.bincount(node_rows(nodes))) == {int(n) for n in said.split() if n.isdigit()}


def test_twenty_policies_look_different() -> None:
    lines = [style.line(i) for i in range(20)]
    for looks in ([("color", "linestyle")], [("color", "marker")], [("linestyle", "marker")]):
        assert len({tuple(map(str, (line[a], line[b]))) for line in lines for a, b in looks}) == 20
    assert len({(bar["edgecolor"], bar["hatch"]) for bar in map(style.bar, range(20))}) == 20


def test_what_nobody_did_is_left_out(draw_only: Callable[..., None]) -> None:
    """Nobody waits, and the log names neither users nor queues."""
    draw_only("1-jct-cdf", "5b-tenants")
    page = make_page(group_runs([simulate([Job(0, 0, 1, 100), Job(1, 10, 1, 100)], nodes=1, size=8, policy="fifo")]))
    assert "Longest waits" not in page.html
    assert [drawing.name for drawing in page.drawings] == ["1-jct-cdf"], "no shares of tenants"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "under fifo: -"),
        ({"told_profiles": "true"}, "under fifo, which uses true model profiles: -"),
        (
            {"knowledge": "oracle", "told_profiles": "lognormal:0.3"},
            "which uses true durations and model profiles with errors (lognormal:0.3): -",
        ),
    ],
)
def test_the_sentence_says_what_the_best_policy_knew(told: dict[str, str], said: str) -> None:
    fast, slow = (simulate(busy_jobs(100, 1), nodes=8, size=8, policy=policy, seed=1) for policy in ("fifo", "fifo"))
    later = slow.jobs.with_columns(pl.col("jct_s", "end_s") + 60.0)
    best = Result(fast.jobs, fast.events, fast.series, fast.info | told)
    base = Result(later, slow.events, slow.series, slow.info | {"policy": "late"})
    assert said in lead(group_runs([base, best]))
