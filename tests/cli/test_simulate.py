import csv
import io
import json
import os
import signal
import time
from pathlib import Path

import polars as pl
import pytest
import yaml

from .command import pointsman
from .conftest import Command

FIFO = ("--cluster", "2x4", "--policy", "fifo")


def test_the_summary_is_what_hand_calculation_says(command: Command, jobs: str) -> None:
    done = command("simulate", jobs, *FIFO, "--format", "json")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    # j0 0-100, j1 100-150, j2 and j3 150-155 and 150-170, j4 150-210, j5 150-160
    ends, submits = (100, 150, 155, 170, 210, 160), (0, 10, 20, 30, 40, 50)
    assert summary["jct_mean_s"] == pytest.approx(sum(e - s for e, s in zip(ends, submits, strict=True)) / 6)
    assert summary["makespan_s"] == 210
    assert (summary["jobs"], summary["jobs_counted"], summary["preemptions"]) == (6, 6, 0)


def test_sim_is_simulate_and_names_the_knowledge(command: Command, jobs: str) -> None:
    done = command("sim", jobs, "--cluster", "2x4", "--policy", "srtf")
    assert done.code == 0
    assert done.out.splitlines()[0] == "srtf [oracle]"
    assert "6 of 6" in done.out
    assert "rows read: 6" in done.err


def test_csv_has_one_row(command: Command, jobs: str) -> None:
    (row,) = csv.DictReader(io.StringIO(command("simulate", jobs, *FIFO, "--format", "csv").out))
    assert (row["policy"], row["jobs"]) == ("fifo", "6")
    assert json.loads(row["by_queue"])[0]["queue"] == "prod"


def test_the_directory_is_whole_and_its_experiment_runs_again(command: Command, jobs: str, here: Path) -> None:
    first = command("simulate", jobs, *FIFO, "--set", "overheads.start_s=1m", "--seed", "3", "-o", "run")
    assert first.code == 0, first.err
    files = {path.name for path in Path("run").iterdir()}
    assert files >= {
        "manifest.json",
        "config.resolved.yaml",
        "summary.json",
        "jobs.parquet",
        "events.parquet",
        "series.parquet",
    }
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["command"].split()[0] == "pointsman"
    assert (manifest["seeds"], manifest["exit_status"]) == ([3], 0)
    config = yaml.safe_load(Path("run/config.resolved.yaml").read_text())
    assert config["spec"]["overheads"]["start_s"] == 60
    assert config["spec"]["trace"] == str(here / jobs)
    assert command("simulate", "-c", "run/config.resolved.yaml", "-o", "again").code == 0
    for name in ("jobs", "events", "series"):
        assert pl.read_parquet(f"run/{name}.parquet").equals(pl.read_parquet(f"again/{name}.parquet"))


def test_flags_go_before_the_file_and_the_file_before_defaults(command: Command, jobs: str) -> None:
    experiment = command("simulate", jobs, *FIFO, "--placement", "spread", "--seed", "5", "--dry-run")
    Path("e.yaml").write_text(experiment.out)
    spec = yaml.safe_load(command("simulate", "-c", "e.yaml", "--policy", "las", "--dry-run").out)["spec"]
    assert (spec["placement"], spec["seeds"]) == ("spread", [5])
    assert [policy["name"] for policy in spec["policies"]] == ["las"]
    assert spec["oversized"] == "refuse"


def test_the_file_may_be_named_by_the_environment(command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("e.yaml").write_text(command("simulate", jobs, *FIFO, "--dry-run").out)
    monkeypatch.setenv("POINTSMAN_CONFIG", "e.yaml")
    assert command("simulate", "--format", "json").code == 0


def test_settings_are_numbers_durations_and_lists(command: Command, jobs: str) -> None:
    given = ("--set", "tiresias.thresholds_gpu_s=[60, 600]", "--set", "tiresias.promote_knob=2")
    done = command("simulate", jobs, "--cluster", "2x4", "--policy", "rounds(tiresias, 1m)", *given, "--dry-run")
    assert done.code == 0, done.err
    (policy,) = yaml.safe_load(done.out)["spec"]["policies"]
    assert policy == {"name": "rounds(tiresias, 1m)", "params": {"thresholds_gpu_s": [60, 600], "promote_knob": 2}}


def test_load_is_realised(command: Command, jobs: str) -> None:
    done = command("simulate", jobs, *FIFO, "--load", "0.5", "--format", "json")
    assert json.loads(done.out)["load"] == pytest.approx(0.5)
    assert "gaps between submits are scaled by" in done.err


def test_only_and_window_choose_jobs(command: Command, jobs: str) -> None:
    only = json.loads(command("simulate", jobs, *FIFO, "--only", "queue=test", "--format", "json").out)
    assert only["jobs"] == 2
    window = json.loads(command("simulate", jobs, *FIFO, "--window", "15:45", "--format", "json").out)
    assert (window["jobs"], window["jobs_counted"]) == (6, 3)


def test_audit_passes(command: Command, jobs: str) -> None:
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "srtf", "--audit").code == 0


