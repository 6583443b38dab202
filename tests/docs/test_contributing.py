"""What contributors, their hooks and the workflow are told to run exists, and is one and the same."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from .pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def recipe(target: str) -> list[str]:
    """The commands of a target; none if there is no such target."""
    found = re.search(rf"^{re.escape(target)}:.*\n((?:\t.*\n)*)", MAKEFILE, re.M)
    return found[1].splitlines() if found else []


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) <= 900


def test_make_targets_exist() -> None:
    targets = re.findall(r"^(?:\$ |.*`)make ([\w.-]+)", PAGE, re.M)
    assert len(targets) > 5
    assert [target for target in targets if not re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M)] == []


def test_tests_to_run_exist() -> None:
    tests = re.findall(r"tests/[\w/.]+\w", PAGE)
    assert len(tests) > 10
    assert [path for path in tests if not (ROOT / path).exists()] == []


def test_files_to_edit_exist() -> None:
    edited = re.findall(r"^\| an? .*? \| `([^`]+)` \|", PAGE, re.M)
    assert len(edited) == 10
    package = ROOT / "src" / "pointsman"
    assert [path for path in edited if not (package / path.replace("/FAMILY", "")).exists()] == []


def test_hooks_are_the_linters_of_make_lint() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    run = {tool(hook["entry"]) for hook in hooks}
    assert run == {tool(line.strip().replace("$(BIN)", ".venv/bin")) for line in recipe("lint")}


def tool(command: str) -> tuple[str, ...]:
    """The program and its verb, without options and files."""
    return tuple(word for word in command.split() if word[:2] != "--" and word not in (".", "src"))


def commands(workflow: Any) -> Iterator[str]:
    for job in workflow["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


def test_the_workflow_calls_make_targets_and_nothing_else() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    called = list(commands(workflow))
    targets = [word for line in called for word in line.split()[1:] if "=" not in word]
    assert {line.split()[0] for line in called} == {"make"}
    assert {"lint", "test", "coverage", "wheel", "docs"} <= set(targets)
    assert [target for target in targets if not re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M)] == []
