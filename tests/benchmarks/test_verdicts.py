"""What pages of results say in words holds for their data: recommendations, their conditions, and verdicts."""

from functools import cache
from pathlib import Path

import polars as pl

from benchmarks.results.__main__ import read
from benchmarks.results.figures import Figures, Where
from benchmarks.results.pages import _classical, _dally, _lwf, index
from benchmarks.results.pages._dally import BASE, BATCHES, CONGESTED, HARD, NEAR, RACKS, SAME, SHARED, WHOLE, everywhere

DATA = Path(__file__).parents[2] / "docs" / "results" / "data"


@cache
def data_of(page: str) -> Figures:
    return read(DATA / f"{page}.csv")


def changes(wheres: list[Where], who: str, other: str) -> list[float]:
    return [data_of("dally").change(where, who, other).percent for where in wheres]


def test_gittins_is_to_be_preferred_to_backfilling() -> None:
    assert min(index.gains(data_of("index"))) > 0
    assert min(index.gains(data_of("index"), overheads=index.PERIODIC)) > 0


def test_preempting_is_better_than_not_even_if_half_an_hour_of_work_is_lost() -> None:
    assert min(index.gains(data_of("index"), index.KEEPING, index.PERIODIC)) > 0


def test_gittins_gains_less_without_preemption() -> None:
    runs = pl.read_csv(DATA / "gittins.csv", infer_schema_length=None)
    cell = ["workload", "load", "models", "overheads"]
    means = runs.group_by(*cell, "policy").agg(pl.col("jct_mean_s").mean()).pivot("policy", index=cell)
    both = means.drop_nulls(["gittins", "gittins, preempt=false"])
    assert both.height >= 5
    assert (both["gittins, preempt=false"] > both["gittins"]).all()


def test_gittins_is_as_good_as_tiresias_where_all_of_the_network_is_slow() -> None:
    found = [data_of("dally").change(where, "gittins", SAME) for where in everywhere([CONGESTED])]
    assert not any(change.low > 0 for change in found), "it is certainly worse nowhere"
    assert max(change.percent for change in found) < 1


def test_dally_is_better_where_uplinks_are_oversubscribed() -> None:
    assert max(changes(everywhere(RACKS), BASE, SAME)) < 0
    assert max(changes(everywhere(RACKS), BASE, "fifo-backfill")) < 0


def test_part_of_that_comes_from_few_racks() -> None:
    racks, all_of_it = (changes([HARD], BASE, other)[0] for other in (NEAR, SAME))
    assert all_of_it < racks < 0
    assert min(changes(everywhere(SHARED), BASE, NEAR)) > min(changes(everywhere(RACKS), BASE, NEAR))
    assert changes([HARD], NEAR, SAME)[0] < 0


def test_dally_is_worse_on_an_even_slow_network_and_in_batches() -> None:
    assert min(changes(everywhere([CONGESTED]), BASE, SAME)) > 0
    assert not any(data_of("dally").change(where, WHOLE, SAME).is_sure for where in everywhere([CONGESTED]))
    batches = [data_of("dally").change(where, BASE, SAME) for where in everywhere(BATCHES)]
    assert min(change.percent for change in batches) > 0
    assert sum(change.low > 0 for change in batches) >= len(batches) - 1, "certainly so in all but one"


def test_levels_and_placement_are_substitutes() -> None:
    hours = _dally.substitutes(data_of("dally"))
    assert hours["any place", 12] < 0.5 * hours["any place", 2]
    assert 0.9 < hours["whole nodes", 12] / hours["whole nodes", 2] < 1
    assert hours["whole nodes", 2] < 0.5 * hours["any place", 2]


def test_preemption_is_dallys_most_important_part() -> None:
    parts = {part: changes([HARD], BASE, f"dally-{part}")[0] for part in ("manual", "consolidated", "nopreempt")}
    assert min(parts, key=lambda part: parts[part]) == "nopreempt"


def test_gittins_is_as_good_as_dally_where_uplinks_are_oversubscribed() -> None:
    found = [data_of("dally").change(where, BASE, "gittins") for where in everywhere(RACKS)]
    assert not any(change.high < 0 for change in found)


def test_one_job_per_gpu_is_better_than_lwf() -> None:
    figures = data_of("lwf")
    for policy in _lwf.ALONE[:3]:
        assert all(_lwf.alone(figures, workload, policy).percent < 0 for workload in (_lwf.CODE, _lwf.PAPER))
    for place in ("LWF-2", "LWF-4", "LWF-8", "first-fit"):
        assert figures.change(_lwf.at(_lwf.CODE), f"{place}, Ada-SRSF", _lwf.BASE).low > 0
    for workload in (_lwf.CODE, _lwf.PAPER):
        assert _lwf.ada(figures, workload, "LWF-1", "all at once").high < 0


def test_what_the_classical_page_recommends_is_better() -> None:
    figures = data_of("classical")
    hard = _classical.hardest(figures)

    def mean(who: str) -> list[float]:
        return [figures.mean(where, who) for where in hard]

    las, backfill, fifo, sjf = map(mean, (_classical.LADDER, "fifo-backfill", "fifo", "sjf-backfill"))
    for better, worse in ((las, backfill), (backfill, fifo), (sjf, backfill)):
        assert all(one < other for one, other in zip(better, worse, strict=True))
    assert sum(best > las_ for best, las_ in zip(mean("srtf"), las, strict=True)) <= 1
