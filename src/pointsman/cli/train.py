"""``pointsman train``: an agent learns to schedule."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.options import OUTPUT, WHAT

if TYPE_CHECKING:
    from pointsman.learn.agents import Recipe

HOW = "How to train"


def train(
    name: Annotated[str, typer.Argument(metavar="NAME", help="topdrl, deeprm or proximity-drl.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Keep the checkpoint here.", rich_help_panel=OUTPUT)
    ],
    steps: Annotated[int, typer.Option(min=1, help="Decisions to learn from.", rich_help_panel=HOW)],
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of the agent, of its algorithm (ppo, reinforce) or of its 'practice'.",
            rich_help_panel=WHAT,
        ),
    ],
    cluster: Annotated[
        str | None, typer.Option(help="Where to practise: short for practice.cluster.", rich_help_panel=WHAT)
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="What: topdrl, philly, itp, helios or a job log; short for practice.workload.", rich_help_panel=WHAT
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.", rich_help_panel=HOW)] = 0,
    seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Train so many, in DIR/seed-N, from --seed on.", rich_help_panel=HOW)
    ] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Train so many at a time.", rich_help_panel=HOW)] = 1,
    device: Annotated[
        str, typer.Option(help="auto takes a GPU if there is one; else cpu.", rich_help_panel=HOW)
    ] = "auto",
    threads: Annotated[
        int, typer.Option(min=1, help="Of PyTorch; another number rounds otherwise.", rich_help_panel=HOW)
    ] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with DIR.", rich_help_panel=OUTPUT)] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace DIR if it exists.", rich_help_panel=OUTPUT)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print all settings.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Train an agent, and keep it as a checkpoint that --policy NAME:DIR takes; Ctrl-C saves, --resume goes on."""
    from pointsman.cli.experiment import parse_settings
    from pointsman.cli.learning import need_torch

    need_torch()
    from pointsman.learn.agents import PRACTICE, recipe

    short = {"cluster": cluster, "workload": workload}
    given: dict[str, dict[str, Any]] = {key: dict(values) for key, values in parse_settings(settings).items()}
    practice = given.pop(PRACTICE, {}) | {key: value for key, value in short.items() if value is not None}
    made = recipe(name, given | {PRACTICE: practice})
    if dry_run:
        _show(made)
        return
    places = [output] if seeds == 1 else [output / f"seed-{seed + k}" for k in range(seeds)]
    for place in places:
        _check_place(place, resume=resume, force=force)
    _announce(made)
    calls = [
        (made, place, seed + k, steps, resume and (place / "policy.yaml").is_file(), device, threads)
        for k, place in enumerate(places)
    ]
    with screen.progress(f"train {name}") as progress:
        if seeds == 1:
            _train(*calls[0], progress.update)
        else:
            _train_all(calls, min(workers, seeds), progress)
    screen.note(f"checkpoint: {', '.join(map(str, places))} (use it with --policy {name}:{places[0]})")


def _show(made: "Recipe") -> None:
    import yaml

    parts = {
        made.agent.name: made.network.model_dump(mode="json"),
        made.agent.algorithm: made.algorithm.model_dump(mode="json"),
        "practice": made.practice.model_dump(mode="json"),
    }
    typer.echo(yaml.safe_dump(parts, sort_keys=False), nl=False)


def _check_place(place: Path, *, resume: bool, force: bool) -> None:
    """That a training may begin here, or go on; what is to be replaced is removed."""
    import shutil

    from pointsman.errors import UsageError
    from pointsman.learn.checkpoint import CARD, read_card
    from pointsman.place import check_folder

    check_folder(place.parent if place.parent.exists() else Path())
    if resume or not place.exists():
        return
    if not force:
        raise UsageError(f"{place} exists; go on with it by --resume, replace it by --force, or choose another with -o")
    if any(place.iterdir()) and not (place / CARD).is_file():
        raise UsageError(f"{place} exists and is no checkpoint, so --force does not replace it; choose another place")
    if (place / CARD).is_file():
        read_card(place)
    shutil.rmtree(place)


def _announce(made: "Recipe") -> None:
    """Compile what the environments need before a bar promises a time."""
    practice = made.practice
    span = "until all are done" if practice.horizon_s is None else f"cut after {practice.horizon_s / 3600:g} h"
    screen.note(f"{practice.workload} jobs on {practice.cluster}, {practice.jobs} an episode, {span}")


def _train(
    made: "Recipe", place: Path, seed: int, steps: int, resume: bool, device: str, threads: int, tell: Any
) -> None:
    from pointsman.cli.results import command_line
    from pointsman.learn.begin import begin

    training = begin(made, place, seed=seed, device=device, threads=threads, command=command_line())
    if resume:
        training.resume()
    training.run(steps, tell)


def _train_all(calls: list[tuple[Any, ...]], workers: int, progress: screen.Progress) -> None:
    """Replicas side by side; each saves now and then, so that little is lost when they are all stopped."""
    from pointsman.workers import side_by_side

    with_silence = [(*call, _silently) for call in calls]
    for done, _ in enumerate(side_by_side(_train, with_silence, workers), 1):
        progress.update(done / len(calls), f"{done} of {len(calls)}")


def _silently(share: float, label: str) -> None:
    """Say nothing."""
