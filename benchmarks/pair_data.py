"""The published pairs of jobs on one GPU of ``../shared/data/profiles``, and the figures we ship of them."""

from collections.abc import Mapping

from benchmarks.profile_fit_data import CATALOGUE, rows
from pointsman.speed.interference_file import InterferenceSpec, TypeFigures, interference_yaml
from pointsman.speed.interference_fit import Pair

SOURCES = ("gavel_simulation", "gavel_oracle")
"""Gavel's two tables. The first is what its simulations and our figures use; they disagree."""


def pairs(source: str) -> list[Pair]:
    """Each measured pair once.

    Jobs on one GPU only. Left out: zeros, which are pairs that were not measured; mirror images of other rows; and the
    rows called unconsolidated, which with one GPU are the same figures again.
    """
    return [
        Pair(
            r["gpu_type"],
            CATALOGUE.model_name(r["model_a"]),
            CATALOGUE.model_name(r["model_b"]),
            float(r["norm_a"]),
            float(r["norm_b"]),
        )
        for r in on_one_gpu(source)
        if float(r["norm_a"]) > 0 and float(r["norm_b"]) > 0
    ]


def on_one_gpu(source: str) -> list[dict[str, str]]:
    """The rows of a source with jobs on one GPU, one of each two that are mirror images."""
    return [
        r
        for r in rows("gavel_pairs.csv.gz")
        if (r["source"], r["n_gpus_a"], r["n_gpus_b"], r["placement"]) == (source, "1", "1", "consolidated")
        and (r["model_a"], int(r["bs_a"])) <= (r["model_b"], int(r["bs_b"]))
    ]


def shipped_text(figures: Mapping[str, TypeFigures], spec: InterferenceSpec) -> str:
    """The file that should be shipped: these figures, with the source and the stand-ins of `spec`."""
    return interference_yaml("gavel", spec.source, figures, spec.stand_ins)
