import json
from pathlib import Path

import pytest

from .conftest import Command

DOCS = Path(__file__).parents[2] / "docs"


def python_blocks(page: str) -> list[str]:
    return [block.split("```")[0] for block in (DOCS / page).read_text().split("```python\n")[1:]]


def jct_mean_s(command: Command, jobs: str, policy: str, *more: str) -> float:
    given = ("--cluster", "2x4", "--policy", policy, "--audit", "--format", "json", *more)
    done = command("simulate", jobs, *given)
    assert done.code == 0, done.err
    return json.loads(done.out)["jct_mean_s"]


def test_the_python_policy_of_the_guide_runs(command: Command, jobs: str, here: Path) -> None:
    (here / "guide.py").write_text(python_blocks("guides/write-a-policy.md")[0])
    patient = jct_mean_s(command, jobs, "guide.py:OldestFirst")
    assert patient == jct_mean_s(command, jobs, "fifo-backfill")
    hasty = jct_mean_s(command, jobs, "guide.py:OldestFirst", "--set", "oldest-first.patience_s=5")
    assert hasty != patient


@pytest.mark.slow
def test_the_compiled_policy_of_the_guide_runs(command: Command, jobs: str, here: Path) -> None:
    (here / "lifo.py").write_text(python_blocks("guides/write-a-policy.md")[1])
    assert jct_mean_s(command, jobs, "lifo.py:Lifo", "--set", "lifo.reverse=false") == jct_mean_s(
        command, jobs, "fifo-backfill"
    )
    assert jct_mean_s(command, jobs, "lifo.py:Lifo") != jct_mean_s(command, jobs, "fifo-backfill")
    assert "reverse" in command("policy", "show", "lifo.py:Lifo").out


def test_the_experiment_and_the_overheads_of_their_pages_are_valid(command: Command, here: Path) -> None:
    for page in ("experiment", "overheads"):
        text = (DOCS / "formats" / f"{page}.md").read_text().split("```yaml\n")[1].split("```")[0]
        (here / f"{page}.yaml").write_text(text.replace("my_policy.py:MyPolicy", "las").replace("cluster.yaml", "4x8"))
    done = command("compare", "-c", "experiment.yaml", "--overheads", "overheads.yaml", "--dry-run")
    assert done.code == 0, done.err
