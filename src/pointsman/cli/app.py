"""All commands under one roof. Commands import what they need when they run: ``--help`` must be quick."""

import os
from typing import Annotated, Final

import typer

from pointsman.cli import (
    advise,
    asking,
    capacity,
    cluster,
    compare,
    config,
    doctor,
    eval,
    explain,
    live,
    measure,
    policy,
    profile,
    report,
    screen,
    simulate,
    suite,
    trace,
    train,
    verify,
    version,
    warmup,
)
from pointsman.cli.options import WithOptions
from pointsman.cli.verbs import Verbs

GLOBAL_FLAGS: Final = frozenset({"--debug", "-q", "--quiet", "-v", "--verbose", "--no-color"})
"""Flags that may stand anywhere on the line."""

app = typer.Typer(
    name="pointsman",
    cls=Verbs,
    help="Replay GPU-cluster job logs under any scheduling policy.",
    epilog="Results go to stdout, progress and notices to stderr. Guide: docs/guides/command-line.md",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def common(
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Print more details to stderr.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours, as with NO_COLOR.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Apply the flags that every command knows."""
    screen.set_loudness(quiet=quiet, verbose=verbose)
    if no_color:
        os.environ["NO_COLOR"] = "1"  # rich and child processes obey it
    elif os.environ.get("CLICOLOR_FORCE", "0") != "0" and "NO_COLOR" not in os.environ:
        os.environ["FORCE_COLOR"] = "1"


app.command(cls=WithOptions)(simulate.simulate)
app.command("sim", hidden=True, cls=WithOptions)(simulate.simulate)
app.command(cls=WithOptions)(compare.compare)
app.command()(advise.advise)
app.command(cls=WithOptions)(capacity.capacity)
app.command()(train.train)
app.command("eval")(eval.evaluate)
app.command()(report.report)
app.command()(explain.explain)
app.command()(verify.verify)
app.add_typer(suite.app, name="suite")
app.add_typer(config.app, name="config")
app.add_typer(live.app, name="live")
app.add_typer(measure.app, name="measure")
for group, name, plural in (
    (trace.app, "trace", "traces"),
    (cluster.app, "cluster", "clusters"),
    (policy.app, "policy", "policies"),
    (profile.app, "profile", "profiles"),
):
    app.add_typer(group, name=name)
    app.add_typer(group, name=plural, hidden=True)
asking.add_to(app)
app.command()(warmup.warmup)
app.command()(doctor.doctor)
app.command()(version.version)
