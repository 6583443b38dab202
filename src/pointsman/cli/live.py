"""``pointsman live``: a policy decides on a cluster that runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pointsman.cli import live_report, live_start, screen
from pointsman.cli.cluster import ListFormat
from pointsman.cli.live_options import (
    Backend,
    Cluster,
    Gate,
    OnBackend,
    Set,
    Socket,
    State,
    Target,
    params_of,
    this_machine,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pointsman.live.daemon.check import Finding

_HANDING_BACK_S: Final = 600.0
"""As long as it may take to change the jobs of a slow Slurm one by one."""

app = typer.Typer(no_args_is_help=True, help="Run a policy on a live cluster.")


app.command()(live_start.start)


@app.command()
def check(
    cluster: Cluster = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="NAME", help="Policy that decides. Default: as last, or gittins.")
    ] = None,
    set_: Set = None,
    overheads: Annotated[
        str, typer.Option(metavar="NAME", help="Overheads that the policy assumes: a name or a YAML file.")
    ] = "realistic",
    state: State = None,
    socket: Socket = None,
    backend: OnBackend = Backend.local,
    observe: Annotated[
        bool, typer.Option("--observe", help="With --backend slurm, for a daemon that only observes, as without it.")
    ] = False,
    advise: Annotated[
        bool, typer.Option("--advise", help="With --backend slurm, for a daemon that sets nice values.")
    ] = False,
    act: Annotated[bool, typer.Option("--act", help="With --backend slurm, for a daemon that starts jobs.")] = False,
    gate: Gate = "inbox",
    target: Target = "gpu",
) -> None:
    """Check whether a daemon could start here."""
    from pointsman.errors import UsageError

    if [observe, advise, act].count(True) > (backend is Backend.slurm):
        raise UsageError("--observe, --advise and --act go with --backend slurm, and one of them is enough")
    if backend is Backend.slurm:
        from pointsman.live.backends.slurm.marks import Partitions
        from pointsman.live.daemon.slurm.check import check_slurm

        return _print_findings(check_slurm(Partitions(gate, target), acts=act, advises=advise))
    from pointsman.live.client.connection import own_folder, own_socket
    from pointsman.live.daemon.check import check as look
    from pointsman.live.daemon.check import kept_policy
    from pointsman.live.world.roster import Deciding
    from pointsman.policies.registry import DEFAULT

    folder = state or own_folder()
    kept = kept_policy(folder) if policy is None and not set_ else None
    name = policy or DEFAULT
    deciding = kept or Deciding(name, params_of(name, set_ or []), {"overheads": overheads})
    _print_findings(look(cluster or this_machine(), deciding, folder, socket or own_socket()))


def _print_findings(findings: "Iterable[Finding]") -> None:
    """What was found, as it is found; the exit code is that of the first fault."""
    faults = []
    for finding in findings:
        typer.echo(f"{'wrong' if finding.fault else 'ok'}: {finding.said}")
        faults += [finding.fault] if finding.fault else []
    if faults:
        raise typer.Exit(faults[0].exit_code)


@app.command()
def status(format: Annotated[ListFormat, typer.Option(help="Output format.")] = ListFormat.table) -> None:
    """Print the state of the daemon, the policy and the cluster."""
    from pointsman.live.client.connection import call
    from pointsman.live.client.show import show_one

    show_one(call("GET", "/status"), format.value)


@app.command()
def stop(
    hand_back: Annotated[
        bool,
        typer.Option("--hand-back", help="Give Slurm its jobs back: nice values, and all that wait at the gate."),
    ] = False,
    state: State = None,
) -> None:
    """Stop the daemon; jobs run on. With --hand-back it also works after the daemon has stopped."""
    from pointsman.live.client.connection import NoDaemon, call, known_folder

    try:
        if state is not None:
            _check_serves(state)
        call("POST", "/stop", {"hand_back": hand_back}, timeout_s=_HANDING_BACK_S if hand_back else 60.0)
    except NoDaemon:
        if not hand_back:
            raise
        from pointsman.live.daemon.slurm.start import hand_back_all

        hand_back_all(state or known_folder())


def _check_serves(state: Path) -> None:
    """The daemon that answers is the one of this directory.

    Raises:
        NoDaemon: it is another's.
    """
    from pointsman.live.client.connection import NoDaemon, known_socket, served_folder

    if (served := served_folder()) not in (None, state.resolve()):
        raise NoDaemon(f"the daemon at {known_socket()} keeps its files in {served}, not in {state}")


@app.command()
def policy(
    name: Annotated[str, typer.Argument(metavar="POLICY", help="Policy that decides from now on.")],
    set_: Set = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only foretell what would change.")] = False,
    format: Annotated[ListFormat, typer.Option(help="Output format of --dry-run.")] = ListFormat.table,
) -> None:
    """Change the policy of the running daemon."""
    from pointsman.errors import RunError
    from pointsman.live.client.connection import call
    from pointsman.live.client.options import whole_name
    from pointsman.live.client.show import show_answer
    from pointsman.live.client.verbs import FORETELLING_S
    from pointsman.policies.registry import FALLBACK

    chosen = {"policy": whole_name(name), "params": params_of(name, set_ or [])}
    if dry_run:
        show_answer(call("POST", "/whatif", {"chosen": chosen}, timeout_s=FORETELLING_S), format.value)
    else:
        status = call("PUT", "/policy", chosen)
        if status["decides"] == FALLBACK != name:
            raise RunError(f"it failed at once: {status['alarms'][-1]}")


@app.command()
def export(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Output directory.")],
    state: Annotated[
        Path | None, typer.Option("--state", metavar="DIR", help="Directory of the daemon's database.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output directory.")] = False,
) -> None:
    """Write what happened as a job log, a cluster file and measured overheads, for compare and simulate."""
    from pointsman.live.client.connection import known_folder
    from pointsman.live.report.export import export as write
    from pointsman.report.staging import whole_directory

    with whole_directory(output, force=force, mark="attempts.csv") as folder:
        notes = write((state or known_folder()) / "store", folder)
    for note in notes:
        screen.note(note)
    screen.note(f"log: {output / 'jobs.csv'}")


app.command()(live_report.report)
app.command()(live_report.decisions)
