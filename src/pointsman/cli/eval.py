"""``pointsman eval``: trained policies, and others, on jobs that none was trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.options import WHAT, AtOnce, On, Printed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pointsman.learn.checkpoint import Card
    from pointsman.learn.training_setup import JobsConfig
    from pointsman.parallel.workers import Workers


LEFT = ("cluster", "workload", "policy")


def evaluate(
    checkpoint: Annotated[
        list[Path],
        typer.Argument(metavar="CHECKPOINT...", help="Output directory of 'pointsman train -o DIR'."),
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Additional policy to measure. Repeatable.",
            rich_help_panel=WHAT,
        ),
    ],
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="practice.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of the evaluation workload. Example: --set practice.horizon_s=6h.",
            rich_help_panel=WHAT,
        ),
    ],
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines", help="Also measure all combinations of job pickers and GPU pickers.", rich_help_panel=WHAT
        ),
    ] = False,
    cluster: Annotated[
        str | None, typer.Option(help="Cluster to evaluate on. Default: as in training.", rich_help_panel=WHAT)
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="Jobs to evaluate on: topdrl, philly, itp, helios, dl2-philly, dl2-1-8, dl2-1-16 or a job log, whose "
            "jobs arrive as logged.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            "--seeds",
            "--seed",
            metavar="LIST",
            help="Random seeds of the held-out workloads. Example: --seeds 0-4.",
            rich_help_panel=WHAT,
        ),
    ] = "0-9",
    at_once: AtOnce = None,
    on: On = "local",
    format: Printed = screen.Format.table,
) -> None:
    """Evaluate trained policies: interquartile means over trainings and held-out workloads, with 95 % intervals."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.experiment import parse_seeds
    from pointsman.cli.learning import need_torch
    from pointsman.learn.evaluation import BASELINES, Contestant, contestant, summary
    from pointsman.learn.training_setup import settings_of
    from pointsman.parallel.pool import workers
    from pointsman.policies.registry import TRAINABLE, get_policy

    found = [contestant(place) for place in checkpoint]
    if not {card.agent for _, card in found} <= set(TRAINABLE):
        need_torch()
    practice = _practice(found[0][1], settings, {"cluster": cluster, "workload": workload})
    for name in policy:
        get_policy(name)
    asked = [each for each, _ in found] + [Contestant(name, (name,)) for name in policy]
    asked += BASELINES if baselines else ()
    if on == "local":
        prepare_code([name for each in asked for name in each.policies])
    numbers = parse_seeds(seeds)
    places = settings_of(practice)
    calls = [
        (name, each.params, one, seed) for one in places for each in asked for name in each.policies for seed in numbers
    ]
    with workers(on, at_once) as some, screen.progress("eval") as progress:
        measured = iter(list(_measure(calls, some, progress)))
    rows = [
        {"cluster": one.cluster, "workload": one.workload, "policy": each.label}
        | summary([[next(measured) for _ in numbers] for _ in each.policies])
        for one in places
        for each in asked
    ]
    if format.is_data:
        screen.show(rows, format)
        return
    screen.show([_row_for_people(row, several=len(places) > 1) for row in rows], format, left=LEFT)
    _explain(practice, numbers)


def _practice(trained: "Card", settings: list[str], short: dict[str, str | None]) -> "JobsConfig":
    from pointsman.cli.experiment import parse_settings
    from pointsman.errors import UsageError
    from pointsman.learn.agents import PRACTICE
    from pointsman.learn.recipes import on_log, practice_of

    given = parse_settings(settings)
    if alien := given.keys() - {PRACTICE}:
        raise UsageError(f"--set {sorted(alien)[0]}.…: here only {PRACTICE}.PARAM can be set")
    said = {**given.get(PRACTICE, {}), **{key: value for key, value in short.items() if value is not None}}
    if said.get("workload") != trained.environment["workload"]:
        said = on_log(trained.agent, said)
    return practice_of(trained.agent, {**trained.environment, **said})


def _measure(calls: list[tuple[Any, ...]], some: "Workers", progress: screen.Progress) -> "Iterator[dict[str, Any]]":
    from pointsman.learn.evaluation import measure
    from pointsman.parallel.file_bundle import FileBundle, pack

    names = [(name, practice.model_dump()) for name, _, practice, _ in calls]
    bundle = pack(names) if some.far else FileBundle()
    there = [
        (bundle.there(name), params, practice.model_copy(update=bundle.there(practice.model_dump())), seed)
        for name, params, practice, seed in calls
    ]
    for done, result in enumerate(some(measure, there, bundle), 1):
        progress.update(done / len(calls), f"{done} of {len(calls)}")
        yield result


def _row_for_people(row: dict[str, Any], *, several: bool) -> dict[str, Any]:
    """The row for people: a measure and its interval in one cell."""
    from pointsman.learn.evaluation import MEASURES

    cells = {name: _cell(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in MEASURES}
    names = {name: row[name] for name in (LEFT if several else ("policy",))}
    return {**names, "runs": row["trainings"] * row["seeds"], **cells}


def _cell(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    digits = max(0, 3 - len(str(int(abs(value)))))
    shown = [f"{x:,.{digits}f}" for x in (value, low, high) if x is not None]
    return shown[0] if len(shown) == 1 else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _explain(practice: "JobsConfig", numbers: list[int]) -> None:
    from pointsman.learn.evaluation import MEASURES

    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in MEASURES.items())
    held_out = f"held-out seeds: {', '.join(map(str, numbers))}"
    typer.echo(
        f"\n{practice.describe()}; {held_out}.\n"
        f"Interquartile means over trainings and seeds [95 % bootstrap interval]. {meanings}."
    )
