"""The figures of ``docs/results/profiles.md``, from its data files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from benchmarks.results.figures import markdown

PAGE: Final = Path(__file__).parent.parent / "docs" / "results" / "profiles.md"
DATA: Final = PAGE.parent / "data"
FILES: Final = tuple(f"profiles{part}" for part in ("", "-networks", "-spread", "-collectives", "-links", "-odd"))
REACHES: Final = ("one GPU", "one node", "several nodes")
T4, A100, K80, P100, V100 = "Pollux, T4", "ElasticFlow, A100", "Gavel, K80", "Gavel, P100", "Gavel, V100"
ODD: Final = (
    *((T4, "bert", placement, 4.0) for placement in ("1+1", "1+1+1", "4+4", "4+4+4")),
    *((V100, "resnet18", placement, 16.0) for placement in ("1", "8")),
    *((K80, "resnet18", "1", batch) for batch in (16.0, 32.0)),
    *((A100, "deepspeech2", "1", batch) for batch in (32.0, 320.0)),
    *((A100, "ncf", f"{gpus}", 32768.0 / gpus) for gpus in (1, 2, 4, 8)),
)
"""Table, model, GPUs of each node and batch a GPU of the measured steps that the page quotes."""
Frames = Mapping[str, pl.DataFrame]


def read(folder: Path = DATA) -> Frames:
    """The data files."""
    return {name: pl.read_csv(folder / f"{name}.csv", infer_schema_length=None) for name in FILES}


def _of(frames: Frames, table: str, model: str = "") -> Mapping[str, Any]:
    same = pl.col("model").fill_null("") == model
    return frames["profiles"].row(by_predicate=(pl.col("table") == table) & same, named=True)


def _tables(frames: Frames) -> list[str]:
    return [name for name in frames["profiles"]["table"].unique(maintain_order=True) if name != "all"]


def _law(frames: Frames, start: str) -> Mapping[str, Any]:
    return frames["profiles-links"].row(by_predicate=pl.col("law").str.starts_with(start), named=True)


def _network(frames: Frames, table: str) -> Mapping[str, Any]:
    return frames["profiles-networks"].row(by_predicate=pl.col("table") == table, named=True)


def _steps(frames: Frames, table: str, model: str) -> list[float]:
    """Of the rows of `ODD`."""
    return frames["profiles-odd"].filter(table=table, model=model)["step_s"].to_list()


def _layouts(frames: Frames, name: str) -> pl.Series:
    return frames["profiles-collectives"][name]


def answer(frames: Frames) -> str:
    """The bullets."""
    of, v100 = _of(frames, "all"), _of(frames, V100)["all_left_out"]
    others = [_of(frames, name)["all_left_out"] for name in _tables(frames) if name != V100]
    fair, halved, none = (_law(frames, start)["left_out_percent"] for start in ("max–min fair, duty", "halved", "no"))
    own, together = (_layouts(frames, name) for name in ("own_line_percent", "one_law_from_1_mb_percent"))
    return f"""\
* **Expect a step to be {min(others):.1f} to {max(others):.1f} % off** with the shipped profiles, {v100:.1f} % with
  those of V100. Fit your own cluster with the gang sizes that you run.
* **The median error of a step is {of["all_left_out"]:.1f} %** over {of["rows"]:,} rows, each placement left out of
  the fit in turn. With all rows in the fit it is {of["all_seen"]:.1f} %. The goal was 8 %.
* **On one GPU the goal of 5 % is missed.** The error is {of["one_gpu_left_out"]:.1f} % if all rows on one GPU are left
  out, {of["one_gpu_row_left_out"]:.1f} % if only that row is, {of["one_gpu_seen"]:.1f} % with all rows in the fit.
* **The law fails on Gavel's V100**: {v100:.1f} % left out, compared with {min(others):.1f} to {max(others):.1f} % on
  the other tables. Its rows seem to come from different machines.
* **One law for all layouts of a cluster is not enough.** A line through one layout of an all-reduce is {own.min():.1f}
  to {own.max():.1f} % off. One law for the whole cluster is up to {together.max():.0f} % off, even above 1 MB.
* **Two jobs on one link** need a model of contention. On pairs left out of the fit, max–min fairness with duty-cycle
  demand is {fair:.1f} % off, halving while both communicate {halved:.1f} %, no contention {none:.1f} %.
