"""The slow-down of jobs that share a GPU: what a word, a number or a file means, and what stands in for what."""

from itertools import product
from math import exp

import pytest

from pointsman.errors import UsageError
from pointsman.speed import load_catalogue, load_interference
from pointsman.speed.interference.file import PairLaw, TypeFigures, interference_yaml

CATALOGUE = load_catalogue()
SEVEN = ("a3c", "cyclegan", "lstm", "recommendation", "resnet18", "resnet50", "transformer")
MINE = {
    "a100": TypeFigures(
        slow_down={"bert": {"bert": 1.7, "ours": 1.3}, "ours": {"ours": 1.1}},
        law=PairLaw(sensitivity={"bert": 0.4, "ours": -0.1}, pressure={"bert": 0.3, "ours": 0.0}),
    )
}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file in which nobody measured `ours` beside `bert`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(interference_yaml("mine", "nobody", MINE))
    return "mine.yaml"


def slow_down(text, *asked):
    return load_interference(text, CATALOGUE).slow_down(*asked)


@pytest.mark.parametrize("text", ["table", "law", "table:sensitive", "table:insensitive", "law:sensitive", "table:a3c"])
def test_every_model_and_gpu_type_of_the_catalogue_has_figures(text):
    interference = load_interference(text, CATALOGUE)
    found = [interference.slow_down(*asked) for asked in product(CATALOGUE.gpu_types, CATALOGUE.models, SEVEN)]
    found += [interference.slow_down("v100", *pair) for pair in product(CATALOGUE.models, CATALOGUE.models)]
    assert len(found) == len(CATALOGUE.gpu_types) * 34 * 7 + 34**2
    assert all(1 <= xi < 8 for xi in found)


def test_a_measured_pair_is_the_median_and_not_symmetric():
    assert slow_down("table", "v100", "a3c", "resnet50") == 5.082
    assert slow_down("table", "V100-32GB", "ImageNet", "A3C") == 2.104
    assert slow_down("law", "v100", "a3c", "resnet50") == pytest.approx(exp(0.3472 + 0.9703))
    assert slow_down("law", "v100", "resnet18", "a3c") == 1, "the law's 0.96 is no slow-down"


def test_what_was_not_measured_is_taken_for_one_of_its_kind_and_of_similar_speed():
    as_shipped = load_interference("table", CATALOGUE)
    assert as_shipped.slow_down("h100", "bert", "vgg16") == slow_down("table", "v100", "transformer", "resnet50")
    assert as_shipped.slow_down("t4", "ncf", "dqn") == slow_down("table", "p100", "recommendation", "a3c")
    assert as_shipped.slow_down("p4", "lstm", "lstm") == slow_down("table", "k80", "lstm", "lstm")
    (sentence,) = as_shipped.about(["h100", "k80"], ["bert", "resnet50"])
    assert sentence.startswith("interference table: medians by pair of models, Gavel (Narayanan et al., OSDI 2020")
    assert sentence.endswith(
        "; 0 of 147 pairs filled by the law; taken by kind: h100 as v100, bert as transformer on h100, "
        "bert as transformer on k80"
    )


def test_other_mappings_take_all_that_was_not_measured_for_the_worst_the_mildest_or_one():
    assert slow_down("table:sensitive", "v100", "bert", "gpt2") == slow_down(
        "table", "v100", "recommendation", "resnet50"
    )
    assert slow_down("table:insensitive", "v100", "bert", "gpt2") == slow_down(
        "table", "v100", "resnet18", "transformer"
    )
    assert slow_down("table:cifar10", "v100", "bert", "lstm") == slow_down("table", "v100", "resnet18", "lstm")
    assert slow_down("table:sensitive", "v100", "resnet18", "a3c") == 1.0, "what was measured stays"
    assert (
        "bert as recommendation (slowed) and resnet50 (slowing) on v100"
        in load_interference("table:sensitive", CATALOGUE).about(["v100"], ["bert"])[0]
    )


def test_a_constant():
    assert slow_down("1.25", "anything", "at", "all") == 1.25
    assert load_interference("1", CATALOGUE).about() == (
        "interference: every job beside another on a GPU takes 1 times as long",
    )


