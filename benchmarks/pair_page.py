"""The figures of ``docs/results/pairs.md``, from its data files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from benchmarks.pair_data import SOURCES
from benchmarks.results.figures import markdown

PAGE: Final = Path(__file__).parent.parent / "docs" / "results" / "pairs.md"
DATA: Final = PAGE.parent / "data"
FILES: Final = ("pairs", "pairs-xi", "pairs-mappings", "pairs-stand-ins")
TYPES: Final = ("v100", "p100", "k80")
MAPPINGS: Final = ("table", "law", "table:sensitive", "table:insensitive", "table:resnet50", "table:resnet18")
SIMULATION, ORACLE = SOURCES
NAMES: Final = {SIMULATION: "simulation", ORACLE: "oracle"}
Frames = Mapping[str, pl.DataFrame]


def read(folder: Path = DATA) -> Frames:
    """The data files."""
    return {name: pl.read_csv(folder / f"{name}.csv", infer_schema_length=None) for name in FILES}


def _of(frames: Frames, kind: str, table: str = SIMULATION) -> Mapping[str, Any]:
    return frames["pairs"].row(by_predicate=(pl.col("table") == table) & (pl.col("gpu_type") == kind), named=True)


def _mapped(frames: Frames, interference: str, kind: str) -> Mapping[str, Any]:
    where = (pl.col("interference") == interference) & (pl.col("gpu_type") == kind)
    return frames["pairs-mappings"].row(by_predicate=where, named=True)


def _listed(frames: Frames, name: str, shown: str = ".2f", table: str = SIMULATION) -> str:
    """A figure on V100, P100 and K80."""
    first, second, third = (format(_of(frames, kind, table)[name], shown) for kind in TYPES)
    return f"{first}, {second} and {third}"


def _span(frames: Frames, name: str, shown: str = ".0f") -> str:
    values = [_of(frames, kind)[name] for kind in TYPES]
    return f"{min(values):{shown}} to {max(values):{shown}}"


def answer(frames: Frames) -> str:
    """The bullets."""
    kinds = [_mapped(frames, text, "v100") for text in ("table", "table:resnet50", "table:resnet18")]
    alike, large, small = (of["pay_percent"] for of in kinds)
    return f"""\
* **Measure your own pairs** of jobs if you have a GPU ([how](../formats/pairs.md)). Otherwise show results with both
  tables, and with `table:sensitive` and `table:insensitive`.
* **Gavel's two tables disagree.** In the shipped one sharing is beneficial for
  {_listed(frames, "models_pay_percent", ".0f")} % of the pairs of models on V100, P100 and K80. In the other it is for
  {_listed(frames, "models_pay_percent", ".0f", ORACLE)} %.
* **Two equal jobs slow each other by a factor of {_listed(frames, "xi_equal_jobs")}** (median, shipped table). Above
  1.5 sharing lengthens their mean completion time. Above 2 both end later. Over all measured jobs the medians are
  {_listed(frames, "xi_jobs")}.
* **The law** `ξ = exp(sensitivity + pressure)` is {_span(frames, "law_error_percent")} % off (median). For a pair that
  was left out of the fit it is {_span(frames, "law_error_left_out_percent")} % off.
* **Stand-ins for unmeasured models matter more.** They decide which pairs of the {kinds[0]["models"]} catalogue
  models gain from sharing on V100: {alike:.0f} % with stand-ins of the same kind, {large:.0f} % if all resembled
  ResNet-50, {small:.0f} % if all resembled ResNet-18.
"""


def overview(frames: Frames) -> str:
    """A row for each table and GPU type."""
    names = (
        "table", "GPU type", "measured", "missing", "not slowed", "ξ, all jobs", "ξ, equal jobs", "ξ, models",
        "beneficial, models, %", "beneficial, jobs, %",
    )  # fmt: skip
    rows = [
        [NAMES[of["table"]], of["gpu_type"], *(str(of[name]) for name in ("measured", "missing", "not_slowed")),
         *(f"{of[name]:.2f}" for name in ("xi_jobs", "xi_equal_jobs", "xi_models")),
         *(f"{of[name]:.0f}" for name in ("models_pay_percent", "jobs_pay_percent"))]
        for of in frames["pairs"].rows(named=True)
    ]  # fmt: skip
    return markdown(names, rows, words=2)


def law(frames: Frames) -> str:
    """How well the law does."""
    names = ("table", "GPU type", "R²", "error, %", "pair left out, %", "single jobs: law, %", "single jobs: table, %")
    wanted = ("law_error_percent", "law_error_left_out_percent", "law_error_jobs_percent", "table_error_jobs_percent")
    rows = [
        [NAMES[of["table"]], of["gpu_type"], f"{of['law_r2']:.2f}", *(f"{of[name]:.1f}" for name in wanted)]
        for of in frames["pairs"].rows(named=True)
    ]
    return markdown(names, rows, words=2)


def law_said(frames: Frames) -> str:
    """What a law of single measurements explains."""
    return (
        f"Batches matter. With a sensitivity and a pressure for each batch, the law explains "
        f"{_listed(frames, 'law_r2_jobs_by_batch')} of the variance of single measurements on V100, P100 and K80 "
        f"(R² of log ξ). With one for each model it explains {_listed(frames, 'law_r2_jobs_by_model')}.\n"
    )


def doubts(frames: Frames) -> str:
    """Jobs that were not slowed."""
    shares = []
    for kind, table in (("v100", SIMULATION), ("p100", ORACLE)):
        of = _of(frames, kind, table)
        shares.append(
            f"{100 * of['not_slowed'] / of['measured']:.0f} % of the jobs on {kind.upper()} in *{NAMES[table]}*, of "
            f"which {of['not_slowed_model_percent']:.0f} % are `{of['not_slowed_model']}`"
        )
    return (
        f"* **Some jobs are not slowed** (ξ = 1): {'; '.join(shares)}. Elsewhere there are none. Their "
        "speed alone may have been measured too low: the row of `resnet18` on V100 is doubtful.\n"
    )


def mappings(frames: Frames) -> str:
    """What a mapping of unmeasured models does."""
    rows = []
    for text in MAPPINGS:
        found = [_mapped(frames, text, kind) for kind in TYPES]
        rows.append([f"`{text}`", *(f"{of['xi']:.2f} / {of['pay_percent']:.0f}" for of in found)])
    return markdown(("interference", *(f"{kind}: median ξ / beneficial, %" for kind in TYPES)), rows)


def stand_ins(frames: Frames) -> str:
    """What is taken for what."""
    pairs, taken = frames["pairs-xi"], frames["pairs-stand-ins"]
    measured = [*pairs.filter(gpu_type="v100", table=SIMULATION)["model"].unique(maintain_order=True), *TYPES]
    rows = []
    for one in measured:
        names = taken.filter(taken_for=one)["name"].to_list()
        rows.append([f"`{one}`", ", ".join(f"`{name}`" for name in names) or "–"])
    return markdown(("measured", "stands in for"), rows, words=2)


BLOCKS: Final[Mapping[str, Callable[[Frames], str]]] = {
    "answer": answer, "overview": overview, "law": law, "law-said": law_said, "mappings": mappings,
    "stand-ins": stand_ins, "doubts": doubts,
}  # fmt: skip
