"""What an observing daemon has found: the figures, the words and the page."""

import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pointsman.errors import InputError
from pointsman.live.observe.advising import TAKEN_BACK
from pointsman.live.records.store import Store
from pointsman.live.report.as_data import findings_data
from pointsman.live.report.figure import step_s, steps
from pointsman.live.report.findings import (
    Advice,
    Cost,
    Findings,
    by_account,
    by_bucket,
    by_hour,
    by_partition,
    median_error_s,
)
from pointsman.live.report.page import page
from pointsman.live.report.reading import read_findings
from pointsman.live.report.tables import differences_table, foretold_table
from pointsman.live.report.words import differing, lead, limits
from pointsman.report.metrics.counted import BUCKETS
from tests.report.pages.test_page import Links, browse, needs_chromium

from .kept import BEGAN_S, LAST_S, SETTINGS, fill
from .test_observe import observed


@pytest.fixture(scope="module", autouse=True)
def in_utc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("kept") / "store")


@pytest.fixture(scope="module")
def found(store: Path) -> Findings:
    return read_findings(store)


def test_the_span_is_from_the_first_decision_to_the_last_that_is_known(found: Findings) -> None:
    assert (found.first_s, found.last_s) == (BEGAN_S + 1800, BEGAN_S + LAST_S)
    assert (found.policy, found.gpus, found.nodes) == ("gittins", 8, 2)


def test_agreement_counts_starts(found: Findings) -> None:
    assert (found.agreement.starts, found.agreement.agreed, found.agreement.share) == (5, 1, 0.2)
    assert len(found.left_free) == 1
    by_gpus = [(one.name, one.starts, one.agreed) for one in found.agreements(by_bucket, BUCKETS.index)]
    assert by_gpus == [("1", 2, 0), ("2", 1, 0), ("3-4", 2, 1)]
    assert [(one.name, one.starts, one.agreed) for one in found.agreements(by_partition)] == [("a", 4, 1), ("b", 1, 0)]
    assert [one.name for one in found.agreements(by_account)] == [""]
    assert [one.starts for one in found.agreements(by_hour)] == [3, 2]


def test_starts_that_were_seen_too_late_are_counted(found: Findings) -> None:
    """Of jobs 3, 5, 8 and 9: none of the decisions is about their starts."""
    assert found.unjudged == 4
    assert "4 starts were seen after" in limits(found)[-1]


def test_a_job_that_was_passed_over_counts_once_by_how_long_it_then_waited(found: Findings) -> None:
    rows = [(one.job.shown, one.waited_s, one.begun, one.times) for one in found.differences()]
    assert rows == [
        ("810", 5170.0, False, 1),
        ("803", 3600.0, True, 2),
        ("805", 100.0, True, 1),
        ("808", 50.0, True, 1),
    ]
    assert found.differences()[1].said == "Slurm started 802; gittins would have started 803"
    table = differences_table(found, 2)
    assert [row[0] for row in table.rows] == ["810", "803"]
    assert table.rows[0][4] == ">\N{NO-BREAK SPACE}1.44 h"
    assert table.note == "2 of 4 jobs, by how long they then waited."


def test_worths_are_summed_up_by_their_median_and_what_is_sure(found: Findings) -> None:
    assert [(one.is_gain, one.is_loss) for one in found.worths] == [(True, False), (False, False), (False, True)]
    said = lead(found)
    assert "would have ended 30 s sooner (-10.0 %) on average, the median of 3 hourly estimates." in said
    assert "The whole 90 % interval is a gain in 1 of 3, and a loss in 1." in said


def test_predicted_starts_are_kept_early_or_late(found: Findings) -> None:
    told = found.foretold
    assert [one.is_kept for one in told] == [True, False, False, True, True, False]
    assert [one.is_early for one in told] == [False, False, True, False, False, False]
    assert [one.is_late for one in told] == [False, True, False, False, False, True]
    assert median_error_s(told) == (200 + 600) / 2  # of 0, 200, 600 and 1500
    rows = [row[:3] for row in foretold_table(found).rows]
    assert rows == [
        ("at most 10 min", "3", "66.7 %"), ("10 min to 1 h", "2", "0.0 %"), ("more than 6 h", "1", "100.0 %")
    ]  # fmt: skip
    assert "3 of 6 predicted starts (50.0 %) came within their 90 % range, too few to judge by." in lead(found)


