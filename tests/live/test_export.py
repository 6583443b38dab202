"""What happened, as files that `simulate` reads."""

from pathlib import Path

import polars as pl

from .daemons import RunningDaemon, wait_for

SLOW_TO_STOP = """
[ -e done ] && exit 0
touch done
trap 'sleep 1; exit 75' TERM
sleep 60 &
wait
"""


def test_the_stop_of_a_preempted_attempt_is_an_overhead_and_no_part_of_the_duration(tmp_path: Path) -> None:
    options = ("--policy", "las", "--set", "las.thresholds_gpu_s=[1]", "--overheads", "none")
    with RunningDaemon(tmp_path, *options, of=("--cluster", "1x1")) as daemon:
        preempted = daemon.submit("--requeue", "--", "sh", "-c", SLOW_TO_STOP)
        wait_for((tmp_path / "done").exists)
        daemon.wait(preempted, "RUNNING")
        daemon.submit("--", "true")
        daemon.wait(preempted, "COMPLETED")
        assert daemon.type("live", "export", "--state", str(daemon.folder / "state"), "-o", "log").returncode == 0
    log = tmp_path / "log"
    first, last = pl.read_csv(log / "attempts.csv").filter(job=preempted).sort("attempt").to_dicts()
    ran_s = first["stopping_s"] - first["started_s"] + last["ended_s"] - last["started_s"]
    assert first["ended_s"] - first["stopping_s"] > 1.0
    assert pl.read_csv(log / "jobs.csv").filter(job_id=preempted)["duration_s"].item() == round(ran_s, 3)
