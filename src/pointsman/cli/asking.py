"""The commands that ask a daemon, as ``--help`` and the manual list them.

`pointsman.cli.main` hands them to `pointsman.live.client`, which says their options, before anything here is imported.
"""

import sys

import typer

from pointsman.live.client import VERBS

PANEL = "On a live cluster"


def add_to(app: typer.Typer) -> None:
    """List every command that has no other meaning without a daemon."""
    for verb, help_ in VERBS.items():
        if verb != "explain":
            anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
            app.command(verb, help=help_, rich_help_panel=PANEL, context_settings=anything)(_ask)


def _ask(context: typer.Context) -> None:
    from pointsman.live.client.verbs import main

    sys.exit(main([str(context.info_name), *context.args]))