def test_ranges_that_hold_too_few_are_not_to_be_relied_on(found: Findings) -> None:
    kept, *_, late = found.foretold
    for many, said in ((16, "(80.0 %) came within their 90 % range. "), (15, "range, so do not rely on them yet.")):
        assert said in lead(replace(found, foretold=[kept] * many + [late] * (20 - many)))


def test_requests_are_of_the_time_in_which_it_was_looked(found: Findings) -> None:
    """Half of the first hour, and all of the second."""
    assert found.all_costs == Cost("", 50.0, 60.0, 0.5)
    assert [one.command for one in found.costs] == ["squeue", "sinfo"]
    assert found.costs[0] == Cost("squeue", pytest.approx(4200 / 90), 60.0, 0.5)  # ty: ignore
    assert found.costs[1].most_a_minute == 10.0
    assert "Observing cost the controller 50 requests a minute, 60 in the highest hour" in lead(found)
    assert "Alarms: 1." in lead(found)


def test_the_paragraph_begins_with_agreement(found: Findings) -> None:
    said = lead(found)
    assert said.startswith("Over 1.5 h gittins would have made 1 of Slurm's 5 starts (20.0 %) at the same moment. ")
    assert "In 1 of the others, the jobs that it preferred began within a minute anyway." in said
    assert "1 time Slurm left GPUs free for a minute or more that gittins would have used." in said
    assert differing(found) == (
        "Of 4 starts that gittins would not have made, it preferred other jobs in 3; in 1 it would have let the job "
        "wait, or preempted others."
    )


def test_that_agreement_is_partly_our_own_doing_is_said(tmp_path: Path) -> None:
    """Changes that were taken back are none, nor are those before the policy was last changed."""
    store = Store(fill(tmp_path / "store"))
    with store.turn():
        before_ms = 1000 * 1700
        for at_ms, unit, detail in ((before_ms, "1", "0 to 5"), (3_000_000, "801", "0 to 5"),
                                    (3_100_000, "801", "5 to 7"), (3_200_000, "802", "0 to 1"),
                                    (3_300_000, "802", TAKEN_BACK)):  # fmt: skip
            store.note_order(at_ms, -1, "nice", unit, detail)
    store.close()
    found = read_findings(tmp_path / "store")
    said = "Priorities of 2 jobs were changed 3 times meanwhile (--advise), so agreement is partly their effect."
    assert found.advice == Advice(3, 2) and said in lead(found) and said in page(found)
    assert findings_data(found)["advice"] == {"changes": 3, "jobs": 2}


def test_agreement_over_time_has_all_starts(found: Findings) -> None:
    assert step_s(found) == 600.0
    assert [(one.name, one.starts, one.agreed) for one in steps(found)] == [("0", 3, 1), ("3", 1, 0), ("8", 1, 0)]


# -- which store ------------------------------------------------------------------------------------------


def test_only_what_was_decided_by_the_present_policy_counts(tmp_path: Path) -> None:
    store = Store(fill(tmp_path / "store"))
    with store.turn():
        store.note_order(3_500_000, 0, "policy", "gittins")
    store.close()
    found = read_findings(tmp_path / "store")
    assert (found.agreement.starts, len(found.left_free), len(found.worths), found.alarms) == (2, 0, 1, [])
    assert list(found.foretold) == []


