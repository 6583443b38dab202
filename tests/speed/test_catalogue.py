"""The shipped profiles, a user's own, and what is said of a wrong file."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.cluster.gpu_catalogue import GPU_MODELS
from pointsman.errors import UsageError
from pointsman.speed import load_catalogue
from pointsman.speed.profiles.catalogue import SHIPPED

CATALOGUE = load_catalogue()

GAVEL = {
    "A3C": "a3c", "CycleGAN": "cyclegan", "LM": "lstm", "Recommendation": "recommendation",
    "ResNet-18": "resnet18", "ResNet-50": "resnet50", "Transformer": "transformer",
}  # fmt: skip
POLLUX = {
    "bert": "bert", "cifar10": "resnet18", "deepspeech2": "deepspeech2", "imagenet": "resnet50",
    "ncf": "ncf", "yolov3": "yolov3",
}  # fmt: skip
TIRESIAS = [
    "alexnet",
    "googlenet",
    "inception3",
    "inception4",
    "resnet50",
    "resnet101",
    "resnet152",
    "vgg11",
    "vgg16",
    "vgg19",
]

MINE = """\
apiVersion: pointsman/v1
kind: ModelProfiles
metadata: {name: mine}
spec:
  sources:
    me: my own bench, November
  gpu_types:
    x1: {title: My card, relative_speed: 2.0, source: me}
  models:
    llama:
      title: My Llama
      aliases: [LLaMA-7B]
      gradient: {bytes: 13.5e9, source: me}
      batch: {per_gpu: 2, source: me}
      memory: {fixed_bytes: 60.0e9, bytes_per_sample: 4.0e9, source: me}
      overlap: {delta: .inf, source: "ours: it hides everything"}
      compute:
        x1: {alpha_s: 0.1, beta_s_per_sample: 0.3, source: "me: 12 runs"}
