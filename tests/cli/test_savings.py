"""``pointsman capacity --savings``.

Nodes have one GPU. Two jobs of 100 s and two of 10 s come at once. On two GPUs `fifo` has JCTs 100, 100, 110 and 110:
mean 105, and 110 in the 99th percentile. `sjf` has 10, 20, 120 and 220 on one GPU, mean 92.5, and on two the same tail
as `fifo`. So it saves one GPU for an equal mean, and none for an equal tail.
"""

import csv
import json
from pathlib import Path

import pytest

from pointsman.capacity.trials import Figures, figures_of
from pointsman.cluster import Cluster
from pointsman.experiment import CellSpec
from pointsman.sweeps.runs import Run
from pointsman.workload import Workload

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


def test_each_size_is_simulated_once(command: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the mean and the tail, and the whole cluster for both policies."""
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    simulated = []

    def figures(spec: CellSpec, workload: Workload, run: Run, cluster: Cluster, metrics: list[str]) -> Figures:
        simulated.append((run.label, cluster.gpus))
        return figures_of(spec, workload, run, cluster, metrics)

    monkeypatch.setattr("pointsman.capacity.trials.figures_of", figures)
    for more in ([], ["-o", "saved"]):
        command("capacity", "four.csv", "--cluster", "4x1", *WHOLE[2:], *more)
        assert sorted(simulated) == sorted(set(simulated)) and ("sjf", 4) in simulated and ("sjf", 2) in simulated
        simulated.clear()


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


def test_they_stand_on_the_page_of_a_comparison(command: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    table = command("capacity", "four.csv", *WHOLE, "-o", "saved").out.splitlines()[1].split()
    command("compare", "four.csv", *WHOLE[:-1], "-o", "both")
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    done = command("report", "both", "saved", "-o", "page")
    assert done.code == 0, done.err
    page = Path("page/report.html").read_text(encoding="utf-8")
    section = page[page.index('<h2 id="savings">GPUs saved</h2>') :]
    assert section.index("Compared with fifo on all 2 GPUs") < section.index("<h2 id", 1)
    assert [cell for cell in table if cell not in section] == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("saved", "-o", "page"), "report runs, and at most one directory of capacity --savings beside them"),
        (("both", "saved"), "savings are shown on a page: add -o DIR"),
        (("both", "target", "-o", "page"), "this is the answer to the target 'pending_mean_s<=1', not to --savings"),
        (("both", "torn", "-o", "page"), "this file is damaged"),
    ],
)
def test_what_cannot_be_shown(args: tuple[str, ...], said: str, command: Command, here: Path) -> None:
    Path("four.csv").write_text(FOUR, encoding="utf-8")
    for name in ("saved", "torn"):
        command("capacity", "four.csv", *WHOLE, "-o", name)
    command("capacity", "four.csv", *WHOLE[:-1], "--target", "pending_mean_s<=1", "-o", "target")
    command("compare", "four.csv", *WHOLE[:-1], "-o", "both")
    Path("torn/savings.csv").write_text("policy\nsjf\n", encoding="utf-8")
    done = command("report", *args)
    assert (done.code in (2, 3), said in done.err, done.out) == (True, True, ""), done.err


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