def test_it_is_read_beside_its_owner(tmp_path: Path) -> None:
    owner = Store(fill(tmp_path / "store"))
    with owner.turn():
        owner.connection.execute("UPDATE decisions SET agrees = 1 WHERE job = 2")
    assert read_findings(tmp_path / "store").agreement.agreed == 2
    owner.close()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM decisions", "no decision of the observed scheduler has been seen yet"),
        ("UPDATE meta SET value = 'run' WHERE key = 'sort'", "the jobs of this store really run, so nothing was"),
        ("DELETE FROM meta", "no daemon has kept anything here, so nothing was observed"),
        ("PRAGMA user_version = 4", "the store has version 4 (start a daemon of this Pointsman once)"),
        ("DROP TABLE looks", "this is no store of live jobs: no such table: looks"),
    ],
)
def test_a_store_that_cannot_be_reported_says_why(sql: str, said: str, tmp_path: Path) -> None:
    fill(tmp_path / "store")
    with sqlite3.connect(tmp_path / "store") as connection:
        connection.execute(sql)
    with pytest.raises(InputError, match=re.escape(said)):
        read_findings(tmp_path / "store")


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the daemon's directory with --state"):
        read_findings(tmp_path / "store")
    assert [*tmp_path.iterdir()] == []


# -- a played cluster -------------------------------------------------------------------------------------


def test_a_played_cluster_is_reported_from_its_store(tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store", 80)
    instants = observer.played.instants()
    for now_ms in instants:
        observer.look(now_ms)
    with observer.store.turn():
        for key, value in (SETTINGS | {"cluster": observer.cluster.to_yaml()}).items():
            observer.store.keep_setting(key, value)
    found, kept = read_findings(tmp_path / "store"), observer.decisions()
    assert found.agreement.starts == sum(one["job"] is not None for one in kept)
    assert found.agreement.agreed == sum(one["agrees"] for one in kept) < found.agreement.starts
    assert sum(one.starts for one in found.agreements(by_bucket)) == found.agreement.starts
    assert found.unjudged == 0
    assert all(one.waited_s > 0 and one.begun for one in found.differences())
    for one in found.differences():
        begun_ms = [run.begin_unix_ms for run in observer.played.lives[int(one.job.shown) - 8000].runs]
        assert round(1000 * (one.since_s + one.waited_s - BEGAN_S)) in begun_ms
    assert _is_well_formed(page(found))


# -- the page ---------------------------------------------------------------------------------------------

VOID = {"meta", "link", "br", "img", "hr", "path", "use", "rect", "image"}


class Nesting(HTMLParser):
    """Whether every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


def _is_well_formed(html: str) -> bool:
    nesting = Nesting()
    nesting.feed(html)
    return not nesting.open and not nesting.wrong


def test_the_page_stands_alone_and_has_the_figures(found: Findings) -> None:
    html = page(found, "pointsman live report -o page.html")
    links = Links()
    links.feed(html)
    assert [link for link in links.found if not link.startswith("#")] == ["data:,"] and "<script" not in html
    assert _is_well_formed(html)
    text = re.sub(r"\s+", " ", html.replace("\N{NO-BREAK SPACE}", " "))
    for words in (
        "1 of Slurm&#39;s 5 starts (20.0 %)",
        "Slurm started 802",
        "Cost to the controller",
        "gittins failed",
    ):
        assert words in text
    assert html.count("<svg") == 1 and "This figure could not be drawn" not in html
    assert page(found, "pointsman live report -o page.html") == html


def test_without_worths_and_predictions_there_is_a_page(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    with sqlite3.connect(tmp_path / "store") as connection:
        for table in ("worths", "promises", "looks", "alarms"):
            connection.execute(f"DELETE FROM {table}")
    found = read_findings(tmp_path / "store")
    assert "What gittins would change has not been estimated yet" in lead(found)
    assert "requests" not in lead(found) and "predicted" not in lead(found)
    assert "could not be drawn" not in page(found)


@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_the_figure(width: int, found: Findings, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(found))
    seen, console = browse(tmp_path / "page.html", tmp_path, f"--window-size={width},900")
    assert (console, seen["wide"], seen["twice"]) == ([], False, 0)
    (figure,) = seen["seen"]
    assert figure["visible"] and figure["drawn"] > 20 and figure["cut"] == []
