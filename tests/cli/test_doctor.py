import json
import shutil
from pathlib import Path

import pytest

from pointsman.cli import compiled

from .conftest import Command


def test_everything_is_found(command: Command) -> None:
    done = command("doctor", "--format", "json")
    findings = {finding["check"]: finding for finding in json.loads(done.out)}
    assert (done.code, [f for f in findings.values() if f["state"] == "broken"]) == (0, [])
    assert findings["simulation"]["found"] == "three jobs under fifo end when they should"
    assert findings["numba"]["found"][0].isdigit()


def test_a_missing_browser_is_no_failure(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    done = command("doctor", "--format", "json")
    (browser,) = (finding for finding in json.loads(done.out) if finding["check"] == "browser")
    assert (done.code, browser["state"]) == (0, "missing")


def test_what_is_broken_is_named_and_is_exit_code_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: object, **options: object) -> None:
        raise ArithmeticError("two and two are five")

    monkeypatch.setattr("pointsman.api.simulate", wrong)
    done = command("doctor")
    assert (done.code, "broken: simulation" in done.err) == (1, True)
    assert "ArithmeticError: two and two are five" in done.out


@pytest.mark.parametrize(
    ("missing", "said"),
    [(0, ""), (1, "compiling 1 part of the simulator, "), (3, "compiling 3 parts of the simulator, ")],
)
def test_a_command_says_how_much_it_must_compile(missing: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    compiled._announce(missing)
    assert said in capsys.readouterr().err if said else not capsys.readouterr().err


def test_after_a_warmup_nothing_is_left_to_compile(command: Command, here: Path) -> None:
    assert command("warmup").code == 0
    assert "100 %" not in command("warmup").err
    (here / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,1\n")
    done = command("compare", "jobs.csv", "--cluster", "1x1", "--policy", "all")
    assert (done.code, "compiling" in done.err) == (0, False)
