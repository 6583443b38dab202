"""``pointsman capacity --savings``.

Nodes have one GPU. Two jobs of 100 s and two of 10 s come at once. On two GPUs `fifo` has JCTs 100, 100, 110 and 110:
mean 105, and 110 in the 99th percentile. `sjf` has 10, 20, 120 and 220 on one GPU, mean 92.5, and on two the same tail
as `fifo`. So it saves one GPU for an equal mean, and none for an equal tail.
"""

import csv
import json
from pathlib import Path

import pytest

from .conftest import Command

FOUR = "submit_s,gpus,duration_s\n0,1,100\n0,1,100\n0,1,10\n0,1,10\n"
PREEMPTED = "submit_s,gpus,duration_s\n0,1,100\n50,1,10\n"
"""As in ``test_price``: on one GPU `fifo` has a mean of 80 s; `srtf` 60, and 85 where the long job loses 50 s."""
WHOLE = ("--cluster", "2x1", "--policy", "fifo", "--policy", "sjf", "--savings")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_worked_by_hand(command: Command, here: Path) -> None:
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    done = command("capacity", "four.csv", *WHOLE, "--format", "csv")
    assert done.code == 0, done.err
    found = {
        row["metric"]: (row["policy"], float(row["limit_s"]), row["gpus"], row["saved_gpus"]) for row in rows(done.out)
    }
    assert found["jct_mean_s"] == ("sjf", 105.0, "1", "1")
    assert found["jct_p99_s"] == ("sjf", 110.0, "2", "0")


def test_a_table_and_a_file(command: Command, here: Path) -> None:
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    done = command("capacity", "four.csv", *WHOLE, "-o", "saved")
    said = " ".join(done.out.split())
    assert "sjf nothing lost 1 1 (50.0 %) 2 0 (0.0 %)" in said
    assert "Compared with fifo on all 2 GPUs, at the same interval between checkpoints." in said
    assert len(rows(Path("saved/savings.csv").read_text())) == 2
    assert json.loads(Path("saved/manifest.json").read_text())["target"] == "savings"
    assert "table: saved/savings.csv" in done.err


def test_preemption_has_its_price(command: Command, here: Path) -> None:
    Path("two.csv").write_text(PREEMPTED, encoding="utf-8")
    args = ("capacity", "two.csv", "--cluster", "1x1", "--policy", "fifo", "--policy", "srtf", "--savings")
    done = command(*args, "--price", "0,60", "--format", "csv")
    assert done.code == 0, done.err
    saved = {(row["metric"], float(row["checkpoint_every_s"])): int(row["saved_gpus"]) for row in rows(done.out)}
    assert saved == {
        ("jct_mean_s", 0.0): 0, ("jct_mean_s", 60.0): -1, ("jct_p99_s", 0.0): -1, ("jct_p99_s", 60.0): -1,
    }  # fmt: skip
    Path("costs.yaml").write_text("lost_s: 5\n", encoding="utf-8")
    said = command(*args, "--price", "0", "--overheads", "costs.yaml").out
    assert "5 s lost" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--savings"], "--savings compares with the first policy and needs a second: add --policy NAME"),
        (["--savings", "--policy", "sjf", "--price", "soon"], "'soon' is no duration"),
        (["--savings", "--policy", "sjf", "--target", "jct_mean_s<=1h"], "leave out --target, or --savings"),
        (["--policy", "sjf", "--price", "1h"], "--price requires --savings here"),
    ],
)
def test_what_is_refused(more: list[str], said: str, command: Command, here: Path) -> None:
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    done = command("capacity", "four.csv", *WHOLE[:4], *more)
    assert (done.code, said in done.err, done.out) == (2, True, ""), done.err