"""


def by_table(frames: Frames) -> str:
    """A row for each table."""
    names = ("table", "rows", *(f"{name}: seen / left out" for name in ("all", *REACHES)), "one GPU: row left out")
    rows = []
    for table in ("all", *_tables(frames)):
        of = _of(frames, table)
        cells = [
            f"{of[f'{key}_seen']:.1f} / {of[f'{key}_left_out']:.1f}"
            for key in ("all", *(name.replace(" ", "_").lower() for name in REACHES))
        ]
        rows.append([table, f"{of['rows']:,}", *cells, f"{of['one_gpu_row_left_out']:.1f}"])
    return markdown(names, rows)


def networks(frames: Frames) -> str:
    """The network that each table shows."""
    names = (
        "table", "in a node, GB/s per GPU", "latency, µs", "between nodes, GB/s", "per", "latency, µs",
    )  # fmt: skip
    rows = [
        [of["table"], f"{of['node_gb_per_s']:.2f}", f"{of['node_latency_us']:.0f}", f"{of['rack_gb_per_s']:.2f}",
         of["cards_per"], f"{of['rack_latency_us']:.0f}"]
        for of in frames["profiles-networks"].rows(named=True)
    ]  # fmt: skip
    return markdown(names, rows)


def networks_said(frames: Frames) -> str:
    """What they are beside the nominal ones."""
    slow = [_network(frames, name)["rack_gb_per_s"] for name in (K80, P100, V100)]
    return (
        f"A T4 node's card moves {_network(frames, T4)['rack_gb_per_s']:.2f} GB/s of its nominal 6.25. The network of "
        f"Gavel's machines moves {min(slow):.2f} to {max(slow):.2f} of its nominal 1.25. In an A100 node the time does "
        "not depend on bytes: the bandwidth found there is the upper limit of the search.\n"
    )


def odd(frames: Frames) -> str:
    """Rows that no law covers."""
    two, three, eight, twelve = _steps(frames, T4, "bert")
    alone, of_eight = _steps(frames, V100, "resnet18")
    small, large = _steps(frames, K80, "resnet18")
    one, ten = _steps(frames, A100, "deepspeech2")
    ncf = ", ".join(f"{1000 * step:.0f}" for step in _steps(frames, A100, "ncf"))
    share = 100 * _of(frames, T4)["rows"] / _of(frames, "all")["rows"]
    gavel = [_of(frames, name) for name in (K80, P100, V100)]
    lone, apart = sum(of["one_gpu_rows"] for of in gavel), [of["one_gpu_row_left_out"] for of in gavel]
    return f"""\
* **Two nodes are slower than three** in Pollux's table: BERT at batch 4 takes {two:.2f} s on 1+1 T4 and {three:.2f} s
  on 1+1+1; {eight:.2f} s on 4+4 and {twelve:.2f} s on 4+4+4. The law cannot express that.
* **Gavel's V100**: ResNet-18 at batch 16 runs {1 / alone:.0f} steps/s on one GPU and {1 / of_eight:.0f} on each of
  eight.
* **Gavel's K80**: ResNet-18 takes {small:.2f} s at batch 16 and {large:.2f} s at batch 32.
* **ElasticFlow's A100**: DeepSpeech2 takes {ten / one:.0f} times as long at ten times the batch. NCF at one global
  batch takes {ncf} ms on 1, 2, 4 and 8 GPUs.
* **Weights.** {share:.0f} % of the rows are Pollux's, which dominates the medians over all rows. Of the
  {_of(frames, "all")["one_gpu_rows"]} rows on one GPU {lone} are Gavel's. A single row left out is
  {min(apart):.0f} to {max(apart):.0f} % off there.
"""


def spread(frames: Frames) -> str:
    """The ratio of a step on several nodes to one on one node."""
    names = ("model", "rows", "measured ratio", "predicted ratio", "median error, %")
    rows = [
        [of["model"], str(of["rows"]), f"{of['measured']:.2f}", f"{of['predicted']:.2f}", f"{of['error_percent']:.1f}"]
        for of in frames["profiles-spread"].rows(named=True)
    ]
    return markdown(names, rows)


def collectives(frames: Frames) -> str:
    """What all-reduces say."""
    of = frames["profiles-collectives"].with_columns(pl.col("gpus_per_node").cast(pl.String))
    nodes = of.filter(~pl.col("gpus_per_node").str.contains("-"), pl.col("cluster").str.ends_with("dgx"))
    above, below = nodes["one_law_from_1_mb_percent"], nodes["one_law_below_1_mb_percent"]
    pairs = of.filter(pl.col("cluster").str.contains("pairwise"), gpus_per_node="4")["one_law_from_1_mb_percent"]
    return f"""\
* In one NVSwitch node the one law is {above.min():.0f} to {above.max():.0f} % off from 1 MB on. Below 1 MB it is up to
  {below.max():.0f} % off, because latency does not grow with the GPUs as a ring's steps do.
* Where only pairs of GPUs have NVLink, the law is {pairs.min():.0f} to {pairs.max():.0f} % off for four GPUs. Four
  communicate over PCIe, two do not.
* Between DGX nodes the layouts differ too: a node has several cards and uses some of them.
"""


def links(frames: Frames) -> str:
    """Laws of two jobs on one link."""
    rows = [
        [of["law"], *(f"{of[name]:.1f}" for name in ("median_percent", "p90_percent", "left_out_percent"))]
        for of in frames["profiles-links"].rows(named=True)
    ]
    return markdown(("law", "median, %", "90th percentile, %", "pairs left out: median, %"), rows)


BLOCKS: Final[Mapping[str, Callable[[Frames], str]]] = {
    "answer": answer, "tables": by_table, "odd": odd, "networks": networks, "networks-said": networks_said,
    "spread": spread, "collectives": collectives, "links": links,
}  # fmt: skip
