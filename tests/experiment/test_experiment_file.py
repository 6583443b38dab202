from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.experiment import Experiment, read_experiment
from pointsman.inputs.config_file import parse_document
from pointsman.inputs.option_types import parse_window_s

GOOD = """\
apiVersion: pointsman/v1
kind: Experiment
metadata: {name: weekly}
spec:
  trace: jobs.csv
  cluster: 4x8
  policies:
    - fifo
    - {name: srtf, params: {margin_s: 60}}
  only: {queue: prod, status: [completed, failed]}
  window: "1d:8d"
"""

TOML = """\
apiVersion = "pointsman/v1"
kind = "Experiment"
[metadata]
name = "weekly"
[spec]
trace = "jobs.csv"
cluster = "4x8"
policies = ["fifo", {name = "srtf", params = {margin_s = 60}}]
only = {queue = "prod", status = ["completed", "failed"]}
window = "1d:8d"
"""


def parse(text: str, origin: str = "x.yaml") -> Experiment:
    return parse_document(text, Experiment, origin=origin).content


def test_yaml_and_toml_say_the_same() -> None:
    experiment = parse(GOOD)
    assert experiment == parse(TOML, "x.toml")
    assert [choice.name for choice in experiment.spec.policies] == ["fifo", "srtf"]
    assert experiment.spec.only == {"queue": ("prod",), "status": ("completed", "failed")}
    assert experiment.spec.window == (86400.0, 691200.0)


def test_the_resolved_document_reads_back_equal() -> None:
    assert parse(parse(GOOD).to_yaml()) == parse(GOOD)


def test_an_open_window_reads_back_equal() -> None:
    experiment = parse(GOOD.replace("1d:8d", "1d:"))
    assert parse(experiment.to_yaml()) == experiment


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("  cluster:", "  clutser:", r"x\.yaml:6: unknown key 'clutser' \(did you mean 'cluster'\?"),
        ("params:", "parms:", r"x\.yaml:9: unknown key 'parms' \(did you mean 'params'\?"),
        ("kind: Experiment", "kind: Cluster", r"x\.yaml:2: kind: must be 'Experiment', not 'Cluster'"),
        ("pointsman/v1", "pointsman/v2", r"x\.yaml:1: apiVersion: must be 'pointsman/v1', not 'pointsman/v2'"),
        ("  cluster: 4x8\n", "", r"x\.yaml:4: 'spec\.cluster' is missing"),
        ("    - fifo\n", "    - fifo\n    - fifo\n", r"x\.yaml:7: spec\.policies: fifo is given twice"),
        ("1d:8d", "tomorrow", r"x\.yaml:11: spec\.window: 'tomorrow' is no window"),
        ("1d:8d", "1d:8q", r"x\.yaml:11: spec\.window: '8q' is no duration"),
        ("1d:8d", "9d:8d", r"x\.yaml:11: spec\.window: the window '9d:8d' ends before it begins"),
        (
            "trace: jobs.csv",
            "trace: jobs.csv\n  trace: b",
            r"x\.yaml:6: .*key 'trace' is given twice \(first on line 5",
        ),
        ("cluster: 4x8", "cluster: 4x8\n  seeds: [1, -1]", r"x\.yaml:7: spec\.seeds\.1: .*greater than or equal to 0"),
        ("cluster: 4x8", "cluster: 4x8\n  assign_models: yes", r"x\.yaml:7: spec\.assign_models: .*not true"),
        ("cluster: 4x8", "cluster: 4x8\n  congestion: {rack: on}", r"x\.yaml:7: spec\.congestion\.rack: .*not true"),
        ("{queue: prod", "*anchor #", r"x\.yaml:10: not valid YAML: aliases"),
        (GOOD, "[1, 2]", r"x\.yaml:1: the document must be a mapping of keys"),
        (GOOD, "", r"x\.yaml: the file is empty"),
        (GOOD, "a: [", r"x\.yaml:1: not valid YAML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse(GOOD.replace(old, new, 1))


def test_toml_complaints_have_their_line() -> None:
    with pytest.raises(UsageError, match=r"x\.toml:7: unknown key 'clutser' \(did you mean 'cluster'\?"):
        parse(TOML.replace("cluster", "clutser"), "x.toml")
    with pytest.raises(UsageError, match=r"x\.toml: not valid TOML: .*line 1"):
        parse("a = = 1", "x.toml")


def test_files_are_looked_for_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").touch()
    (tmp_path / "mine.py").touch()
    path = tmp_path / "week.yaml"
    path.write_text(GOOD.replace("- fifo", "- mine.py:Mine"))
    spec = read_experiment(path).spec
    assert spec.trace == str(tmp_path / "jobs.csv")
    assert spec.cluster == ("4x8",)
    assert [choice.name for choice in spec.policies] == [f"{tmp_path / 'mine.py'}:Mine", "srtf"]


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda p: None, "cannot be read: No such file"),
        (lambda p: p.mkdir(), "cannot be read: Is a directory"),
        (lambda p: p.write_bytes(b"\xff\xfe\x00"), "not UTF-8 text"),
    ],
)
def test_unreadable_files(tmp_path: Path, write, sentence: str) -> None:
    path = tmp_path / "week.yaml"
    write(path)
    with pytest.raises(UsageError, match=sentence):
        read_experiment(path)


@pytest.mark.parametrize(("text", "window"), [("1h:2h", (3600, 7200)), (":90", (0, 90)), ("90:", (90, float("inf")))])
def test_windows(text: str, window: tuple[float, float]) -> None:
    assert parse_window_s(text) == window
