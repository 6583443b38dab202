"""Links lead somewhere, the site builds, and the commands that pages name are those that there are."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from markdown.extensions.toc import slugify

import pointsman
from pointsman.cli.app import app

from .pages import FOR_CONTRIBUTORS, PAGES, ROOT, name

LINK = re.compile(r"\]\((?P<path>[^)#\s:]*)(?:#(?P<anchor>[^)\s]+))?\)")
COMMAND = re.compile(r"`pointsman (?P<words>[a-z][^`]*)`")
GUIDE = ROOT / "docs" / "guides" / "command-line.md"


@pytest.mark.parametrize("page", [*FOR_CONTRIBUTORS, *PAGES], ids=name)
def test_relative_links_and_anchors_resolve(page: Path) -> None:
    """In the repository; the site's own are looked at by mkdocs below."""
    for link in LINK.finditer(page.read_text()):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), link[0]
        assert link["anchor"] is None or link["anchor"] in anchors(target), link[0]


def anchors(page: Path) -> set[str]:
    return {slugify(heading, "-") for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.M)}


@pytest.mark.slow  # "make docs" builds it too
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(Path(pointsman.__file__).parents[1])}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def verbs(group: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Every command that is shown in ``--help``, and its options."""
    for verb, command in group.commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from verbs(command, (*path, verb))
        else:
            yield (*path, verb), {option for parameter in command.params for option in parameter.opts}


VERBS = dict(verbs(typer.main.get_command(app)))


def test_the_guide_names_every_command() -> None:
    lines = GUIDE.read_text().split("```text\n")[1].split("```")[0].splitlines()
    for verb in VERBS:
        assert any(re.match(rf"pointsman (.* )?{' +(.* )?'.join(verb)}\b", line) for line in lines), verb


@pytest.mark.parametrize("page", [*FOR_CONTRIBUTORS, *PAGES], ids=name)
def test_commands_named_in_passing_exist(page: Path) -> None:
    """``pointsman compare --fail-if`` in a sentence is a command, with an option that it has."""
    for found in COMMAND.finditer(page.read_text()):
        words = found["words"].split()
        verb = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in VERBS), None)
        group = any(known[0] == words[0] for known in VERBS) and len(words) == 1
        assert verb or group, found[0]
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert options <= VERBS.get(verb or (), set()), found[0]