def test_a_file_goes_before_the_table_and_the_law_fills_its_gaps(mine):
    assert slow_down(mine, "a100", "BERT-base", "ours") == 1.3
    assert slow_down(mine, "a100", "ours", "bert") == pytest.approx(exp(0.2))
    assert slow_down(mine, "v100", "bert", "bert") == 1.7, "its only GPU type"
    assert slow_down(mine, "a100", "bert", "resnet50") == slow_down("table", "a100", "bert", "resnet50")
    own, shipped = load_interference(mine, CATALOGUE).about(["a100"], ["bert"])
    assert own == "interference mine.yaml: medians by pair of models, nobody; 1 of 4 pairs filled by the law"
    assert shipped.startswith("interference table: ")


def test_a_file_with_a_mapping_has_all_the_say(mine):
    assert slow_down(f"{mine}:sensitive", "a100", "resnet50", "resnet50") == 1.7
    assert slow_down(f"{mine}:ours", "a100", "bert", "resnet50") == 1.3
    assert len(load_interference(f"{mine}:ours", CATALOGUE).about()) == 1


def test_a_model_that_is_like_nothing_known_is_refused_with_a_way_out(mine):
    with pytest.raises(UsageError, match=r"no slow-down of theirs beside bert in table \(profile pairs measures it; "):
        slow_down("table", "v100", "theirs", "bert")
    with pytest.raises(UsageError, match=r"no slow-down of ours beside resnet50 in mine.yaml, table \("):
        slow_down(mine, "a100", "ours", "resnet50")
    assert slow_down("table:resnet50", "v100", "theirs", "bert") > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tabel", r"unknown interference 'tabel' \(did you mean 'table'\?"),
        ("none.yaml", r"unknown interference 'none.yaml' \(.*or a file of 'profile pairs -o'\)"),
        ("0.9", r"interference '0.9': times as long as alone; give a number from 1"),
        ("nan", "give a number from 1"),
        ("inf", "give a number from 1"),
        ("table:sensitiv", r"unknown mapping 'sensitiv' of table \(did you mean 'sensitive'"),
        ("table:bert", r"unknown mapping 'bert' of table \(known: a3c"),
        ("table:", "unknown mapping ''"),
        ("1.5:sensitive", "unknown interference '1.5:sensitive'"),
    ],
)
def test_refused_words(text, message):
    with pytest.raises(UsageError, match=message):
        load_interference(text, CATALOGUE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "bert: 1.7",
            "bert: 0.7",
            r"mine.yaml:9: spec.gpu_types.a100.slow_down.bert.bert: .*greater than or equal to 1",
        ),
        ("bert: 1.7", "bert: true", r"mine.yaml:9: .*must be a number"),
        ("bert: 1.7", "bert: .inf", r"mine.yaml:9: .*less than or equal to 1000"),
        ("  a100:", "  a1000:", r"mine.yaml:7: unknown GPU type 'a1000' \(did you mean 'a100'.*--profiles FILE"),
        ("sensitivity: {bert", "sensitivity: {bart", "law.sensitivity must name the models of slow_down.*bart, bert"),
        (
            "source: nobody",
            "source: nobody\n  stand_ins: {gpt2: gpt}",
            "stand_ins.gpt2 is 'gpt', which is not measured",
        ),
        ("kind: Interference", "kind: ModelProfiles", "mine.yaml:2: kind: "),
        ("bert", "bert-base", r"mine.yaml:7: the catalogue knows 'bert-base' as 'bert' \(write 'bert'\)"),
        ("source: nobody", "sauce: nobody", r"mine.yaml:5: unknown key 'sauce' \(did you mean 'source'"),
    ],
)
def test_refused_files(mine, tmp_path, old, new, message):
    text = (tmp_path / mine).read_text()
    assert old in text
    (tmp_path / mine).write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=message):
        load_interference(mine, CATALOGUE)


def test_table_and_law_agree_on_what_was_measured():
    for kind in ("k80", "p100", "v100"):
        for pair in product(SEVEN, SEVEN):
            law, table = slow_down("law", kind, *pair), slow_down("table", kind, *pair)
            assert 0.4 < law / table < 2.2, (kind, pair)
