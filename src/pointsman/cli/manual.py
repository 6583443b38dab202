"""The manual page, made from what ``--help`` says: ``python -m pointsman.cli.manual > pointsman.1``."""

from collections.abc import Iterator
from typing import Any

import typer.main

from pointsman.cli.app import app
from pointsman.version import __version__

Command = Any
"""A command or a group of typer's, which brings a click of its own."""


def manual() -> str:
    """The page in roff, for ``man -l``."""
    root = typer.main.get_command(app)
    context = _context(root, None, "pointsman")
    lines = [
        ".nh",
        f'.TH POINTSMAN 1 "" "Pointsman {__version__}" "User Commands"',
        ".SH NAME",
        r"pointsman \- replay job logs of GPU clusters under any scheduling policy",
        ".SH SYNOPSIS",
        r".B pointsman",
        r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        _text(root.help),
        ".PP",
        _text(root.epilog),
        ".SH OPTIONS",
        *_parameters(root, context),
        ".SH COMMANDS",
    ]
    for name, command, inner in _commands(root, context):
        lines += [f'.SS "{_escape(name)}"', _text(command.help), *_parameters(command, inner, but="help")]
    return "\n".join(lines) + "\n"


def _commands(group: Command, context: Any) -> Iterator[tuple[str, Command, Any]]:
    """Every command that ``--help`` shows, by its whole name, in the order of ``--help``."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = _context(command, context, name)
        if hasattr(command, "commands"):
            yield from _commands(command, inner)
        else:
            yield " ".join((inner.command_path, *command.collect_usage_pieces(inner))), command, inner


def _context(command: Command, parent: Any, name: str) -> Any:
    return command.context_class(command, parent=parent, info_name=name, **command.context_settings)


def _parameters(command: Command, context: Any, but: str = "") -> Iterator[str]:
    """Options and arguments that have a help text, each with its names in bold; not the one called `but`."""
    for parameter in command.get_params(context):
        record = None if getattr(parameter, "hidden", False) else parameter.get_help_record(context)
        if record is not None and parameter.name != but:
            yield from (".TP", rf"\fB{_escape(record[0])}\fR", _text(record[1]))


def _text(text: str | None) -> str:
    """Words that roff fills; none of its lines is taken for a request."""
    words = _escape(" ".join((text or "").split()))
    return rf"\&{words}" if words[:1] in (".", "'") else words


def _escape(text: str) -> str:
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return "".join(letter if letter.isascii() else rf"\[u{ord(letter):04X}]" for letter in plain)


if __name__ == "__main__":
    print(manual(), end="")
