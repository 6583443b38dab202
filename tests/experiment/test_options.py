"""An option is defined once: flags, file, keywords, resolved configuration and reference page say the same of it."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

import pointsman
import pointsman.api
from pointsman.cli import reference
from pointsman.cli.app import app
from pointsman.cli.flags import flag_of
from pointsman.cli.run import run
from pointsman.engine.rate_models.registry import factors, options_of_factors
from pointsman.engine.run import assembly, policy_terms
from pointsman.experiment import Assumptions, Experiment, ExperimentSpec, RunOptions
from pointsman.inputs.config_file import parse_document
from pointsman.inputs.option import about, option, sentence_of
from pointsman.report.metrics.groups import SETTINGS

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # ty: ignore
COMMANDS["config show"] = COMMANDS["config"].commands["show"]
OF_THE_CALL = {"workload", "cluster", "policy", "params", "until_s", "progress", "factors"}
"""What `simulate` takes besides options of the run; the last are options of factors that others register."""

SAID: dict[str, tuple[list[str], Any]] = {
    "trace": (["jobs.csv"], "jobs.csv"),
    "trace_format": (["--trace-format", "swf"], "swf"),
    "columns": (
        ["--columns", "submit_s=a,gpus=b", "--columns", "duration_s=c"],
        {"submit_s": "a", "gpus": "b", "duration_s": "c"},
    ),
    "ignore": (["--ignore", "gpu_type,partition", "--ignore", "user"], ["gpu_type", "partition", "user"]),
    "keep_columns": (
        ["--keep-columns", "deadline_s,tenant=VC", "--keep-columns", "flag"],
        ["deadline_s", "tenant=VC", "flag"],
    ),
    "time_unit": (["--time-unit", "min"], "min"),
    "date_order": (["--date-order", "dmy"], "dmy"),
    "steps": (["--steps", "drop"], "drop"),
    "runaways": (["--runaways", "keep"], "keep"),
    "only": (["--only", "vc=a,b", "--only", "completed"], {"vc": ["a", "b"], "status": ["completed"]}),
    "cluster": (["--cluster", "2x4"], "2x4"),
    "policies": (["--policy", "fifo", "--policy", "srtf"], ["fifo", "srtf"]),
    "seeds": (["--seeds", "0-2"], [0, 1, 2]),
    "workload_seeds": (["--workload-seeds", "0-2", "--workload-seeds", "7"], [0, 1, 2, 7]),
    "estimate": (["--estimate", "lognormal:0.5"], "lognormal:0.5"),
    "profile_error": (["--profile-error", "0.3"], 0.3),
    "placement": (["--placement", "spread"], "spread"),
    "overheads": (["--overheads", "none"], "none"),
    "oversized": (["--oversized", "clamp"], "clamp"),
    "assign_models": (["--assign-models", "0"], 0),
    "profiles": (["--profiles", "mine.yaml"], ["mine.yaml"]),
    "congestion": (["--congestion", "rack=4"], {"rack": 4}),
    "contention": (["--contention", "node-link:0.5"], "node-link:0.5"),
    "rate_model": (["--rate-model", "tree:clamp=1"], "tree:clamp=1"),
    "gpu_sharing": (["--gpu-sharing", "2"], 2),
    "interference": (["--interference", "1.5"], 1.5),
    "node_interference": (["--node-interference", "table:kappa=13"], "table:kappa=13"),
    "load": (["--load", "0.9"], 0.9),
    "window": (["--window", "1d:8d"], "1d:8d"),
    "decision_time": (["--decision-time", "2.5ms"], 0.0025),
    "enforce_limits": (["--enforce-limits"], True),
    "log_speeds": (["--log-speeds"], True),
    "log": (["--no-log"], False),
    "audit": (["--audit"], True),
}
"""Each option, as flags and as a file say it."""

OLD = """\
apiVersion: pointsman/v1
kind: Experiment
metadata: {name: jobs}
spec:
  trace: jobs.csv
  trace_format: null
  only: {vc: [a]}
  cluster: 2x4
  policies:
  - name: fifo
    params: {}
  seeds: [0]
  estimate: null
  placement: null
  overheads: {start_s: 5.0, stop_s: 0.0}
  oversized: refuse
  assign_models: null
  profiles: []
  congestion: {network: 16.0}
  contention: none
  rate_model: null
  gpu_sharing: null
  interference: '1.5'
  load: null
  window: [0.0, .inf]
  enforce_limits: false
  audit: false
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POINTSMAN_CONFIG", raising=False)
    Path("mine.yaml").write_text(
        "apiVersion: pointsman/v1\nkind: ModelProfiles\nmetadata: {name: mine}\nspec: {models: {}}\n"
    )
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    assert run(["config", "show", *args, "--format", "json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)["spec"]


def test_every_option_is_tested_here() -> None:
    """Factors may test their own: a toy one does all of it by itself."""
    fields = set(ExperimentSpec.model_fields)
    assert fields - set(options_of_factors()) <= set(SAID) <= fields, "say in SAID how a flag and a file give it"


@pytest.mark.parametrize("name", SAID)
def test_a_flag_and_a_file_say_the_same(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = "lb" if name == "decision_time" else "fifo"  # which must have schedulers
    needed = {"trace": "x.csv", "cluster": "1x1", "policies": [policy]}
    flags, value = SAID[name]
    documents = [{"metadata": {"name": "x"}, "spec": {**needed, **more}} for more in ({}, {name: value})]
    for file, document in zip(("without.yaml", "with.yaml"), documents, strict=True):
        Path(file).write_text(yaml.safe_dump(document))
    assert shown(capsys, "-c", "without.yaml", *flags) == shown(capsys, "-c", "with.yaml")
    assert shown(capsys, "-c", "with.yaml")[name] != ExperimentSpec.model_fields[name].get_default(
        call_default_factory=True
    )


@pytest.mark.parametrize("command", ["simulate", "sim", "compare", "config show"])
def test_every_field_of_an_experiment_has_its_flag_and_its_sentence(command: str) -> None:
    parameters = {parameter.name: parameter for parameter in COMMANDS[command].params}
    for name, info in ExperimentSpec.model_fields.items():
        parameter = parameters[name]
        if parameter.param_type_name == "option":
            assert flag_of(name) in parameter.opts
            assert parameter.rich_help_panel == about(info).panel != ""
        one = command in ("simulate", "sim") and name == "seeds"
        assert parameter.help.startswith(sentence_of(RunOptions.model_fields["seed"] if one else info))


def test_the_keywords_of_simulate_are_the_options_of_a_run() -> None:
    signature = inspect.signature(pointsman.simulate)
    keywords = {name: parameter for name, parameter in signature.parameters.items() if name not in OF_THE_CALL}
    fields = RunOptions.model_fields
    assert set(fields) - set(options_of_factors()) <= set(keywords) <= set(fields)
    for name in keywords:
        default = keywords[name].default
        default = dict(default) if name == "congestion" else default
        assert default == fields[name].get_default(call_default_factory=True), name


@pytest.mark.parametrize(
    "name", sorted(set(RunOptions.model_fields) & set(inspect.signature(pointsman.simulate).parameters))
)
def test_the_docstring_of_simulate_has_the_sentence(name: str) -> None:
    arguments = inspect.getdoc(pointsman.simulate).split("Args:\n")[1].split("\n\nRaises:")[0]  # ty: ignore
    found = re.search(rf"^    {name}: (.*(?:\n {{8}}.*)*)", arguments, re.M)
    assert found is not None, f"    {name}: {sentence_of(RunOptions.model_fields[name])}"
    assert " ".join(found[1].split()) == sentence_of(RunOptions.model_fields[name])


@pytest.mark.parametrize("name", RunOptions.model_fields)
def test_no_option_of_a_run_is_left_aside(name: str) -> None:
    used = "".join(map(inspect.getsource, (pointsman.api, assembly, policy_terms)))
    of_factors = "".join(inspect.getsource(factor.chosen) for factor in factors().values())
    read = f"options.{name}" in used or f'options["{name}"]' in used or f'options.get("{name}")' in of_factors
    assert read, "the option is defined, and nothing is done with it"


def test_the_resolved_file_and_the_schema_have_every_option() -> None:
    experiment = parse_document(OLD, Experiment, origin="old.yaml").content
    assert list(yaml.safe_load(experiment.to_yaml())["spec"]) == list(ExperimentSpec.model_fields)
    properties = Experiment.model_json_schema()["$defs"]["ExperimentSpec"]["properties"]
    assert list(properties) == list(ExperimentSpec.model_fields)
    for name, info in ExperimentSpec.model_fields.items():
        assert properties[name]["description"].rstrip(".") in sentence_of(info)
    assert properties["gpu_sharing"]["anyOf"][0] == {"maximum": 8, "minimum": 1, "type": "integer"}


def test_files_that_were_resolved_before_read_as_they_did() -> None:
    spec = parse_document(OLD, Experiment, origin="old.yaml").content.spec
    assert (spec.overheads, spec.interference) == ({"start_s": 5.0, "stop_s": 0.0}, "1.5")
    assert (spec.congestion, spec.window) == ({"network": 16.0}, (0.0, float("inf")))
    old, now = yaml.safe_load(OLD)["spec"], parse_document(OLD, Experiment, origin="old.yaml").content.to_dict()["spec"]
    assert {name: now[name] for name in old} == old


def test_an_interference_keeps_its_digits() -> None:
    text = OLD.replace("'1.5'", "1.23456789")
    assert parse_document(text, Experiment, origin="old.yaml").content.spec.interference == "1.23456789"


def test_the_options_of_one_run_are_those_of_its_experiment() -> None:
    spec = parse_document(OLD, Experiment, origin="old.yaml").content.spec.only_cell("simulate")
    options = spec.run_options(7, log=False)
    assert (options.seed, options.log) == (7, False)
    assert all(getattr(options, name) == getattr(spec, name) for name in set(Assumptions.model_fields) - {"log"})


def test_runs_that_differ_in_an_option_are_told_apart() -> None:
    same = {"estimate", "audit", "log", "log_speeds"}  # estimate is in `knowledge`; an audit or a log changes nothing
    assert set(Assumptions.model_fields) - same <= set(SETTINGS)


def test_the_reference_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert written == reference.page(), "python -m pointsman.cli.reference > docs/reference/options.md"


def test_an_option_needs_its_sentence() -> None:
    class Mine(RunOptions):
        said: int = option("Number of days.", 1)
        silent: int = 0

    assert sentence_of(Mine.model_fields["said"]) == "Number of days. Default: 1."
    with pytest.raises(TypeError, match="takes its sentence"):
        sentence_of(Mine.model_fields["silent"])


@pytest.mark.parametrize("name", ExperimentSpec.model_fields)
def test_sentences_stand_alone(name: str) -> None:
    """A noun phrase or an imperative that begins with a capital, with the values in the order of their table."""
    sentence = sentence_of(ExperimentSpec.model_fields[name])
    assert re.match(r"[A-Z][a-z]+ ", sentence) and sentence.endswith(".")
    assert len(sentence.split(". Default")[0].split(":")[0].split()) <= 25
