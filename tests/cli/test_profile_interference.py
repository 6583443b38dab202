"""``profile interference``: learnt from runs, written, and used instead of the truth."""

import json
from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.report.result import Result
from pointsman.report.run_reading import DIGESTS
from pointsman.speed import load_catalogue
from pointsman.speed.interference.learned.file import read_learned
from tests.free import simulate

from .conftest import Command, Once

TRUTH = "table:kappa=13,sigma=0.2,seed=3"
NODE = "1x4/gpu=v100"


def jobs(many: int, seed: int = 1) -> pointsman.Workload:
    """Of three models on 1 to 3 GPUs; on one node, so that no gang is on several."""
    generated = pointsman.generate("philly", jobs=many, cluster_gpus=4, load=1.2, seed=seed).jobs
    models = [("vgg16", "resnet50", "inception_bn")[k % 3] for k in range(many)]
    columns = {"gpus": pl.Series([k % 7 % 3 + 1 for k in range(many)]), "model": pl.Series(models)}
    return pointsman.Workload.of(generated.with_columns(**columns))


def simulated(many: int, source: str, **options: object) -> Result:
    return simulate(jobs(many), NODE, "srtf", node_interference=source, **options)


@pytest.fixture
def recorded(here: Path, once: Once) -> str:
    def fill() -> None:
        pointsman.write_run(here / "run", simulated(150, TRUTH, log_speeds=True), figures=False)

    once("recorded", fill)
    return "run"


def test_a_file_that_knows_all_combinations_gives_the_same_run(command: Command, recorded: str, here: Path) -> None:
    """To the millisecond, though the truth has resources and residuals and the file only what was seen."""
    done = command("profile", "interference", recorded, "-o", "learnt.yaml", "--format", "json")
    assert done.code == 0, done.err
    assert "learnt.yaml: use it with --node-interference learnt.yaml" in done.err
    told = json.loads(done.out)
    errors = {row["predictor"]: row["held_out_error_pct"] for row in told["errors"]}
    assert list(errors) == ["constant", "additive", "networks"]
    assert min(errors["additive"], errors["networks"]) < 10 < errors["constant"]
    assert [row["of_the_networks"] for row in told["calibration"]][-1] == "truths in the 90 % interval"
    spec = read_learned(here / "learnt.yaml", load_catalogue())
    assert spec.models == ["inception_bn", "resnet50", "vgg16"]
    assert "combinations of run; 4 x v100: held-out error" in spec.source
    truth, again, none = (simulated(150, source) for source in (TRUTH, str(here / "learnt.yaml"), "none"))
    assert again.jobs.equals(truth.jobs)
    assert not none.jobs.equals(truth.jobs)


def test_the_table_and_what_is_there_already(command: Command, recorded: str, here: Path) -> None:
    done = command("profile", "interference", recorded)
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[3] for row in rows[1:4]] == ["constant", "additive", "networks"]
    (here / "learnt.yaml").write_text("mine")
    refused = command("profile", "interference", recorded, "-o", "learnt.yaml")
    assert (refused.code, (here / "learnt.yaml").read_text()) == (2, "mine")
    assert "learnt.yaml: exists already" in refused.err
    refused = command("profile", "interference", recorded, "-o", "there/learnt.yaml")
    assert refused.code == 2 and "there/learnt.yaml: there is no directory there; make it first" in refused.err


def test_runs_that_tell_nothing_are_refused(command: Command, here: Path) -> None:
    def run(name: str, workload: pointsman.Workload, **options: object) -> str:
        pointsman.write_run(here / name, simulate(workload, NODE, "fifo", **options), figures=False)
        return name

    few = jobs(5)
    nameless = pointsman.Workload.of(few.jobs.with_columns(model=pl.lit(None, pl.String)))
    for name, said in (
        (run("silent", few), "silent: the run has no log of speeds (run again with --log-speeds)"),
        (
            run("tree", few, log_speeds=True, rate_model="tree"),
            "tree: the rate model 'tree' logs slow-downs of iterations",
        ),
        (
            run("nameless", nameless, log_speeds=True),
            "no job with a profiled model ran on one node (models: a column of",
        ),
    ):
        done = command("profile", "interference", name)
        assert done.code == 3 and said in done.err, done.err
    few_seen = command("profile", "interference", run("few", few, log_speeds=True))
    assert few_seen.code == 0 and "4 x v100: too few combinations of jobs to tell errors" in few_seen.err


def test_a_wrong_file_is_refused_with_its_line(command: Command, recorded: str, here: Path) -> None:
    assert command("profile", "interference", recorded, "-o", "learnt.yaml").code == 0
    text = (here / "learnt.yaml").read_text()
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if "1 beside vgg16*1:" in row)
    broken = text.splitlines()
    broken[line - 1] = broken[line - 1].split(":")[0] + ": 0.5"
    (here / "learnt.yaml").write_text("\n".join(broken))
    jobs(5).jobs.write_parquet(here / "jobs.parquet")
    options = ("jobs.parquet", "--cluster", NODE, "--policy", "fifo", "--node-interference", "learnt.yaml")
    done = command("simulate", *options)
    assert done.code == 2 and f"learnt.yaml:{line}: " in done.err, done.err


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (pl.lit(None, pl.Float64), "computing_slowdown = None: no slowdown"),
        pytest.param(
            pl.lit(float("nan")),
            "computing_slowdown holds something else than finite numbers",
            marks=pytest.mark.slow,
        ),
        (pl.lit(-1.0), "computing_slowdown = -1.0: no slowdown"),
        pytest.param(pl.lit(1e300), "computing_slowdown = 1e+300: no slowdown", marks=pytest.mark.slow),
        (pl.lit("fast"), "computing_slowdown holds String, and no numbers"),
        (None, "the column 'computing_slowdown' is missing"),
    ],
)
def test_damaged_speeds_are_refused(
    damage: pl.Expr | None, said: str, command: Command, recorded: str, here: Path
) -> None:
    """In a run of an older version, which kept no digests."""
    manifest, path = here / "run/manifest.json", here / "run/speeds.parquet"
    manifest.write_text(json.dumps({k: v for k, v in json.loads(manifest.read_text()).items() if k != DIGESTS}))
    speeds = pl.read_parquet(path)
    name = "computing_slowdown"
    damaged = speeds.drop(name) if damage is None else speeds.with_columns(damage.alias(name))
    damaged.write_parquet(path)
    done = command("profile", "interference", recorded, "-o", "learnt.yaml")
    assert done.code == 3 and "speeds.parquet: " in done.err and said in done.err, done.err
    assert not (here / "learnt.yaml").exists()
