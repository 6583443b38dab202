"""What is advised, and what is not: a queue whose waits are known by hand."""

from pathlib import Path

import pytest

import pointsman
from pointsman.engine.run.logged import as_logged
from pointsman.report.metrics.paired.differences import Difference
from pointsman.report.pages.advice import Advice
from pointsman.report.pages.page import make_page
from pointsman.report.tables.advice import advice_table, fit_table, reading
from tests.free import simulate
from tests.report.metrics.calibration.logs import log
from tests.report.pages.test_page import browse, needs_chromium

JOBS = 120
LONG_S, SHORT_S = 190.0, 10.0


def queue(slower: float) -> pointsman.Workload:
    """Long and short jobs in turn, all there at the start, on one GPU: in the log they start later by this factor than
    they could one after another.
    """
    rows, start = [], 0.0
    for k in range(JOBS):
        lasts = SHORT_S if k % 2 else LONG_S
        rows.append((0, 1, lasts, slower * start, slower * start + lasts))
        start += lasts
    return log(*rows, user=["ann" if k % 2 else "bob" for k in range(JOBS)])


def advised(slower: float, *policies: str) -> Advice:
    """By the log, with `fifo` for the present scheduler."""
    workload = queue(slower)
    runs = [simulate(workload, "1x1", policy) for policy in ("fifo", *policies)]
    return Advice(pointsman.compare([as_logged(workload, runs[0]), *runs]), ["weights are assumed"])


def test_a_gain_beyond_the_error_of_the_model_is_advised() -> None:
    """The mean wait is 5,995 s simulated, a tenth more in the log, and much less if short jobs go first."""
    found = advised(1.1, "sjf")
    assert (found.policy, found.is_to_change) == ("sjf", True)
    assert str(found).startswith("Advice: run sjf instead of fifo: mean completion time -")
    assert "more than the 9.99 min by which the model misses the log" in str(found)
    assert "The largest group that loses under sjf: 60 jobs of user bob" in str(found)
    assert str(found).endswith("and rank correlation of waits 1.00.")
    row = advice_table(found.comparison, "sjf").rows[0]
    assert (row[0], row[4], row[5]) == ("mean JCT", "gain", "9.99 min")


def test_a_model_that_does_not_fit_is_no_ground_for_advice() -> None:
    found = advised(1.5, "sjf")
    assert (found.policy, found.is_to_change) == (None, False)
    assert found.lead == (
        "No advice: the model of the present scheduler (fifo) does not fit the log; beyond the limit: "
        "mean wait -33.3 % (limit ±25 %)."
    )
    assert str(found) == found.lead
    assert found.to_dict()["readings"] == {}
    rows = {row[0]: row[1:] for row in fit_table(found.verdict).rows}
    assert rows["mean wait"] == ("-33.3 %", "±25 %", "no")
    assert rows["rank correlation of waits"] == ("1.00", "0.6 or more", "yes")


def test_without_a_gain_the_present_scheduler_is_kept() -> None:
    found = advised(1.1, "fifo-backfill")
    assert (found.policy, found.is_to_change) == ("fifo-backfill", False)
    assert str(found).startswith("Advice: keep fifo. Under fifo-backfill mean completion time 0.0 %")
    assert "loses" not in str(found)


def test_other_policies_are_said_with_what_they_may_be_called() -> None:
    found = advised(1.1, "sjf", "fifo-backfill")
    assert " Mean completion time under other policies: fifo-backfill 0.0 %" in found.lead


@pytest.mark.parametrize(
    ("value", "interval", "error_s", "called"),
    [
        (-100.0, (-0.3, -0.1), 50.0, "gain"),
        (-100.0, (-0.3, -0.1), 100.0, "within error"),
        (-100.0, (-0.3, 0.1), 50.0, "may be chance"),
        (100.0, (0.1, 0.3), 50.0, "loss"),
        (100.0, (0.1, 0.3), 150.0, "within error"),
        (-100.0, None, 50.0, "gain"),
        (-100.0, (-0.3, -0.1), None, "–"),
        (0.0, (0.0, 0.0), 50.0, "no change"),
        (None, None, 50.0, "–"),
    ],
)
def test_a_change_is_called_a_gain_where_chance_and_the_model_do_not_explain_it(
    value: float | None, interval: tuple[float, float] | None, error_s: float | None, called: str
) -> None:
    assert reading(Difference(value, None, -0.2, interval, ""), error_s) == called


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take seconds."""
    monkeypatch.setattr("pointsman.report.pages.page.draw_all", lambda groups: [])


@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_the_page(no_figures: None, width: int, tmp_path: Path) -> None:
    found = advised(1.1, "sjf")
    page = tmp_path / "report.html"
    page.write_text(make_page(found.comparison.groups, comparison=found.comparison, advice=found).html)
    seen, console = browse(page, tmp_path, f"--window-size={width},900")
    assert (console, seen["wide"], seen["twice"]) == ([], False, 0)


def test_the_page_says_how_well_the_model_fits(no_figures: None) -> None:
    found = advised(1.1, "sjf")
    html = make_page(found.comparison.groups, comparison=found.comparison, advice=found).html
    assert f'<p class="lead">{found.lead}</p>' in html
    places = [html.index(f'id="{name}"') for name in ("result", "fit", "losers", "calibration")]
    assert places == sorted(places)
    section = html[places[1] : places[2]]
    for said in ("fits the log within every limit", "weights are assumed", "reservations, holds", "Mean wait by tenth"):
        assert said in section
    without = make_page(found.comparison.groups, comparison=found.comparison).html
    assert 'id="fit"' not in without
