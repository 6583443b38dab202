"""Tables for other documents."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pointsman import generate
from pointsman.report import compare
from pointsman.report.tables.tables import Table
from tests.free import simulate

TABLE = Table("50 % of it", ("policy", "mean JCT", "to baseline"), [("a_b|c", "2 h", "−3 %")], "Baseline: a_b & c.")


def test_a_table_of_markdown_has_its_title_and_note() -> None:
    assert TABLE.to_markdown() == (
        "50 % of it\n\n| policy | mean JCT | to baseline |\n| :-- | --: | --: |\n| a_b\\|c | 2 h | −3 % |\n\n"
        "Baseline: a_b & c.\n"
    )


def test_a_table_of_latex_has_rules_of_booktabs_and_no_character_that_latex_reads() -> None:
    assert TABLE.to_latex().splitlines() == [
        "% 50 % of it", "% Baseline: a_b & c.", r"\begin{tabular}{lrr}", r"\toprule",
        r"policy & mean JCT & to baseline \\", r"\midrule", r"a\_b|c & 2 h & $-$3 \% \\", r"\bottomrule",
        r"\end{tabular}",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_latex_sets_it(tmp_path: Path) -> None:
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    (tmp_path / "a.tex").write_text(f"{head}\n{_comparison().to_latex()}\n\\end{{document}}\n")
    subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, capture_output=True)


def _comparison():
    jobs = generate("philly", jobs=60, cluster_gpus=16, load=1.2, seed=3)
    return compare([simulate(jobs, "4x4", policy) for policy in ("fifo-backfill", "las")])


def test_a_comparison_is_a_table_of_either() -> None:
    found = _comparison()
    rows = [line for line in found.to_markdown().splitlines() if line.startswith("|")]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == ["policy", ":--", "fifo-backfill", "las"]
    latex = found.to_latex()
    assert latex.count(r" \\") == 3 and "%" not in latex.partition(r"\begin")[2].replace(r"\%", "")
