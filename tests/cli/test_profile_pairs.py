import csv
import io
import json
from pathlib import Path

import pytest

from pointsman.speed import load_catalogue, load_interference

from .conftest import Command

PAGE = Path(__file__).parents[2] / "docs" / "formats" / "pairs.md"

HEADER = "gpu_type,model_a,model_b,norm_a,norm_b\n"


@pytest.fixture
def measured(here: Path) -> str:
    """Three models, one of them ours; nobody ran resnet50 beside itself."""
    rows = ("bert,bert,0.5,0.5", "bert,resnet50,0.4,0.8", "bert,ours,0.8,1.02", "ours,ours,0.9,0.9")
    more = ("ours,resnet50,0.7,0.95", "bert,resnet50,0.5,0.8")
    (here / "p.csv").write_text(HEADER + "".join(f"a100,{row}\n" for row in rows + more))
    return "p.csv"


def test_the_shipped_table_by_type_and_pair(command: Command) -> None:
    done = command("profile", "pairs")
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["a3c", "1.96", "1.57", "2.00", "1.54", "1.34", "5.08", "1.16"] in lines
    summary = next(line for line in lines if line[:2] == ["v100", "49"])
    assert summary[2:6] == ["0", "1.548", "1.601", "57.14"]
    assert "*" not in done.out


def test_the_same_as_csv_and_json(command: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(command("profile", "pairs", "--format", "csv").out)))
    assert len(rows) == 147
    assert {row["measured"] for row in rows} == {"True"}
    data = json.loads(command("profile", "pairs", "--format", "json").out)
    assert [len(data[part]) for part in ("pairs", "laws", "summary")] == [147, 21, 3]


def test_a_users_pairs_are_fitted_shown_and_written(command: Command, measured: str) -> None:
    done = command("profile", "pairs", measured, "-o", "mine.yaml", "--format", "json")
    assert done.code == 0, done.err
    pairs = {(p["model"], p["beside"]): p for p in json.loads(done.out)["pairs"]}
    assert pairs["bert", "resnet50"]["slow_down"] == pytest.approx(2.25)
    assert [pair for pair, row in pairs.items() if not row["measured"]] == [("resnet50", "resnet50")]
    assert pairs["resnet50", "resnet50"]["slow_down"] == pairs["resnet50", "resnet50"]["by_law"] > 1
    (summary,) = json.loads(done.out)["summary"]
    assert (summary["pairs"], summary["by_law"]) == (8, 1)
    assert summary["pays_pct"] == 80, "but bert beside bert"
    assert "1 of 12 speeds are above the speed alone" in done.err
    assert "not in the catalogue: ours; " in done.err
    assert "mine.yaml: use it with --interference mine.yaml" in done.err
    assert "source: 'measured: p.csv'" in Path("mine.yaml").read_text()
    table = command("profile", "pairs", measured).out
    assert (table.count("*"), table.count("* by the law, not measured")) == (2, 1)
    taken = command("profile", "pairs", measured, "-o", "mine.yaml")
    assert (taken.code, "exists already" in taken.err) == (2, True)
    assert command("profile", "pairs", measured, "-o", "mine.yaml", "--force").code == 0


def test_too_few_pairs_are_said_to_be_too_few(command: Command, here: Path) -> None:
    (here / "few.csv").write_text(HEADER + "t4,bert,gpt2,0.5,0.6\n")
    done = command("profile", "pairs", "few.csv")
    assert done.code == 0, done.err
    assert "t4: 2 pairs for 3 parameters; a meaningful law requires more pairs" in done.err
    assert "t4: 2 pairs are guessed, for no chain of measured pairs leads to them" in done.err


def test_bad_data_is_exit_3_with_file_and_line(command: Command, here: Path) -> None:
    (here / "bad.csv").write_text(HEADER + "t4,bert,gpt2,0.5,soon\n")
    done = command("profile", "pairs", "bad.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err == "pointsman: bad.csv:2: norm_b is 'soon' (a number above 0)\n"


def test_nothing_measured_and_nowhere_to_write(command: Command, measured: str) -> None:
    done = command("profile", "pairs", "-o", "mine.yaml")
    assert (done.code, "there is no FILE" in done.err) == (2, True)
    assert not Path("mine.yaml").exists()
    assert command("profile", "pairs", measured, "-o", "nowhere/mine.yaml").code == 2


def test_the_examples_of_the_page_are_read(command: Command, here: Path) -> None:
    blocks = PAGE.read_text().split("```")
    (here / "page.csv").write_text(blocks[1].removeprefix("text\n"))
    (here / "page.yaml").write_text(blocks[3].removeprefix("yaml\n"))
    done = command("profile", "pairs", "page.csv", "-o", "out.yaml")
    assert (done.code, "use it with --interference out.yaml" in done.err) == (0, True)
    example = load_interference("page.yaml", load_catalogue())
    assert example.slow_down("a100", "gpt2", "resnet50") == 2.083
