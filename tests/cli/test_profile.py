import csv
import io
import json
import sys
from pathlib import Path

import pytest

from .conftest import Command

HEADER = "model,gpu_type,gpus,nodes,batch_per_gpu,step_s\n"


@pytest.fixture
def measurements(here: Path) -> str:
    """Steps of BERT on T4: α = 0.2, β = 0.05, no overlap, 0.4 s a gigabyte in a node, 1 s between nodes."""
    rows = []
    for batch in (4, 8, 16):
        for gpus, nodes, talk in ((1, 1, 0.0), (2, 1, 0.4), (4, 1, 0.6), (2, 2, 1.0), (3, 3, 4 / 3), (8, 2, 1.6)):
            step = 0.2 + 0.05 * batch + talk * 0.435572744
            rows.append(f"bert,t4,{gpus},{nodes},{batch},{step:.6f}")
    (here / "m.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return "m.csv"


def test_the_catalogue_is_listed(command: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(command("profile", "list", "--format", "csv").out)))
    assert {"bert", "resnet50", "vgg16"} <= {row["model"] for row in rows}
    assert len(rows) >= 20


def test_a_shown_profile_is_a_file_of_profiles(command: Command, here: Path) -> None:
    shown = command("profile", "show", "GPT-2")
    assert shown.code == 0
    (here / "mine.yaml").write_text(shown.out)
    again = command("profiles", "show", "gpt2", "--profiles", "mine.yaml")
    assert again.out == shown.out
    assert command("profile", "show", "gtp2").err.startswith("pointsman: unknown model 'gtp2' (did you mean 'gpt2'?")


def test_a_fit_is_reported_and_can_be_used(command: Command, measurements: str) -> None:
    done = command("profile", "fit", measurements, "--format", "json", "-o", "fitted.yaml")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    (bert,) = found["models"]
    assert bert["alpha_s"] == pytest.approx(0.2, rel=0.05)
    assert bert["beta_s_per_sample"] == pytest.approx(0.05, rel=0.05)
    rack = next(row for row in found["networks"] if row["level"] == "rack")
    assert (rack["per"], rack["bandwidth_bytes_per_s"]) == ("node", pytest.approx(1e9, rel=0.1))
    groups = {row["placement"]: row for row in found["errors"]}
    assert groups["4-4"]["rows"] == 3
    assert groups["all"]["error_pct"] < 2
    assert groups["several nodes"]["left_out_error_pct"] < 10
    shown = command("profile", "show", "bert", "--profiles", "fitted.yaml")
    assert "source: measured" in shown.out
    taken = command("profile", "fit", measurements, "-o", "fitted.yaml")
    assert (taken.code, "exists already" in taken.err) == (2, True)
    assert command("profile", "fit", measurements, "-o", "fitted.yaml", "--force").code == 0


def test_without_scipy_it_says_how_to_install_it(
    command: Command, measurements: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    done = command("profile", "fit", measurements)
    assert (done.code, "needs SciPy: pip install 'pointsman[fit]'" in done.err) == (2, True)


def test_the_table_has_laws_and_errors(command: Command, measurements: str) -> None:
    lines = [line.split() for line in command("profile", "fit", measurements).out.splitlines()]
    assert ["model", "gpu_type", "alpha_s", "beta_s_per_sample", "delta"] in lines
    assert any(line[:4] == ["bert", "t4", "4-4", "3"] for line in lines)
    assert any(line[:4] == ["all", "t4", "all", "18"] for line in lines)


def test_too_few_measurements_are_said_to_be_too_few(command: Command, here: Path) -> None:
    (here / "few.csv").write_text(HEADER + "bert,t4,1,1,8,0.7\nbert,t4,2,1,8,0.9\n")
    done = command("profile", "fit", "few.csv")
    assert done.code == 0, done.err
    assert "t4: 2 measurements for 5 parameters" in done.err


def test_bad_data_is_exit_3_with_file_and_line(command: Command, here: Path) -> None:
    (here / "bad.csv").write_text(HEADER + "bert,t4,1,1,8,soon\n")
    done = command("profile", "fit", "bad.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err == "pointsman: bad.csv:2: step_s is 'soon' (a number above 0)\n"


def test_a_place_where_nothing_can_be_written(command: Command, measurements: str) -> None:
    done = command("profile", "fit", measurements, "-o", "nowhere/fitted.yaml")
    assert (done.code, done.out) == (2, "")
    assert "nowhere/fitted.yaml: there is no directory nowhere; make it first" in done.err
