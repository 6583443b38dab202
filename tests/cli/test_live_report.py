"""``pointsman live report`` and ``live decisions``: what a daemon has found that observes."""

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.kept import BEGAN_S, fill

from .conftest import Command

HEAD = "Over 1.5 h gittins would have made 1 of Slurm's 5 starts (20.0 %)"


@pytest.fixture(autouse=True)
def state(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of a daemon that has stopped."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    (here / "state").mkdir()
    yield fill(here / "state" / "store").parent
    monkeypatch.undo()
    time.tzset()


def test_it_prints_a_paragraph_and_two_tables(command: Command) -> None:
    done = command("live", "report", "--state", "state")
    assert (done.code, done.err) == (0, "")
    first, *rest = done.out.split("\n\n")
    assert first.startswith(HEAD) and "\n" not in first
    assert rest[0] == "Longest waits after gittins would have started the job"
    assert rest[1].split("\n")[1].split()[:3] == ["810", "1", "eve"]
    assert rest[2:3] == ["By GPUs of the job"]
    assert rest[3].splitlines()[1].split() == ["1", "2", "0", "0.0", "%"]


def test_markdown_and_json_say_the_same(command: Command) -> None:
    markdown = command("live", "report", "--state", "state", "--format", "markdown").out
    assert markdown.startswith(HEAD) and "| 3-4 | 2 | 1 | 50.0 % |" in markdown
    told = json.loads(command("live", "report", "--state", "state", "--format", "json").out)
    assert told["said"].startswith(HEAD)
    assert (told["agreement"]["starts"], told["agreement"]["agreed"], told["left_free"]) == (5, 1, 1)
    assert [row["name"] for row in told["agreement"]["by_partition"]] == ["a", "b"]
    assert told["predicted_starts"] == {
        "jobs": 6, "within_range": 3, "sooner": 1, "later": 2, "error_median_s": 400.0
    }  # fmt: skip
    assert [row["job_id"] for row in told["differences"]] == ["810", "803", "805", "808"]
    assert [row["change_s"] for row in told["worths"]] == [-60.0, -30.0, 20.0]
    assert told["requests"][-1]["a_minute"] == 50.0
    assert told["alarms"] == [{"at_s": BEGAN_S + 3000.0, "said": "gittins failed"}]


def test_the_page_is_written_and_not_replaced(command: Command, here: Path) -> None:
    write = ("live", "report", "--state", "state", "-o", "page.html")
    done = command(*write)
    assert (done.code, done.err) == (0, "report: page.html\n")
    page = (here / "page.html").read_text()
    assert HEAD.replace("'", "&#39;") in page and "<code>pointsman" in page
    again = command(*write)
    assert again.code == 2 and "page.html: exists already" in again.err
    assert command(*write, "--force").code == 0


def test_decisions_are_listed_with_their_sentences_the_newest_last(command: Command) -> None:
    done = command("live", "decisions", "--state", "state")
    head, *lines = done.out.splitlines()
    assert head.split() == ["TIME", "JOBID", "GPUS", "USER", "AGREES", "DECISION"]
    assert len(lines) == 6
    assert lines[0].split(maxsplit=5) == [
        "2025-11-24T16:30:00", "801", "4", "ann", "yes", "Slurm started 801, as gittins would have"
    ]  # fmt: skip
    assert lines[3].split(maxsplit=2)[1:] == ["no", "Slurm left GPUs free; gittins would have started 805"]
    assert lines[-1].endswith("no      Slurm started 807; gittins would have started 808")


def test_decisions_are_chosen(command: Command) -> None:
    rows = json.loads(command("live", "decisions", "--state", "state", "--last", "2", "--format", "json").out)
    assert [(row["job_id"], row["would_start"]) for row in rows] == [("806", []), ("807", ["808"])]
    differ = command("live", "decisions", "--state", "state", "--differ", "--format", "csv").out
    assert [row["job_id"] for row in csv.DictReader(differ.splitlines())] == ["802", "804", "", "806", "807"]
    assert command("live", "decisions", "--state", "state", "--last", "0").code == 2


@pytest.mark.parametrize("verb", ["report", "decisions"])
def test_a_directory_without_a_daemon_is_an_error_of_the_input(verb: str, command: Command) -> None:
    done = command("live", verb, "--state", "elsewhere")
    assert done.code == 3 and "name the daemon's directory with --state" in done.err