"""


def test_there_are_enough_models_and_each_knows_its_sources():
    assert len(CATALOGUE.models) == 34  # as docs/formats/model-profiles.md says
    for profile in CATALOGUE.models.values():
        for _, source in profile.cited():
            assert source.partition(":")[0] in CATALOGUE.sources


@pytest.mark.parametrize(("name", "canonical"), [*GAVEL.items(), *POLLUX.items(), *((n, n) for n in TIRESIAS)])
def test_models_answer_to_the_names_traces_use(name, canonical):
    assert CATALOGUE.model_name(name) == canonical and CATALOGUE.knows(name)


def test_a_stranger_is_unknown():
    assert not CATALOGUE.knows("bert 2") and not CATALOGUE.knows("")


@pytest.mark.parametrize("page", ["docs/formats/model-profiles.md"])
def test_the_example_on_the_page_is_a_valid_file(tmp_path, page):
    example = (Path(__file__).parents[2] / page).read_text().split("```yaml\n")[1].split("```")[0]
    assert load_catalogue(write(tmp_path, example)).knows("llama-7b")


@pytest.mark.parametrize("gpu", GPU_MODELS)
def test_every_gpu_of_the_cluster_catalogue_has_a_speed(gpu):
    for model in CATALOGUE.models:
        compute, assumed = CATALOGUE.compute(model, gpu)
        measured = CATALOGUE.gpu_name(gpu) in CATALOGUE.models[model].compute
        assert compute.time_s(1) > 0 and (assumed is None) == measured


def test_a_type_without_measurement_is_scaled_from_the_most_similar_one():
    a100, _ = CATALOGUE.compute("vgg16", "A100")
    h100, assumed = CATALOGUE.compute("VGG-16", "H100")
    assert h100.time_s(64) == pytest.approx(a100.time_s(64) * 1.6 / 3.2)
    assert assumed == "vgg16 on h100: no measurement, 0.5 times its time on a100"


def test_memory_grows_with_the_batch_and_a_default_batch_fits_a_v100():
    """But for the large ones, which only 80 GB GPUs train."""
    for name, profile in CATALOGUE.models.items():
        if name.startswith("llama2"):
            continue
        assert profile.memory_bytes(1) < profile.memory_bytes(2)
        assert profile.memory_bytes(profile.batch.per_gpu) < 16 * 2**30, name


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_a_users_own_profile(tmp_path):
    mine = load_catalogue(write(tmp_path, MINE))
    assert mine.model("llama_7b").gradient.bytes == 13.5e9
    assert mine.compute("llama", "X1")[0].time_s(2) == pytest.approx(0.7)
    assert mine.compute("bert", "x1")[1] is not None
    assert set(CATALOGUE.models) < set(mine.models) and "llama" not in load_catalogue().models


def test_a_users_profile_replaces_the_shipped_one(tmp_path):
    text = MINE.replace("llama:", "bert:").replace("aliases: [LLaMA-7B]", "aliases: []")
    assert load_catalogue(write(tmp_path, text)).model("BERT").title == "My Llama"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("alpha_s: 0.1", "alpha: 0.1", r"mine.yaml:18: unknown key 'alpha' .*did you mean 'alpha_s'"),
        ("aliases:", "alias:", r"mine.yaml:12: unknown key 'alias' \(did you mean 'aliases'"),
        ("batch: {per_gpu: 2, source: me}", "", r"mine.yaml:10: 'spec.models.llama.batch' is missing"),
        ("per_gpu: 2", "per_gpu: 0", r"mine.yaml:14: .*per_gpu: .*greater than or equal to 1"),
        ("per_gpu: 2", "per_gpu: many", r"mine.yaml:14: .*per_gpu: .*whole number"),
        ("bytes: 13.5e9", "bytes: true", r"mine.yaml:13: .*bytes: a number is wanted, not true or false"),
        ("bytes: 13.5e9", "bytes: .nan", r"mine.yaml:13: .*bytes: .*(finite|greater)"),
        ("bytes: 13.5e9", "bytes: -1", r"mine.yaml:13: .*bytes: .*greater than or equal to 0"),
        ("delta: .inf", "delta: 0.5", r"mine.yaml:16: .*delta: .*greater than or equal to 1"),
        ("delta: .inf", "delta: .nan", r"mine.yaml:16: .*delta: "),
        ("alpha_s: 0.1, beta_s_per_sample: 0.3", "alpha_s: 0, beta_s_per_sample: 0", r"mine.yaml:18: .*are both 0"),
        ("source: me}\n      batch", "source: you}\n      batch", r"mine.yaml:13: source 'you' is not in spec.sources"),
        ("        x1: {alpha", "        a10O: {alpha", r"mine.yaml:18: unknown GPU type 'a10O' \(did you mean 'a100?'"),
        ("aliases: [LLaMA-7B]", "aliases: [BERT]", r"model name 'BERT' means both bert and llama"),
        ("  models:", "  models:\n    llama: {}", r"mine.yaml:11: .*key 'llama' is given twice \(first on line 10"),
        ("kind: ModelProfiles", "kind: Cluster", r"mine.yaml:2: kind: "),
        ("pointsman/v1", "pointsman/v2", r"mine.yaml:1: apiVersion: "),
        ("spec:", "spec: [", r"mine.yaml:\d+: not valid YAML"),
        ("title: My Llama", "title: &a x\n      aliases: [*a]", r"mine.yaml:12: .*aliases .* are not allowed"),
        ("title: My Llama", "title: 2026-13-45", r"mine.yaml:11: .*cannot read the value '2026-13-45'"),
    ],
)
def test_what_is_said_of_a_wrong_file(tmp_path, old, new, says):
    assert old in MINE
    with pytest.raises(UsageError) as raised:
        load_catalogue(write(tmp_path, MINE.replace(old, new, 1)))
    assert re.search(says, str(raised.value)), str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"- 1\n- 2\n", b"just words", b"[" * 5000])
def test_files_that_are_something_else(tmp_path, content):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"mine\.yaml"):
        load_catalogue(path)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_catalogue(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="cannot be read"):
        load_catalogue(tmp_path)


def loads_or_is_refused(path: Path) -> None:
    try:
        load_catalogue(path)
    except UsageError as error:
        assert str(path) in str(error) or "means both" in str(error)
        assert "\n" not in str(error)


@settings(max_examples=60)
@given(st.data())
def test_fuzz_a_file_with_parts_replaced(tmp_path_factory, data):
    text = MINE
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 20)))
        new = data.draw(st.one_of(st.text(max_size=12), st.sampled_from(["{", "}", "- ", ": ", "null", "\t", "!!set"])))
        text = text[:start] + new + text[stop:]
    path = tmp_path_factory.mktemp("fuzz") / "mine.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    loads_or_is_refused(path)


@settings(max_examples=60)
@given(st.data())
def test_fuzz_a_file_with_a_value_of_another_kind(tmp_path_factory, data):
    values = re.findall(r": ([\w.\-]+)[,}\n]", MINE)
    value = data.draw(st.sampled_from(values))
    new = data.draw(
        st.sampled_from(["null", "[]", "{}", "{a: b}", "1e999", "-1", "0", "''", "'1 GB'", "2026-01-01", "~"])
    )
    path = write(tmp_path_factory.mktemp("fuzz"), MINE.replace(value, new, 1))
    loads_or_is_refused(path)


@given(st.binary(max_size=200))
@settings(max_examples=40)
def test_fuzz_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        load_catalogue(path)


def test_shipped_files_are_within_the_package():
    assert len(list(SHIPPED.glob("*.yaml"))) >= 5


ASKED_FOR = [
    *("vgg16", "resnet50", "inception3", "mobilenet"),
    *("lstm", "transformer", "bert", "gpt2", "llama2_7b", "llama2_70b"),
    *("recommendation", "deepspeech2"),
    *POLLUX,
    *("resnet18", "shufflenet", "vgg19", "a2c", "dqn"),  # and vgg16, bert, gpt2: the HKU eight
    "lstm_ptb",  # and vgg16, resnet50, inception3: LWF's four
]


@pytest.mark.parametrize("name", ASKED_FOR)
def test_the_models_of_the_papers_are_there(name):
    assert CATALOGUE.knows(name)


@pytest.mark.parametrize(("name", "parameters", "stages"), [("llama2_7b", 6.738e9, 1), ("llama2_70b", 68.98e9, 4)])
def test_a_large_models_ring_between_nodes_carries_its_shard_of_a_stage(name, parameters, stages):
    """8 GPUs a node with a card each: a GPU exchanges 2 bytes of each parameter it holds, and little more."""
    profile = CATALOGUE.model(name)
    held_bytes = 2 * parameters / stages / 8
    assert held_bytes <= profile.gradient.bytes / 8 * 1.001 < 1.05 * held_bytes
    for gpu_type in ("a100", "h100"):
        assert profile.memory_bytes(profile.batch.per_gpu) < 80e9
        flops = 6 * parameters * 4096 / CATALOGUE.compute(name, gpu_type)[0].beta_s_per_sample
        assert 100e12 < flops < 500e12


def test_the_demands_on_nodes_are_those_of_the_published_table():
    """DL2's intra-node bandwidths; cores and sensitivities are ours."""
    published = {
        "resnet50": 306.5, "vgg16": 427.75, "resnext110": 63.0, "inception_bn": 1082.125, "seq2seq": 181.125,
        "cnn_text": 159.625, "dssm": 65.625, "wlm": 22.875,
    }  # fmt: skip
    known = {name: model.node for name, model in CATALOGUE.models.items() if model.node is not None}
    assert {name: node.traffic.mb_per_s_per_gpu for name, node in known.items()} == published
    for node in known.values():
        assert node.traffic.source.startswith("dl2:") and node.cores.source.startswith("ours:")


def test_a_wrong_demand_on_a_node_is_refused(tmp_path):
    text = MINE.replace(
        "      compute:\n", "      node: {cores: {per_gpu: -1, theta: 1, source: me}}\n      compute:\n"
    )
    with pytest.raises(UsageError, match=r"mine.yaml:\d+: .*node"):
        load_catalogue(write(tmp_path, text))


def test_models_with_batch_normalisation_do_not_accumulate() -> None:
    """By their layers, and for the VGGs by their parameters, which are those without."""
    without = {name for name, profile in CATALOGUE.models.items() if not profile.accumulates}
    residual = {"resnet18", "resnet50", "resnet101", "resnet152", "resnext110"}
    inception = {"googlenet", "inception3", "inception4", "inception_bn"}
    assert without == residual | inception | {"mobilenet_v3", "shufflenet_v2", "yolov3", "deepspeech2"}
