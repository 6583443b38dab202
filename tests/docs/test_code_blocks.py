"""What the pages show works: Python runs, commands run and print what is shown, files are the files."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import pointsman
from pointsman.cli.run import run

from .pages import PAGES, ROOT, Command, blocks, commands, name, shows

LANGUAGES = {"python", "console", "sh", "text", "yaml", "toml", "sql"}
WITH_CODE = [page for page in PAGES if any(block.language in ("python", "console", "sh") for block in blocks(page))]
Execute = Callable[[Command], int]
LONG = (
    "tutorial",
    "sweeps",
    "learn-interference",
    "measure-sharing",
    "figures-for-papers",
    "generate",
    "sharing-gpus",
    "what-really-happened",
)
"""Guides with more to run than most; every day the code of all other pages is run."""


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_its_language(page: Path) -> None:
    """So that no example escapes the test below."""
    assert [block.where for block in blocks(page) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_command_is_cut_off(page: Path) -> None:
    """On the site, a screen of 1,280 px shows some 118 characters of a line."""
    lines = [line for block in blocks(page) for line in block.text.splitlines()]
    assert [line for line in lines if re.match(r"(\$|pointsman) ", line) and len(line) > 110] == []


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.stem in LONG else page for page in WITH_CODE],
    ids=name,
)
def test_the_code_of_the_page_works(page: Path, here: Path, execute: Execute) -> None:
    names: dict[str, object] = {"__name__": "page"}
    code = 0
    for block in blocks(page):
        if block.file is not None:
            assert block.text == (ROOT / block.file).read_text(), f"{block.where} is not {block.file}"
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        elif block.language in ("console", "sh"):
            for command in commands(block):
                if command.words == ("echo", "$?"):
                    assert command.shown == (str(code),), command.where
                    code = 0
                else:
                    assert code == 0, f"exit code {code} before {command.where}"
                    code = execute(command)
    assert code == 0


@pytest.fixture
def execute(capsys: pytest.CaptureFixture[str]) -> Execute:
    """Runs one command of a page, and compares what it prints with what is shown."""

    def done(command: Command) -> int:
        program, *arguments = command.words
        capsys.readouterr()
        if arguments[:1] in (["train"], ["measure"]) and find_spec("torch") is None:
            pytest.skip(f"{command.where}: PyTorch is not installed ('make learn')")
        if program.endswith("pointsman"):
            code, (out, err) = run(arguments), capsys.readouterr()
        elif program == "printf":
            made = subprocess.run(command.words, capture_output=True, text=True, check=True)
            code, out, err = made.returncode, made.stdout, made.stderr
        elif command.words[:2] == ("python", "-m") and not arguments[1].startswith("benchmarks"):
            code, out, err = _python(arguments)
        else:
            _assert_known(command)
            return 0
        assert code in (0, 4), f"{command.where}\nfails: {err}"
        if command.target:
            Path(command.target).write_text(out)
        elif command.shown:
            assert shows(command.shown, out), f"{command.where}\nprints\n{out}"
        return code

    return done


def _python(arguments: list[str]) -> tuple[int, str, str]:
    env = os.environ | {"PYTHONPATH": str(Path(pointsman.__file__).parents[1])}
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def _assert_known(command: Command) -> None:
    """What is not run: `make`, which makes environments; what measures for long; what is not ours."""
    program, *arguments = command.words
    if program == "make":
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), re.M), command.where
    elif program == "python" and arguments[0] != "-m":
        assert (ROOT / arguments[0]).is_file(), command.where
    elif program == "python":
        assert (ROOT / arguments[1].replace(".", "/")).with_suffix(".py").exists() or find_spec(arguments[1])
    else:
        assert program in ("source", "sacct", "scontrol"), f"{command.where}: no test knows this command"


def test_output_that_differs_from_what_is_shown_is_noticed() -> None:
    assert shows(("policy  jct", "...", "fifo    19.4 h"), "policy jct\n\nfifo      19.4 h  3 %\n")
    assert not shows(("fifo    19.4 h",), "fifo 19.45 h\n")
    assert not shows(("fifo    19.4 h",), "policy jct\nfifo 19.4 h\n")


@pytest.mark.parametrize("page", ["experiment", "overheads"])
def test_the_yaml_of_the_page_is_valid(page: str, here: Path) -> None:
    text = next(block.text for block in blocks(ROOT / "docs" / "formats" / f"{page}.md") if block.language == "yaml")
    (here / f"{page}.yaml").write_text(text.replace("my_policy.py:MyPolicy", "las"))
    given = {"experiment": ("-c", "experiment.yaml"), "overheads": ("my.log", "--cluster", "4x8", "--policy", "fifo")}
    more = ("--overheads", "overheads.yaml") if page == "overheads" else ()
    assert run(["compare", *given[page], *more, "--dry-run"]) == 0
