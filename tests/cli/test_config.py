"""``pointsman config``: the experiment in full, where each field is from, and the schema."""

import json
from pathlib import Path

import yaml

from .conftest import Command

FILE = "metadata: {name: mine}\nspec: {trace: jobs.csv, cluster: 2x4, policies: [fifo], load: 0.5}\n"


def test_show_is_what_a_dry_run_prints(command: Command, jobs: str) -> None:
    given = ("-c", "e.yaml", "--policy", "srtf", "--set", "srtf.margin_s=1m", "--seed", "3")
    Path("e.yaml").write_text(FILE)
    shown = command("config", "show", *given)
    assert shown.code == 0, shown.err
    assert shown.out == command("compare", *given, "--dry-run").out
    assert json.loads(command("config", "show", *given, "--format", "json").out) == yaml.safe_load(shown.out)


def test_origins_are_flag_file_and_default(command: Command, jobs: str) -> None:
    Path("e.yaml").write_text(FILE)
    given = ("-c", "e.yaml", "--placement", "spread", "--set", "overheads.start_s=5", "--origin", "--format", "json")
    rows = {row["field"]: row for row in json.loads(command("config", "show", *given).out)}
    origins = {name: row["origin"] for name, row in rows.items()}
    assert {name for name, origin in origins.items() if origin == "flag"} == {"placement", "overheads"}
    assert {name for name, origin in origins.items() if origin == "file"} == {"trace", "cluster", "policies", "load"}
    assert (origins["seeds"], rows["seeds"]["value"]) == ("default", [0])
    assert rows["overheads"]["value"]["start_s"] == 5


def test_the_schema_takes_what_the_file_may_say(command: Command) -> None:
    schema = json.loads(command("config", "schema").out)
    spec = schema["$defs"]["ExperimentSpec"]["properties"]
    assert {"trace", "cluster", "policies", "load", "window"} <= set(spec)
    assert {"type": "string"} in spec["policies"]["items"]["anyOf"]
    assert set(schema["required"]) == {"metadata", "spec"}


def test_what_is_missing_is_said(command: Command) -> None:
    done = command("config", "show")
    assert (done.code, "missing: TRACE, a job log" in done.err) == (2, True)
