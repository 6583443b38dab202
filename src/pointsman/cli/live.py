"""``pointsman live``: a policy decides on a cluster that runs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pointsman.cli import live_report, screen
from pointsman.cli.cluster import ListFormat

if TYPE_CHECKING:
    from pointsman.live.daemon.setting import Setting

_FASTEST: Final = 10_000.0
_LOOK_S: Final = 0.005
"""How often a simulated cluster is looked at, whose time passes fast."""
_POLL_S: Final = 0.1
_LONGEST_POLL_S: Final = 60.0
_ABSENT: Final = "{} is not installed: pip install 'pointsman[live]'"

_Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="CLUSTER", help="Cluster file or shorthand, like 2x4. Default: the GPUs of this machine."
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="POLICY.PARAM=VALUE", help="Parameter of the policy. Repeatable."),
]
_State = Annotated[
    Path | None, typer.Option("--state", metavar="DIR", help="Directory of the daemon's database and job records.")
]
_Socket = Annotated[Path | None, typer.Option("--socket", metavar="FILE", help="Socket of the daemon.")]


class Backend(StrEnum):
    """What runs the jobs of a live cluster."""

    local = "local"
    slurm = "slurm"


app = typer.Typer(no_args_is_help=True, help="Run a policy on a live cluster.")


@app.command()
def start(
    cluster: _Cluster = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME", help="Policy that decides. Default: the one that decided last, else gittins."
        ),
    ] = None,
    set_: _Set = None,
    overheads: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Overheads that the policy assumes: a name or a YAML file. Default: as last, else realistic; "
            "observed jobs are assumed to start at once.",
        ),
    ] = None,
    min_run: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Time that a job runs before it may be preempted. Default: as last, else none."
        ),
    ] = None,
    state: _State = None,
    socket: _Socket = None,
    operator: Annotated[
        list[str] | None,
        typer.Option("--operator", metavar="USER", help="User that may change all jobs, nodes and the policy."),
    ] = None,
    longest_turn: Annotated[
        float, typer.Option("--longest-turn", metavar="SECONDS", help="Time after which a policy counts as hung.")
    ] = 60.0,
    poll: Annotated[
        float | None,
        typer.Option("--poll", metavar="SECONDS", help="Interval between looks at jobs. Default: 0.1; of Slurm 5."),
    ] = None,
    backend: Annotated[
        Backend, typer.Option("--backend", help="What runs the jobs: this machine, or its Slurm cluster.")
    ] = Backend.local,
    observe: Annotated[
        bool,
        typer.Option(
            "--observe", help="Only observe the scheduler of the backend, and note what the policy would have done."
        ),
    ] = False,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Observe, and set the nice values of pending jobs so that they stand in the policy's order.",
        ),
    ] = False,
    act: Annotated[
        bool, typer.Option("--act", help="Say which jobs of Slurm start, and where: those that wait at the gate.")
    ] = False,
    gate: Annotated[
        str, typer.Option(metavar="PARTITION", help="With --act, partition in which jobs wait; its State is DOWN.")
    ] = "inbox",
    target: Annotated[str, typer.Option(metavar="PARTITION", help="With --act, partition in which jobs run.")] = "gpu",
    preempt_qos: Annotated[
        list[str] | None,
        typer.Option(metavar="QOS", help="With --act, QOS whose jobs may be preempted; '*': all. Repeatable."),
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option("--partition", metavar="NAME", help="With --advise, partition whose jobs it is for. Repeatable."),
    ] = None,
    account: Annotated[
        list[str] | None,
        typer.Option("--account", metavar="NAME", help="With --advise, account whose jobs it is for. Repeatable."),
    ] = None,
    most_changes: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="With --advise, most changes a minute.")
    ] = 30,
    simulate: Annotated[
        float | None,
        typer.Option(metavar="SPEED", help="Simulate the jobs instead of running them, at SPEED times real time."),
    ] = None,
) -> None:
    """Start the daemon: it schedules submitted jobs on this machine, or observes Slurm, until it is stopped."""
    from pointsman.errors import UsageError
    from pointsman.live.client.connection import own_folder, own_socket
    from pointsman.live.client.options import whole_name
    from pointsman.live.daemon.setting import Setting

    try:
        from pointsman.live.daemon.serve import serve
    except ModuleNotFoundError as error:
        raise UsageError(_ABSENT.format(error.name)) from None
    from pointsman.cli.compiled import prepare_code
    from pointsman.engine.jit.units import CORE
    from pointsman.policies.registry import FALLBACK

    if set_ and policy is None:
        raise UsageError("--set: name the policy, too, with --policy")
    if [observe, advise, act].count(True) != (backend is Backend.slurm):
        raise UsageError("--backend slurm goes with one of --observe, --advise and --act")
    if simulate is not None and backend is Backend.slurm:
        raise UsageError("--simulate goes with --backend local")
    if not advise and (partition or account):
        raise UsageError("--partition and --account go with --advise")
    if not (longest_turn >= 1.0 and (poll is None or 0.0 < poll <= _LONGEST_POLL_S)):
        raise UsageError(f"--longest-turn is at least 1 s, and --poll at most {_LONGEST_POLL_S:g} s")
    place = socket or own_socket()
    setting = Setting(
        state or own_folder(),
        cluster or (_this_machine() if backend is Backend.local else ""),
        policy and whole_name(policy),
        _params(policy, set_ or []) if policy else {},
        overheads and whole_name(overheads),
        None if min_run is None else _seconds("--min-run", min_run),
        compile=lambda name: prepare_code([name, FALLBACK], questions=True, more=CORE),  # a turn may not wait for that
        poll_s=poll or _POLL_S,
        longest_turn_s=longest_turn,
    )
    if simulate is not None:
        setting = _simulate(setting, simulate)
    if backend is Backend.slurm:
        from pointsman.live.daemon.slurm import LOOK_S, Partitions, acting, observing
        from pointsman.live.observe.advising import Scope

        if act:
            preempts = frozenset(preempt_qos or ())
            setting = acting(setting, Partitions(gate, target), preempts, poll or 1.0, finds_cluster=cluster is None)
        else:
            scope = Scope(frozenset(partition or ()), frozenset(account or ()), most_changes) if advise else None
            setting = observing(setting, poll or LOOK_S, scope, finds_cluster=cluster is None)
    serve(setting, place, _uids(operator or []), lambda: screen.note(f"pointsman: ready at {place}"))


def _this_machine() -> str:
    """The cluster that it is."""
    try:
        from pointsman.live.backends.local.gpus import this_machine
    except ModuleNotFoundError as error:
        from pointsman.errors import UsageError

        raise UsageError(_ABSENT.format(error.name)) from None
    return this_machine()


def _simulate(setting: "Setting", speed: float) -> "Setting":
    """Without running anything."""
    from dataclasses import replace

    from pointsman.errors import UsageError
    from pointsman.live.backends.paced import Paced
    from pointsman.live.control.clock import FastClock

    if not 1.0 <= speed <= _FASTEST:
        raise UsageError(f"--simulate: from 1 to {_FASTEST:,.0f} times as fast, not {speed:g}")
    backend, clock = (lambda cluster, _: Paced(cluster, speed)), (lambda *known: FastClock(*known, speed))
    return replace(setting, backend=backend, clock=clock, simulates=True, poll_s=min(setting.poll_s, _LOOK_S))


@app.command()
def check(
    cluster: _Cluster = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="NAME", help="Policy that decides. Default: as last, or gittins.")
    ] = None,
    set_: _Set = None,
    overheads: Annotated[
        str, typer.Option(metavar="NAME", help="Overheads that the policy assumes: a name or a YAML file.")
    ] = "realistic",
    state: _State = None,
    socket: _Socket = None,
) -> None:
    """Check whether a daemon could start here."""
    from pointsman.live.client.connection import own_folder, own_socket
    from pointsman.live.daemon.check import check as look
    from pointsman.live.daemon.check import kept_policy
    from pointsman.live.world.roster import Deciding
    from pointsman.policies.registry import DEFAULT

    folder = state or own_folder()
    kept = kept_policy(folder) if policy is None and not set_ else None
    name = policy or DEFAULT
    deciding = kept or Deciding(name, _params(name, set_ or []), {"overheads": overheads})
    faults = []
    for finding in look(cluster or _this_machine(), deciding, folder, socket or own_socket()):
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
        bool, typer.Option("--hand-back", help="Give jobs their own nice values back, which the daemon has set.")
    ] = False,
    state: _State = None,
) -> None:
    """Stop the daemon; jobs run on. With --hand-back it also works after the daemon has stopped."""
    from pointsman.errors import BackendError
    from pointsman.live.client.connection import call, own_folder

    try:
        call("POST", "/stop", {"hand_back": hand_back})
    except BackendError:
        if not hand_back:
            raise
        from pointsman.live.daemon.slurm import hand_back_all

        hand_back_all(state or own_folder())


@app.command()
def policy(
    name: Annotated[str, typer.Argument(metavar="POLICY", help="Policy that decides from now on.")],
    set_: _Set = None,
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

    chosen = {"policy": whole_name(name), "params": _params(name, set_ or [])}
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
    from pointsman.live.client.connection import own_folder
    from pointsman.live.report.export import export as write
    from pointsman.report.staging import whole_directory

    with whole_directory(output, force=force, mark="attempts.csv") as folder:
        notes = write((state or own_folder()) / "store", folder)
    for note in notes:
        screen.note(note)
    screen.note(f"log: {output / 'jobs.csv'}")


app.command()(live_report.report)
app.command()(live_report.decisions)


def _seconds(option: str, text: str) -> float:
    from pointsman.errors import UsageError
    from pointsman.inputs.durations import parse_duration_s

    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def _params(policy: str, texts: list[str]) -> dict[str, Any]:
    """The parameters of one policy."""
    from pointsman.cli.experiment import parse_settings
    from pointsman.errors import UsageError
    from pointsman.policies.registry import get_policy

    spec = get_policy(policy)
    settings = parse_settings([text if "." in text.partition("=")[0] else f"{spec.name}.{text}" for text in texts])
    known = {policy, spec.name, spec.title}
    if alien := sorted(set(settings) - known):
        raise UsageError(f"--set {alien[0]}.…: only parameters of {spec.title} can be set here")
    return {key: value for params in settings.values() for key, value in params.items()}


def _uids(names: list[str]) -> frozenset[int]:
    import os
    import pwd

    from pointsman.errors import UsageError

    uids = {0, os.getuid()}
    for name in names:
        try:
            uids.add(pwd.getpwnam(name).pw_uid)
        except KeyError:
            raise UsageError(f"--operator: this machine has no user {name!r:.60}") from None
    return frozenset(uids)
