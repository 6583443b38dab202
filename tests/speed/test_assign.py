"""Models for traces that name none."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.errors import UsageError
from pointsman.speed import assign_models, load_catalogue, tabulate
from pointsman.speed.profiles.assign import MIXES


def jobs(gpus: list[int], models: list[str | None] | None = None) -> pl.DataFrame:
    return pl.DataFrame(
        {"gpus": gpus, "model": models or [None] * len(gpus), "batch_size": [16] * len(gpus)},
        schema={"gpus": pl.Int64, "model": pl.String, "batch_size": pl.Int64},
    )


@pytest.mark.parametrize("mix", MIXES)
def test_every_mix_names_profiles_that_exist(mix):
    names = {name for _, shares in MIXES[mix] for name in shares}
    assert names <= set(load_catalogue().models)


def test_shares_are_as_documented():
    drawn = assign_models(jobs([1] * 20_000), 7)["model"].value_counts()
    counts = dict(drawn.iter_rows())
    shares = MIXES["typical"][0][1]
    assert set(counts) == set(shares)
    for name, share in shares.items():
        assert counts[name] / 20_000 == pytest.approx(share / sum(shares.values()), abs=0.015)


def test_gpu_count_decides_the_class():
    drawn = assign_models(jobs([1, 2, 4, 5, 8, 9, 512] * 200), 3)
    for row, (gpus, model) in enumerate(drawn.select("gpus", "model").iter_rows()):
        shares = next(s for largest, s in MIXES["typical"] if gpus <= largest)
        assert model in shares, row


@given(st.lists(st.integers(1, 64), min_size=1, max_size=30), st.integers(-(2**70), 2**70), st.data())
def test_a_row_keeps_its_model_whatever_the_others_are(gpus, seed, data):
    cut = data.draw(st.integers(1, len(gpus)))
    whole, part = assign_models(jobs(gpus), seed), assign_models(jobs(gpus[:cut]), seed)
    assert whole["model"][:cut].equals(part["model"])


def test_seeds_differ():
    a, b = (assign_models(jobs([1] * 1000), seed)["model"] for seed in (0, 1))
    assert 50 < (a == b).sum() < 350  # about the chance that two draws agree


def test_named_models_stay_with_their_batch_and_the_rest_lose_it():
    out = assign_models(jobs([1, 1], ["bert", None]), 0)
    assert out["model"][0] == "bert" and out["batch_size"].to_list() == [16, None]


def test_the_insensitive_mix_is_insensitive():
    from pointsman.cluster import load_cluster

    layout = load_cluster("16x8/rack=4,gpu=v100").layout()
    demands = [(name, gpus, None) for name in MIXES["insensitive"][0][1] for gpus in (2, 8, 16, 64)]
    assert tabulate(layout, demands).rate.min() > 0.9


def test_unknown_mix():
    with pytest.raises(UsageError, match="did you mean 'typical'"):
        assign_models(jobs([1]), 0, mix="tipical")


def test_no_jobs():
    assert assign_models(jobs([]), 0).is_empty()
