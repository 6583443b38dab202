"""``pointsman live start``: the daemon, until it is stopped."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from pointsman.cli import screen
from pointsman.cli.live_options import (
    ABSENT,
    Backend,
    Cluster,
    Gate,
    OnBackend,
    Set,
    Socket,
    State,
    Target,
    params_of,
    seconds_of,
    this_machine,
)

if TYPE_CHECKING:
    from pointsman.live.daemon.setting import Setting

_FASTEST: Final = 10_000.0
_LOOK_S: Final = 0.005
"""How often a simulated cluster is looked at, whose time passes fast."""
_POLL_S: Final = 0.1
_LONGEST_POLL_S: Final = 60.0


def start(
    cluster: Cluster = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME", help="Policy that decides. Default: the one that decided last, else gittins."
        ),
    ] = None,
    set_: Set = None,
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
    state: State = None,
    socket: Socket = None,
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
    backend: OnBackend = Backend.local,
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
    gate: Gate = "inbox",
    target: Target = "gpu",
    preempt_qos: Annotated[
        list[str] | None,
        typer.Option(metavar="QOS", help="With --act, QOS whose jobs may be preempted; '*': all. Repeatable."),
    ] = None,
    preemptions_a_day: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Preemptions within 24 hours, after which there are no more.")
    ] = None,
    preemptions_a_job: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Preemptions of a job, after which it is preempted no more.")
    ] = None,
    most_wait: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Total waiting time of a job, after which it is preempted no more."),
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
    """Start the daemon: it runs jobs on this machine, or observes, advises or decides for Slurm."""
    from pointsman.errors import UsageError
    from pointsman.live.client.connection import own_folder, own_socket
    from pointsman.live.client.options import whole_name
    from pointsman.live.control.limits import Limits
    from pointsman.live.daemon.setting import Setting

    try:
        from pointsman.live.daemon.serve import serve
    except ModuleNotFoundError as error:
        raise UsageError(ABSENT.format(error.name)) from None
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
    if preempt_qos and not act:
        raise UsageError("--preempt-qos goes with --act")
    if not (longest_turn >= 1.0 and (poll is None or 0.0 < poll <= _LONGEST_POLL_S)):
        raise UsageError(f"--longest-turn is at least 1 s, and --poll at most {_LONGEST_POLL_S:g} s")
    place = socket or own_socket()
    setting = Setting(
        state or own_folder(),
        cluster or (this_machine() if backend is Backend.local else ""),
        policy and whole_name(policy),
        params_of(policy, set_ or []) if policy else {},
        overheads and whole_name(overheads),
        None if min_run is None else seconds_of("--min-run", min_run),
        compile=lambda name: prepare_code([name, FALLBACK], questions=True, more=CORE),  # a turn may not wait for that
        poll_s=poll or _POLL_S,
        longest_turn_s=longest_turn,
        limits=Limits(
            preemptions_a_day,
            preemptions_a_job,
            None if most_wait is None else round(1000 * seconds_of("--most-wait", most_wait)),
        ),
    )
    if simulate is not None:
        setting = _simulate(setting, simulate)
    if backend is Backend.slurm:
        from pointsman.live.backends.slurm.marks import Partitions
        from pointsman.live.daemon.slurm.start import LOOK_S, acting, observing
        from pointsman.live.observe.advising import Scope

        if act:
            preempts = frozenset(preempt_qos or ())
            setting = acting(setting, Partitions(gate, target), preempts, poll or 1.0, finds_cluster=cluster is None)
        else:
            scope = Scope(frozenset(partition or ()), frozenset(account or ()), most_changes) if advise else None
            setting = observing(setting, poll or LOOK_S, scope, finds_cluster=cluster is None)
    serve(setting, place, _uids(operator or []), lambda: screen.note(f"pointsman: ready at {place}"))


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
