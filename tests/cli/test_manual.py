"""The manual page has every command and option of ``--help``, and roff understands it."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
import typer.main

from pointsman.cli.app import app
from pointsman.cli.manual import _text, manual


def parameters(group: object, path: str = "pointsman") -> Iterator[tuple[str, str]]:
    """Every command that is shown in ``--help``, and each of its options that is."""
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from parameters(command, f"{path} {name}")
        else:
            for parameter in command.params:
                if parameter.param_type_name == "option" and not parameter.hidden:
                    yield f"{path} {name}", max(parameter.opts, key=len)


@pytest.fixture(scope="module")
def page() -> str:
    return manual()


def test_every_option_stands_below_its_command(page: str) -> None:
    sections = {}
    for part in page.replace(r"\-", "-").split("\n.SS ")[1:]:
        words = part.splitlines()[0].strip('"').split()
        command = " ".join(word for word in words if re.fullmatch("[a-z-]+", word))
        sections[command] = re.findall(r"^\\fB(.*)\\fR$", part, re.M)
    wanted = list(parameters(typer.main.get_command(app)))
    assert len(wanted) > 100
    missing = [
        (command, option)
        for command, option in wanted
        if not any(re.search(rf"(^|[ ,/]){option}($|[ ,/])", names) for names in sections.get(command, []))
    ]
    assert missing == []


def test_lines_of_text_are_no_requests() -> None:
    assert _text(".TH is text") == r"\&.TH is text"
    assert _text("a\n.b") == "a .b"
    assert _text(r"C:\n – x-y") == r"C:\en \[u2013] x\-y"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_roff_renders_it_without_a_warning(page: str) -> None:
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--profile-error SIGMA" in re.sub(".\b", "", done.stdout)  # bold letters are struck twice