def test_standard_input(here: Path, jobs: str) -> None:
    done = pointsman("simulate", "-", *FIFO, "-q", "--format", "json", stdin=Path(jobs).read_text(), cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["jobs"] == 6


WRONG = [
    (
        [],
        2,
        "missing: TRACE, a job log; --cluster, where to replay it; --policy (or -c FILE with all of it)",
    ),
    (["jobs.csv", "--cluster", "2x4"], 2, "missing: --policy"),
    (["jobs.csv", *FIFO, "--set", "fifo=1"], 2, "--set takes NAME.PARAM=VALUE, like srtf.margin_s=60, not 'fifo=1'"),
    (["jobs.csv", *FIFO, "--set", "srtf.margin_s=1"], 2, "there is no 'srtf' in this experiment"),
    (["jobs.csv", *FIFO, "--set", "fifo.margin_s=1"], 2, "policy 'fifo' has no parameter 'margin_s'"),
    (["jobs.csv", *FIFO, "--set", "overheads.strat_s=1"], 2, "no such cost (did you mean 'start_s'"),
    (["jobs.csv", *FIFO, "--set", "overheads.start_s=-1"], 2, "overheads.start_s"),
    (
        ["jobs.csv", *FIFO, "--placement", "best"],
        2,
        "--placement: must be 'consolidated', 'first-fit', 'spread', 'tightest' or 'few-racks'",
    ),
    (["jobs.csv", *FIFO, "--rate-model", "iteration"], 2, "did you mean 'iterations'? there are rates, iterations["),
    (["jobs.csv", *FIFO, "--contention", "node-link:x"], 2, "a number from 0, as in node-link:0.27\n"),
    (["jobs.csv", *FIFO, "--policy", "easy"], 2, "simulate runs one policy with one seed; for several use"),
    (["jobs.csv", *FIFO, "--seed", "1", "--seed", "2"], 2, "simulate runs one policy with one seed"),
    (["jobs.csv", *FIFO, "--window", "tomorrow"], 2, "--window: 'tomorrow' is no window; write it FROM:TO"),
    (["jobs.csv", *FIFO, "--window", "10d:11d"], 2, "contains no submission"),
    (["jobs.csv", *FIFO, "--load", "0"], 2, "--load: must be from 1e-06 to 1000 (1 keeps every GPU busy), not 0.0"),
    (["jobs.csv", *FIFO, "--load", "inf"], 2, "--load: must be from"),
    (["jobs.csv", *FIFO, "--load", "1e300"], 2, "(1 keeps every GPU busy), not 1e+300"),
    (["jobs.csv", *FIFO, "--load", "nan"], 2, "(1 keeps every GPU busy), not nan"),
    (["jobs.csv", *FIFO, "--load", "abc"], 2, "invalid value for '--load': must be a number (see"),
    (["jobs.csv", *FIFO, "--seed", "-1"], 2, "--seed: must be greater than or equal to 0, not -1"),
    (["jobs.csv", *FIFO, "--seed", "9" * 20], 2, "--seed: must be less than 4294967296"),
    (["jobs.csv", *FIFO, "--set", "overheads.start_s=1e300"], 2, "start_s: must be less than or equal to 10000000"),
    (
        ["jobs.csv", *FIFO, "--overheads", "none", "--set", "overheads.start_fail_rate=0.5"],
        2,
        "overheads: start_fail_rate needs a start_s",
    ),
    (["jobs.csv", "--cluster", "2x4", "--policy", "rounds(fifo,1e300)"], 2, "at most 100 days"),
    (["jobs.csv", *FIFO, "--estimate", "guess"], 2, "unknown estimate 'guess'"),
    (["jobs.csv", *FIFO, "--overheads", "some"], 2, "unknown overheads 'some'"),
    (["jobs.csv", *FIFO, "--only", "queue=none"], 2, "no job has queue=none"),
    (["jobs.csv", *FIFO, "--trace-format", "exel"], 2, "exel"),
    (["jobs.csv", *FIFO, "--policy", "fifi"], 2, "unknown policy 'fifi' (did you mean 'fifo'?"),
    (["nowhere.csv", "--policy", "fifo", "--cluster", "phily"], 2, "did you mean 'philly'"),
    (["jobs.csv", *FIFO, "-c", "nowhere.yaml"], 2, "nowhere.yaml: cannot be read: No such file"),
    (["jobs.csv", "--cluster", "1x4", "--policy", "fifo"], 3, "jobs.csv:2: job 'j0' asks for 6 GPUs"),
    (["nowhere.csv", *FIFO], 3, "nowhere.csv: no such file"),
    (["broken.csv", *FIFO], 3, "broken.csv:3: "),
]


@pytest.mark.parametrize(("args", "code", "sentence"), WRONG, ids=range(len(WRONG)))
def test_mistakes(args: list[str], code: int, sentence: str, command: Command, jobs: str) -> None:
    Path("broken.csv").write_text("submit_s,gpus,duration_s\n0,1,1\n0,x,1\n")
    done = command("-q", "simulate", *args, "-o", "run")
    assert sentence in done.err
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert not Path("run").exists()


def test_oversized_jobs_are_dropped_or_clamped_on_demand(command: Command, jobs: str) -> None:
    small = ("--cluster", "1x4", "--policy", "fifo", "--format", "json", "--oversized")
    dropped, clamped = (command("simulate", jobs, *small, how, "-o", how) for how in ("drop", "clamp"))
    assert (json.loads(dropped.out)["jobs"], json.loads(clamped.out)["jobs"]) == (4, 6)
    assert "dropped 2: wider than the cluster or its queue" in dropped.err
    assert "changed 2: narrowed to the GPUs that they can have at once" in clamped.err
    told = json.loads(Path("drop/manifest.json").read_text())["info"]["quality"]
    assert (told["kept"], told["dropped"]) == (4, {"wider than the cluster or its queue": 2})


def test_a_taken_directory_is_refused_before_the_run(command: Command, jobs: str) -> None:
    Path("taken").mkdir()
    Path("taken/mine.txt").touch()
    done = command("simulate", "not-even-looked-at.csv", *FIFO, "-o", "taken")
    assert done.code == 2
    assert "taken exists" in done.err
    assert command("simulate", jobs, *FIFO, "-o", "taken", "--force").code == 2
    assert Path("taken/mine.txt").exists()
    assert command("simulate", jobs, *FIFO, "-o", "ours").code == 0
    assert command("simulate", jobs, *FIFO, "-o", "ours", "--force").code == 0


@pytest.mark.parametrize("place", ["/dev/full/x", "file/run", "file/a/b"])
def test_a_place_that_takes_no_folder_is_refused_before_the_run(place: str, command: Command, jobs: str) -> None:
    Path("file").touch()
    done = command("simulate", "not-even-looked-at.csv", *FIFO, "-o", place)
    assert done.code == 2
    assert "is not a directory" in done.err


def test_a_folder_without_the_right_to_write_is_refused_before_the_run(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    done = command("simulate", "not-even-looked-at.csv", *FIFO, "-o", "new/run")
    assert (done.code, "may not be written to; choose another place" in done.err) == (2, True)


def test_an_interrupted_run_leaves_nothing(
    command: Command, jobs: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pointsman.report.rundir.write_manifest", interrupt)
    done = command("simulate", jobs, *FIFO, "-o", "run")
    assert (done.code, [path.name for path in here.iterdir()]) == (130, [jobs])


@pytest.mark.parametrize("becomes", [SystemExit, ImportError])
def test_a_terminated_run_says_so_whatever_the_code_that_was_left_makes_of_it(
    becomes: type[BaseException], command: Command, jobs: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: object, **kwargs: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except SystemExit as left:
            raise becomes("initialization failed") from left

    monkeypatch.setattr("pointsman.report.rundir.write_manifest", killed)
    done = command("simulate", jobs, *FIFO, "-q", "-o", "run")
    assert (done.code, done.err) == (143, "pointsman: terminated\n")
    assert [path.name for path in here.iterdir()] == [jobs]


def test_progress_is_a_line_for_every_tenth_where_nobody_watches(command: Command, jobs: str) -> None:
    assert "replay: 100 % after" in command("simulate", jobs, *FIFO).err
    assert command("simulate", jobs, *FIFO, "-q").err == ""


def test_verbose_says_how_long_the_engine_took(command: Command, jobs: str) -> None:
    assert "fifo, seed 0: " in command("simulate", jobs, *FIFO, "-v").err
    assert "fifo, seed 0: " not in command("simulate", jobs, *FIFO).err


def test_a_narrow_terminal_shows_whole_figures_and_names_what_it_leaves_out(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = command("compare", jobs, *FIFO).out.splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    narrow = command("compare", jobs, *FIFO)
    (left_out,) = (line for line in narrow.err.splitlines() if line.startswith("no room for: "))
    assert "longest pending" in left_out
    figures = narrow.out.splitlines()[1].split()
    assert figures == wide[1].split()[: len(figures)]
    assert "…" not in narrow.out


def test_the_manifest_says_how_long_it_took(command: Command, jobs: str) -> None:
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "-o", "out").code == 0
    manifest = json.loads(Path("out/manifest.json").read_text())
    (wall_s,) = manifest["wall_s"]
    assert wall_s >= manifest["info"]["engine_s"] > 0
    assert "wall_s" not in Path("out/summary.json").read_text(), "which is the same each time"


PROFILES = """\
apiVersion: pointsman/v1
kind: ModelProfiles
metadata: {name: mine}
spec:
  models:
    talker:
      title: Talks more than it computes
      gradient: {bytes: 50.0e9, source: ours}
      batch: {per_gpu: 1, source: ours}
      memory: {fixed_bytes: 1.0e9, bytes_per_sample: 0, source: ours}
      overlap: {delta: 1, source: ours}
      compute: {v100: {alpha_s: 1, beta_s_per_sample: 0, source: ours}}
"""


def test_own_profiles_decide_how_fast_a_spread_gang_is(command: Command, here: Path) -> None:
    (here / "mine.yaml").write_text(PROFILES)
    (here / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,2,100,talker\n")
    common = ("simulate", "jobs.csv", "--cluster", "2x4/gpu=v100", "--policy", "fifo", "--placement", "spread")
    alone = json.loads(command(*common, "--format", "json").out)
    done = command(*common, "--profiles", "mine.yaml", "--format", "json", "-o", "run")
    assert done.code == 0, done.err
    assert alone["jct_mean_s"] == 100
    # 50 GB in a ring of two: 1/3 s at 150 GB/s in the node, 4 s at 100 Gb/s between nodes, each GPU alone on its card
    assert json.loads(done.out)["jct_mean_s"] == pytest.approx(100 * (1 + 4) / (1 + 1 / 3), rel=1e-3)
    config = yaml.safe_load(Path("run/config.resolved.yaml").read_text())
    assert config["spec"]["profiles"] == [str(here / "mine.yaml")]
    again = command("simulate", "-c", "run/config.resolved.yaml", "--format", "json")
    assert json.loads(again.out)["jct_mean_s"] == json.loads(done.out)["jct_mean_s"]


def test_a_wrong_file_of_profiles_is_named_before_anything_runs(command: Command, jobs: str, here: Path) -> None:
    (here / "mine.yaml").write_text(PROFILES.replace("alpha_s: 1", "alpha_s: -1"))
    done = command("simulate", jobs, *FIFO, "--profiles", "mine.yaml")
    assert done.code == 2
    assert "mine.yaml:12: spec.models.talker.compute.v100.alpha_s" in done.err


def test_profiles_that_no_job_uses_are_said_to_be_of_no_use(command: Command, jobs: str, here: Path) -> None:
    (here / "mine.yaml").write_text(PROFILES)
    done = command("simulate", jobs, *FIFO, "--profiles", "mine.yaml", "--format", "json", "-o", "run")
    assert done.code == 0, done.err
    assert "mine.yaml are of no use" in Path("run/summary.json").read_text() + Path("run/manifest.json").read_text()


def test_a_congested_network_is_kept_with_the_run(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,model\n0,8,60,vgg16\n")
    given = ("simulate", "jobs.csv", "--cluster", "4x4", "--policy", "fifo", "--congestion", "network=16")
    assert command(*given, "-o", "run").code == 0
    assert json.loads(Path("run/manifest.json").read_text())["info"]["congestion"] == {"network": 16}
    assert "congestion:\n    network: 16.0\n" in Path("run/config.resolved.yaml").read_text()
    jct_s = json.loads(Path("run/summary.json").read_text())["jct_mean_s"]
    assert jct_s > 60
    assert command("simulate", "-c", "run/config.resolved.yaml", "-o", "again").code == 0
    assert json.loads(Path("again/summary.json").read_text())["jct_mean_s"] == jct_s


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["rack"], "--congestion takes LEVEL=FACTOR, like rack=4 or network=16, not 'rack'"),
        (["rack=2", "rack=3"], "--congestion has two factors for one level; give each once: rack=2, rack=3"),
        (["rack=0.5"], "--congestion: must be greater than or equal to 1, not '0.5'"),
        (["node=2"], "--congestion: must be 'rack', 'pod', 'cluster' or 'network', not 'node'"),
    ],
)
def test_a_wrong_congestion_is_refused(texts: list[str], said: str, command: Command, jobs: str) -> None:
    done = command(
        "simulate", jobs, "--cluster", "2x4", "--policy", "fifo", *[f"--congestion={text}" for text in texts]
    )
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("daly", "week.yaml:8: unknown policy 'daly' (did you mean 'dally'?"),
        ("{name: dally, params: {epsilon: big}}", "week.yaml:8: dally.epsilon = 'big': must be a number"),
    ],
)
def test_a_policy_that_a_file_has_wrong_is_told_with_its_line(
    policy: str, said: str, command: Command, jobs: str
) -> None:
    head = "apiVersion: pointsman/v1\nkind: Experiment\nmetadata: {name: w}\nspec:\n  trace: jobs.csv\n  cluster: 2x4\n"
    Path("week.yaml").write_text(f"{head}  policies:\n    - {policy}\n")
    done = command("simulate", "-c", "week.yaml")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_unknown_models_are_named(command: Command, here: Path) -> None:
    Path("jobs.csv").write_text("submit_s,gpus,duration_s,model\n0,1,6,vgg16\n0,1,6,resnt50\n0,1,6,qqq\n0,1,6,qqq\n")
    done = command("simulate", "jobs.csv", "--cluster", "2x4/gpu=v100", "--policy", "fifo", "-o", "run")
    said = "models without a profile are named (3 jobs): 'qqq', 'resnt50' (did you mean 'resnet50'?)"
    assert f"{said}\n" in done.err
    assert said in json.loads(Path("run/manifest.json").read_text())["info"]["assumptions"]


@pytest.mark.parametrize("flag", ["--set", "--contention", "--overheads", "--policy", "--interference", "--cluster"])
@pytest.mark.parametrize("text", ["x.y\n\x1b[31m=1", "x" * 5000, "a\n.b=!!int x"])
def test_a_message_is_one_bearable_line(flag: str, text: str, command: Command, jobs: str) -> None:
    given = {"--cluster": "2x4", "--policy": "fifo"} | {flag: text}
    done = command("simulate", jobs, *(word for pair in given.items() for word in pair), "--gpu-sharing", "2")
    assert done.code == 2
    assert done.err.rstrip("\n").isprintable() and len(done.err) < 1000


@pytest.mark.parametrize("overheads", ["none", "realistic", "periodic"])
def test_a_run_with_any_overheads_is_read_again(overheads: str, command: Command, jobs: str) -> None:
    hourly = ("--set", "overheads.checkpoint_every_s=1h") if overheads == "periodic" else ()
    assert command("simulate", jobs, *FIFO, "--overheads", overheads, *hourly, "-o", "run").code == 0
    for again in (("verify", "run"), ("report", "run", "-o", "page"), ("explain", "j3", "--run", "run", "--at", "120")):
        done = command(*again)
        assert done.code == 0, done.err
