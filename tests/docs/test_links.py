"""Links lead somewhere, the site builds, and the commands that pages name are those that there are."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from markdown.extensions.toc import slugify

from pointsman.cli.app import app

from .pages import FOR_CONTRIBUTORS, PAGES, ROOT, name

LINK = re.compile(r"\]\((?P<path>[^)#\s:]*)(?:#(?P<anchor>[^)\s]+))?\)")
COMMAND = re.compile(r"`pointsman (?P<words>[a-z][^`]*)`")
GUIDE = ROOT / "docs" / "guides" / "command-line.md"


@pytest.mark.parametrize("page", [*FOR_CONTRIBUTORS, *PAGES], ids=name)
def test_relative_links_and_anchors_resolve(page: Path) -> None:
    """In the repository; the site's own are checked by its build below."""
    for link in LINK.finditer(page.read_text()):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), link[0]
        assert link["anchor"] is None or link["anchor"] in anchors(target), link[0]


def anchors(page: Path) -> set[str]:
    return {slugify(heading, "-") for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.M)}


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES[1:])


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
