"""``pointsman train``: an agent learns to schedule."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.options import OUTPUT, WHAT, AtOnce, On

if TYPE_CHECKING:
    from pointsman.learn.recipes import AnyRecipe
    from pointsman.learn.training import Tell
    from pointsman.parallel.file_bundle import FileBundle

HOW = "How to train"
GOES_BY = {"scorer": "generations: give --set cross-entropy.generations=N", "metarl": "runs: give --set meta.runs=N"}
"""What is trained without a network, and by what."""


def train(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Agent: topdrl, deeprm, proximity-drl, marl, scorer or metarl.")
    ],
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of the agent, of its algorithm (ppo, cross-entropy, meta, …) or of its training "
            "workload (practice). Repeatable.",
            rich_help_panel=WHAT,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Output directory of the checkpoint; required except for --dry-run.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of training decisions, rounded up to whole updates.",
            show_default=False,
            rich_help_panel=HOW,
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Training cluster; same as --set practice.cluster.", rich_help_panel=WHAT)
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="Training jobs: topdrl, philly, itp, helios, dl2-philly, dl2-1-8, dl2-1-16 or a job log, whose jobs "
            "arrive as logged; same as practice.workload.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 62) - 1, help="Random seed.", rich_help_panel=HOW)] = 0,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            help="Number of trainings, with seeds from --seed on, each in DIR/seed-N.",
            rich_help_panel=HOW,
        ),
    ] = 1,
    at_once: AtOnce = None,
    on: On = "local",
    device: Annotated[
        str, typer.Option(help="PyTorch device: cpu, cuda or auto (a GPU if there is one).", rich_help_panel=HOW)
    ] = "auto",
    threads: Annotated[
        int,
        typer.Option(
            min=1, help="Number of PyTorch threads. A different number changes rounding.", rich_help_panel=HOW
        ),
    ] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the interrupted training in DIR.", rich_help_panel=OUTPUT)
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace the checkpoint in DIR once the new one is complete.", rich_help_panel=OUTPUT
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print all settings without training.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Train an agent and save a checkpoint, for --policy NAME:DIR. Ctrl-C saves it, --resume continues."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.experiment import parse_settings
    from pointsman.cli.learning import need_torch
    from pointsman.cli.results import command_line

    if name not in GOES_BY:
        need_torch()
    from pointsman.errors import InputError, UsageError
    from pointsman.learn.agents import PRACTICE
    from pointsman.learn.recipes import recipe_of
    from pointsman.learn.training_directory import find_places
    from pointsman.learn.training_setup import check_jobs

    _check_options(name, steps, device, threads, dry_run)

    short = {"cluster": cluster, "workload": workload}
    given: dict[str, dict[str, Any]] = {key: dict(values) for key, values in parse_settings(settings).items()}
    practice = given.pop(PRACTICE, {}) | {key: value for key, value in short.items() if value is not None}
    directories = _directories(output, seed, seeds) if resume or not dry_run else []
    places = find_places(directories, resume=resume, force=force)
    if resume:
        begun = next(place.work for place in places if not place.is_new)
        given, practice = _as_before(begun, name, given, practice)
    made = recipe_of(name, given | {PRACTICE: practice})
    if dry_run:
        check_jobs(made.practice)
        _show(made)
        return
    screen.note(made.practice.describe())
    if name in GOES_BY and on == "local":
        prepare_code(["packed", name], made.practice.options())
    runs = [_Run(made, seed + k, steps or 0, device, threads, resume, command_line()) for k in range(seeds)]
    try:
        with screen.progress(f"train {name}") as progress:
            if seeds == 1 and on == "local":
                runs[0].train(places[0].work, progress.update)
            else:
                _train_all(runs, [place.work.absolute() for place in places], on, at_once, progress)
    except (UsageError, InputError):  # before the first step
        raise
    except BaseException:
        for said in filter(None, [place.left() for place in places]):
            screen.note(said)
        raise
    for place in places:
        place.put()
    finals = [place.final for place in places]
    screen.note(f"checkpoint: {', '.join(map(str, finals))} (use it with --policy {name}:{finals[0]})")


def _check_options(name: str, steps: int | None, device: str, threads: int, dry_run: bool) -> None:
    """That what is said goes with what is trained: a network, or a few weights by generations."""
    from pointsman.errors import UsageError

    if name not in GOES_BY and steps is None and not dry_run:
        raise UsageError("--steps is missing: give the number of decisions to train on, as in --steps 100000")
    if name in GOES_BY and steps is not None:
        raise UsageError(f"{name} is trained by {GOES_BY[name]}, not --steps")
    if name in GOES_BY and (device != "auto" or threads != 1):
        raise UsageError(f"{name} is no network: leave out --device and --threads")


def _directories(output: Path | None, seed: int, seeds: int) -> list[Path]:
    """Where each training is to be kept."""
    from pointsman.errors import UsageError

    if output is None:
        raise UsageError("-o is missing: give the output directory of the checkpoint, as in -o mine")
    return [output] if seeds == 1 else [output / f"seed-{seed + k}" for k in range(seeds)]


def _as_before(
    place: Path, name: str, given: dict[str, dict[str, Any]], practice: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """These settings, and those with which the training in `place` began where nothing else is said."""
    from pointsman.errors import InputError
    from pointsman.learn.checkpoint import CARD, read_card

    card = read_card(place)
    if card.agent != name:
        fix = f"go on with it by 'pointsman train {card.agent}', or train {name} elsewhere"
        raise InputError(f"a training of {card.agent}, not of {name}", path=place / CARD, fix=fix)
    from pointsman.learn.recipes import TRAINED_IN_RUNS

    network = {} if name in TRAINED_IN_RUNS else card.network.config
    parts = {name: network, card.algorithm.name: card.algorithm.config}
    before = {part: {**config, **given.pop(part, {})} for part, config in parts.items() if config}
    return before | given, {**card.environment, **practice}


def _show(made: "AnyRecipe") -> None:
    import yaml

    parts = {name: part.model_dump(mode="json") for name, part in made.parts.items()}
    typer.echo(yaml.safe_dump(parts, sort_keys=False), nl=False)


@dataclass(frozen=True)
class _Run:
    """One of the trainings that were asked for."""

    recipe: "AnyRecipe"
    seed: int
    steps: int
    device: str
    threads: int
    resume: bool
    command: str

    def train(self, place: Path, tell: "Tell") -> None:
        from pointsman.learn.agents import Recipe
        from pointsman.learn.checkpoint import CARD

        going_on = self.resume and (place / CARD).is_file()
        if not isinstance(self.recipe, Recipe):
            from pointsman.learn.recipes import training_in_runs

            search = training_in_runs(self.recipe, place, self.seed, self.command)
            if going_on:
                search.resume()
            search.run(tell)
            return
        from pointsman.learn.setup import begin

        training = begin(
            self.recipe, place, seed=self.seed, device=self.device, threads=self.threads, command=self.command
        )
        if going_on:
            training.resume()
        training.run(self.steps, tell)

    def there(self, bundle: "FileBundle") -> "_Run":
        """Names the files of the recipe as they are called where `bundle` is unpacked."""
        practice = self.recipe.practice
        names = practice.model_copy(update=bundle.there(practice.model_dump()))
        return replace(self, recipe=replace(self.recipe, practice=names))


def _train_all(runs: list[_Run], places: list[Path], on: str, at_once: int | None, progress: screen.Progress) -> None:
    """Trainings side by side. Each saves now and then, so that little is lost if they are stopped; from far away its
    files come when it is done.
    """
    from pointsman.parallel.file_bundle import FileBundle, pack
    from pointsman.parallel.pool import fill_folders, workers

    with workers(on, at_once) as some:
        bundle = pack(runs[0].recipe.practice.model_dump()) if some.far else FileBundle()
        calls = [(place, run.there(bundle)) for place, run in zip(places, runs, strict=True)]
        for done, _ in enumerate(fill_folders(some, _train, calls, bundle), 1):
            progress.update(done / len(runs), f"{done} of {len(runs)}")


def _train(place: Path, run: _Run) -> None:
    run.train(place, _silently)


def _silently(share: float, label: str) -> None:
    """Say nothing."""
