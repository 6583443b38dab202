"""What users write for models, batches and devices."""

import os
from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.measure.models.catalogue import MODELS
from pointsman.measure.names import Batches, Model, find_models, whole_numbers
from pointsman.measure.slots import one_slot, slots_of
from pointsman.speed import load_catalogue

OWN = Path(__file__).with_name("own_jobs.py")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resnet50", "resnet50"),
        ("ResNet-50", "resnet50"),
        ("BERT-base", "bert"),
        ("tiny-mlp", "tiny_mlp"),
        ("lm", "lstm"),
    ],
)
def test_models_are_known_by_their_names_and_aliases(text: str, name: str) -> None:
    assert find_models([text]) == [Model(name, name, MODELS[name].batch)]


def test_models_are_called_as_in_the_catalogue_of_profiles() -> None:
    catalogue = load_catalogue()
    assert {name for name in MODELS if catalogue.knows(name)} == {
        "resnet18", "resnet50", "vgg16", "bert", "gpt2", "lstm", "ncf",
    }  # fmt: skip
    assert all(catalogue.model_name(name) == name for name in MODELS if catalogue.knows(name))


def test_a_function_of_a_file_is_a_model() -> None:
    (model,) = find_models([f"{os.path.relpath(OWN)}:spin"])
    assert model == Model("spin", f"{OWN}:spin", None)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["resnet51"], r"no model 'resnet51' to measure \(did you mean 'resnet50'"),
        (["nowhere.py:spin"], r"there is no file nowhere\.py"),
        (["bert", "BERT-base"], "'BERT-base' and 'bert' are both called bert"),
        ([f"{OWN}:bert_base", "bert"], "'bert' and '.*own_jobs.py:bert_base' are both called bert"),
        ([f"{OWN}:mine", f"{OWN}:Mine"], "are both called mine"),
    ],
)
def test_wrong_models_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_models(texts)


BERT, OURS = Model("bert", "bert", 8), Model("ours", "f.py:ours", None)


def test_batches_are_of_one_model_of_all_or_usual() -> None:
    batches = Batches(["16,32", "BERT=4"], [BERT, OURS])
    assert (batches.of(BERT), batches.of(OURS)) == ((4,), (16, 32))
    assert Batches(["8", "bert=4", "bert=2,4", "16,8"], [BERT]).of(BERT) == (4, 2)
    assert Batches(["8", "16,8"], [BERT]).of(BERT) == (8, 16)
    assert Batches([], [BERT]).of(BERT, (1, 0.25, 0.3)) == (8, 2)
    assert Batches([], [BERT]).only(BERT) == 8


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["8,x"], "--batch 8,x: 'x' is no whole number"),
        (["bert=8,ours=4"], "of one model each; repeat --batch, as --batch bert=8 --batch"),
        (["0"], "'0' is no whole number from 1"),
        (["bart=8"], r"no model 'bart' is measured \(did you mean 'bert'"),
    ],
)
def test_wrong_batches_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Batches(texts, [BERT])


def test_batches_that_are_missing_or_too_many_are_told() -> None:
    with pytest.raises(UsageError, match="ours has no usual batch: give it, as --batch ours=32"):
        Batches([], [OURS]).of(OURS)
    with pytest.raises(UsageError, match="bert: several batches, 8, 16"):
        Batches(["8,16"], [BERT]).only(BERT)


def test_numbers_count_once() -> None:
    assert whole_numbers("--accumulate", "4, 2,4", 9) == (4, 2)


def test_each_gpu_is_a_slot() -> None:
    assert [slot.device for slot in slots_of("cuda, cuda:3", None)] == ["cuda:0", "cuda:3"]


def test_what_has_one_device_takes_no_list() -> None:
    assert one_slot("cuda:1", None) == slots_of("cuda:1", None)[0]
    assert one_slot("cpu", None).device == "cpu"
    with pytest.raises(UsageError, match="--device cuda:0,cuda:1: several devices are for 'measure node'; name one"):
        one_slot("cuda:0,cuda:1", None)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux pins processes")
def test_cores_are_divided_into_slots() -> None:
    own = sorted(os.sched_getaffinity(0))
    assert [slot.cores for slot in slots_of("cpu", None)] == [(core,) for core in own]
    assert [slot.cores for slot in slots_of("cpu", len(own))] == [tuple(own)]
    with pytest.raises(UsageError, match=f"--cores {len(own) + 1}: this process may use {len(own)}"):
        slots_of("cpu", len(own) + 1)


@pytest.mark.parametrize(
    ("devices", "cores", "message"),
    [
        ("gpu", None, "'gpu' is no device"),
        ("cpu,cuda", None, "'cpu' is no device"),
        ("cuda:1000", None, "'cuda:1000' is no device"),
        ("cuda:\u0661", None, "is no device"),
        ("cuda,cuda:0", None, "a device is named twice"),
        ("cuda", 2, "--cores goes with --device cpu"),
    ],
)
def test_wrong_devices_are_refused(devices: str, cores: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        slots_of(devices, cores)
