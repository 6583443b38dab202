"""Every command that a message suggests is run as its reader would run it, and no message is left out."""

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from pointsman.cli.app import app
from pointsman.errors import PointsmanError
from pointsman.live.client import VERBS
from pointsman.live.client.verbs import parser
from pointsman.report.figures.catalogue import KINDS
from tests.cli.suggestion_exceptions import ELSEWHERE, NO_COMMAND, OTHER_PROGRAMS, UNREACHED
from tests.cli.suggestion_files import FILES, PLACEHOLDERS, Suggestion
from tests.cli.suggestion_sources import COMMAND, FLAG, Message, messages
from tests.cli.suggestions_of_inputs import OF_INPUTS
from tests.cli.suggestions_of_logs import LOG_FILES, OF_LOGS
from tests.cli.suggestions_of_runs import OF_RUNS

from .conftest import Command, Done

SUGGESTIONS = [*OF_INPUTS, *OF_LOGS, *OF_RUNS]
USAGE = 2
"""The exit code of a command that is not accepted."""


@pytest.fixture
def ready(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with what readers have."""
    for name, text in (FILES | LOG_FILES).items():
        (here / name).write_text(text)
    monkeypatch.setattr("pointsman.report.figures.files.KINDS", KINDS[:1])  # each takes a second
    return here


def ran(command: Command, line: str) -> Done:
    for name, value in PLACEHOLDERS.items():
        line = re.sub(rf"(?<![\w.]){name}(?![\w.])", value, line)
    try:
        return command(*shlex.split(line))
    except PointsmanError as error:  # with --debug, which shows where it is from
        return Done(error.exit_code, "", f"traceback: {error}")


def of(suggestion: Suggestion) -> list[Message]:
    return [message for message in messages() if suggestion.source in message.text]


@pytest.mark.parametrize("suggestion", SUGGESTIONS, ids=lambda one: one.source)
def test_what_a_message_suggests_is_accepted(suggestion: Suggestion, command: Command, ready: Path) -> None:
    *before, again = suggestion.by.split("\n")
    if again.startswith("train topdrl") and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed (make learn)")
    for line in before:
        assert ran(command, line).code == 0, line
    said = ran(command, again)
    told = said.out + said.err
    assert any(message.pattern().search(told) for message in of(suggestion)), told
    suggested = re.search(suggestion.found, told)
    assert suggested, told
    for then in suggestion.then:
        for line in then.format(*suggested.groups(), again=again).split("\n"):
            done = ran(command, line)
            assert done.code == 0 or (done.code != USAGE and done.err != said.err), f"{line}: {done.err}"


PARTS = [*(suggestion.source for suggestion in SUGGESTIONS), *NO_COMMAND, *ELSEWHERE, *UNREACHED, *OTHER_PROGRAMS]


def test_every_message_is_tried_or_has_a_reason_not_to_be() -> None:
    assert [f"{m.place}: {m.text}" for m in messages() if not any(part in m.text for part in PARTS)] == []


def test_no_entry_is_of_a_message_that_is_gone() -> None:
    texts = [message.text for message in messages()]
    assert [part for part in PARTS if not any(part in text for text in texts)] == []


@pytest.mark.parametrize("part", ELSEWHERE)
def test_what_is_tried_elsewhere_is(part: str) -> None:
    file, text = ELSEWHERE[part]
    assert text in (Path(__file__).parents[1] / file).read_text()


def commands(group: typer.core.TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Each command with its options."""
    for name, one in group.commands.items():
        yield (*path, name), {flag for parameter in one.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        if isinstance(one, typer.core.TyperGroup):
            yield from commands(one, (*path, name))


def test_commands_and_options_that_messages_name_exist() -> None:
    top = typer.main.get_command(app)
    known = dict(commands(top))  # ty: ignore
    flags = {flag for options in known.values() for flag in options}
    flags |= {flag for parameter in top.params for flag in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    flags |= {flag for verb in VERBS for action in parser(verb)._actions for flag in action.option_strings}
    ours = [message for message in messages() if not any(part in message.text for part in OTHER_PROGRAMS)]
    unknown = [(m.place, flag) for m in ours for flag in FLAG.findall(m.text) if flag not in flags]
    for message in ours:
        for verb, below in COMMAND.findall(message.text):
            group = any(path[0] == verb and len(path) > 1 for path in known)
            if (verb, below) not in known if group and below else (verb,) not in known:
                unknown.append((message.place, f"{verb} {below}"))
    assert unknown == []
