"""Files of learnt slow-downs: what is written is read again, and what is wrong is refused with its line."""

from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.speed import load_catalogue
from pointsman.speed.interference.learned.combinations import Combination, most_others
from pointsman.speed.interference.learned.file import is_learned, learned_yaml, read_learned
from pointsman.speed.interference.node_law import load_node_law

TEXT = """\
apiVersion: pointsman/v1
kind: LearnedInterference
metadata: {name: campus}
spec:
  source: our runs
  servers:
  - gpu_type: v100
    gpus: 4
    models:
      vgg16:
        otherwise: {alone: 0.9, per_own_gpu: 1.2, beside: {wlm: {met: 1.1, per_gpu: 1.05}}}
        measured:
          '1': 1.0
          1 beside wlm*1: 1.0333333333
        predicted:
          1 beside wlm*2: [1.25, 0.01]
"""


def read(folder: Path, text: str = TEXT) -> object:
    (folder / "mine.yaml").write_text(text)
    return read_learned(folder / "mine.yaml", load_catalogue())


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    spec = read(tmp_path)
    again = read(tmp_path, learned_yaml("campus", spec.source, spec.servers))
    assert again == spec and again.models == ["vgg16", "wlm"]
    (server,) = spec.servers
    assert server.slow_downs == {
        Combination("vgg16", 1, ()): 1.0,
        Combination("vgg16", 1, (("wlm", 1),)): 1.0333333333,
        Combination("vgg16", 1, (("wlm", 2),)): 1.25,
    }


def test_the_law_is_for_the_rest(tmp_path: Path) -> None:
    law = read(tmp_path).servers[0].models["vgg16"].otherwise
    assert law.slow_down(Combination("vgg16", 2, (("wlm", 2),))) == pytest.approx(0.9 * 1.2**2 * 1.1 * 1.05**2)
    assert law.slow_down(Combination("vgg16", 1, (("dssm", 2),))) == pytest.approx(1.08), "of dssm it says nothing"
    assert law.model_copy(update={"alone": 0.1}).slow_down(Combination("vgg16", 1, ())) == 1.0
    assert law.model_copy(update={"alone": 999.0}).slow_down(Combination("vgg16", 9, ())) == 1000.0


def test_the_example_of_the_guide_is_a_valid_file(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/guides/learn-interference.md").read_text()
    spec = read(tmp_path, page.split("```yaml\n")[1].split("```")[0])
    assert spec.servers[0].slow_downs[Combination("vgg16", 1, (("wlm", 3),))] == 1.2


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    assert read(tmp_path).source == "our runs"
    assert read(tmp_path, TEXT.replace("our runs", "later runs")).source == "later runs"


def test_its_kind_is_told_from_the_file(tmp_path: Path) -> None:
    read(tmp_path)
    assert is_learned(tmp_path / "mine.yaml")
    (tmp_path / "mine.json").write_text('{"apiVersion": "pointsman/v1", "kind": "LearnedInterference"}')
    assert is_learned(tmp_path / "mine.json")
    (tmp_path / "law.yaml").write_text("kind: NodeInterference\n# kind: LearnedInterference\n")
    assert not any(map(is_learned, (tmp_path / "law.yaml", tmp_path, tmp_path / "none.yaml", "table")))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1.0333333333", "0.9", r"mine.yaml:14: .*greater than or equal to 1"),
        ("[1.25, 0.01]", "[1.25, -1]", r"mine.yaml:16: .*greater than or equal to 0"),
        ("[1.25, 0.01]", "1.25", r"mine.yaml:16: "),
        ("1 beside wlm*2", "1 beside wlm", r"mine.yaml:\d+: .*'1 beside wlm' is no combination"),
        ("1 beside wlm*2", "1 beside wlm*1", r"mine.yaml:\d+: .*'1 beside wlm\*1' is there twice"),
        ("1 beside wlm*2", "1 beside lmw*2", r"mine.yaml:10: unknown model 'lmw' \(did you mean"),
        ("{wlm: {", "{lmw: {", r"mine.yaml:10: unknown model 'lmw'"),
        ("vgg16:", "vgg-16:", r"mine.yaml:10: unknown model 'vgg-16'"),
        ("1 beside wlm*2", "1 beside wlm*34", r"mine.yaml:\d+: .*others have more GPUs than 33"),
        ("gpus: 4", "gpus: four", r"mine.yaml:8: "),
        ("alone: 0.9", "alone: 0", r"mine.yaml:11: .*greater than 0"),
        ("alone: 0.9", "lone: 0.9", r"mine.yaml:11: unknown key 'lone' \(did you mean 'alone'"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in TEXT
    with pytest.raises(UsageError, match=said):
        read(tmp_path, TEXT.replace(old, new))


def test_a_kind_of_server_is_there_once(tmp_path: Path) -> None:
    server = TEXT[TEXT.index("  - gpu_type") :]
    with pytest.raises(UsageError, match=r"mine.yaml:17: servers of 4 x v100 are there twice"):
        read(tmp_path, TEXT + server)


def test_it_has_no_parameters(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(UsageError, match=r"was learnt and has no parameters \(leave out :kappa=4\)"):
        load_node_law(f"{tmp_path}/mine.yaml:kappa=4", load_catalogue())


def test_combinations_have_whole_numbers_of_53_bits() -> None:
    assert [most_others(models) for models in (1, 8, 34)] == [53, 16, 10]
    assert 35**10 < 2**53 < 35**11
