"""Columns of a log's own that are kept: their types, their clock, and what is said of those that cannot be kept."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload, read_workload
from pointsman.errors import InputError, UsageError
from pointsman.sweeps.digests import workload_digest
from pointsman.workload import write_workload
from pointsman.workload.columns import SCHEMA
from pointsman.workload.transforms.rescale import at_load

FIXTURES = Path(__file__).parent / "fixtures"
JOBS = {"submit_s": [100.0, 110.0, 130.0], "gpus": [1, 2, 1], "duration_s": [10.0, 20.0, 30.0]}


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "jobs.csv").write_text(text)
    return tmp_path / "jobs.csv"


def columns_of(cells: dict[str, list[str]]) -> str:
    """A native CSV of three jobs with these columns besides."""
    rows = zip(["0", "1", "2"], ["1"] * 3, ["9"] * 3, *cells.values(), strict=True)
    return "\n".join([",".join(["submit_s", "gpus", "duration_s", *cells]), *map(",".join, rows)]) + "\n"


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["3", "", "-1"], pl.Int64, [3, None, -1]),
        (["3", "1.5", ""], pl.Float64, [3.0, 1.5, None]),
        (["3", "nan", "1e3"], pl.Float64, [3.0, None, 1000.0]),
        (["true", "", "False"], pl.Boolean, [True, None, False]),
        (["acme", " x ", ""], pl.String, ["acme", "x", None]),
        (["007", "8", "9"], pl.String, ["007", "8", "9"]),
        (["1", "true", "x"], pl.String, ["1", "true", "x"]),
        (["99999999999999999999", "1", "2"], pl.Float64, [1e20, 1.0, 2.0]),
        (["", "", ""], pl.Int64, [None] * 3),
    ],
)
def test_text_is_what_all_of_its_cells_are(cells: list[str], kind: Any, values: list[Any], tmp_path: Path) -> None:
    workload = read_workload(written(tmp_path, columns_of({"own": cells})), keep_columns=["own"])
    assert workload.kept_columns == ("own",)
    assert workload.jobs.columns == [*SCHEMA, "own"]
    assert workload["own"].dtype == kind
    assert workload["own"].to_list() == values


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (pl.Series([1, 2, None], dtype=pl.UInt8), pl.Int64, [1, 2, None]),
        (pl.Series([1.0, float("nan"), None], dtype=pl.Float32), pl.Float64, [1.0, None, None]),
        (pl.Series([True, None, False]), pl.Boolean, [True, None, False]),
        (pl.Series(["a", "1", None], dtype=pl.Categorical), pl.String, ["a", "1", None]),
        (pl.Series(["1", "2", "3"]), pl.String, ["1", "2", "3"]),
        (pl.Series([timedelta(minutes=1)] * 3), pl.Float64, [60.0] * 3),
        (pl.Series([None] * 3), pl.Float64, [None] * 3),
    ],
)
def test_columns_of_a_frame_have_their_types(column: pl.Series, kind: Any, values: list[Any]) -> None:
    workload = Workload.of(pl.DataFrame({**JOBS, "own": column}), columns=["own"])
    assert (workload["own"].dtype, workload["own"].to_list()) == (kind, values)
    assert workload.quality.notes == ()


def test_rows_that_are_dropped_or_move_take_their_columns_along(tmp_path: Path) -> None:
    text = "submit_s,gpus,duration_s,own\n9,1,1,last\n5,0,1,no gpu\n2,1,1,first\n"
    assert read_workload(written(tmp_path, text), keep_columns=["own"])["own"].to_list() == ["first", "last"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "csv.gz"])
def test_a_written_table_is_read_back(ending: str, tmp_path: Path) -> None:
    own = {"deadline_s": [150.0, None, 200.0], "level_wanted": [1, 2, None], "tenant": ["a", None, "b"]}
    workload = Workload.of({**JOBS, **own}, columns=[*own])
    write_workload(workload, tmp_path / f"jobs.{ending}")
    assert read_workload(tmp_path / f"jobs.{ending}", keep_columns=[*own]).jobs.equals(workload.jobs)


def test_a_name_that_may_be_a_misspelt_one_of_ours_can_be_kept(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"tenant": ["a"] * 3}))
    with pytest.raises(InputError, match=r"did you mean 'queue'.; --keep-columns tenant keeps a column of your own"):
        read_workload(path)
    with pytest.raises(InputError, match=r"; Workload.of\(df, columns=\['tenant'\]\) keeps a column of your own"):
        Workload.of({**JOBS, "tenant": ["a"] * 3})
    assert read_workload(path, keep_columns=["tenant"])["tenant"].to_list() == ["a"] * 3


def test_columns_that_are_not_kept_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"own": ["1"] * 3, "deadline_s": ["9"] * 3}))
    assert read_workload(path, keep_columns=["own"]).quality.notes == ("columns not read: deadline_s",)


def test_a_column_may_get_another_name(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"vc": ["x"] * 3, "asked": ["5"] * 3}))
    workload = read_workload(path, keep_columns=["wish=asked", "tenant=vc", "copy=gpus"])
    assert workload.kept_columns == ("wish", "tenant", "copy")
    assert workload.jobs.select(workload.kept_columns).row(0) == (5, "x", 1)
    assert workload.quality.notes == ()
    frame = Workload.of({**JOBS, "vc": ["x"] * 3}, columns={"tenant": "vc"})
    assert (frame.kept_columns, frame["tenant"][0], frame["queue"][0]) == (("tenant",), "x", None)


# -- the clock -----------------------------------------------------------------------------------------


def test_a_deadline_is_a_date_where_submissions_are() -> None:
    at = [datetime(2026, 3, 2, 8, minute, tzinfo=UTC) for minute in (0, 1, 2)]
    dated = {**JOBS, "submit_s": at, "deadline_s": [None, at[2], at[0]]}
    workload = Workload.of(pl.DataFrame(dated), columns=["deadline_s"])
    start_s = at[0].timestamp()
    assert workload["deadline_s"].to_list() == [None, start_s + 120, start_s]
    with pytest.raises(InputError, match="submit_s holds numbers, deadline_s dates with a time zone"):
        Workload.of(pl.DataFrame({**dated, "submit_s": JOBS["submit_s"]}), columns=["deadline_s"])
    with pytest.raises(InputError, match="only deadline_s may hold dates"):
        Workload.of(pl.DataFrame({**dated, "due": at}), columns=["due"])


def test_deadlines_count_from_the_first_submission_where_submissions_do() -> None:
    """Job 2 of the log asks for no GPU, and is the second to be submitted; ends stand in for deadlines."""
    keep = {"deadline_s": "end_time"}
    helios = read_workload(FIXTURES / "helios.csv", keep_columns=keep)
    assert helios["deadline_s"].to_list() == helios["end_s"].to_list() == [160.0, 31.0]
    named = {"submit_s": "submit_time", "gpus": "gpu_num", "duration_s": "duration", "end_s": "end_time"}
    table = read_workload(FIXTURES / "helios.csv", columns=named, keep_columns=keep)
    assert table["deadline_s"].to_list() == table["end_s"].to_list()


def test_a_deadline_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    text = "at,n,d,due\n2026-03-02 08:00:00,1,9,2026-03-02 08:01:00\n2026-03-02 08:00:05,1,9,soon\n"
    named = {"submit_s": "at", "gpus": "n", "duration_s": "d"}
    workload = read_workload(written(tmp_path, text), columns=named, keep_columns=["deadline_s=due"])
    assert workload["deadline_s"].to_list() == [60.0, None]
    assert "deadline_s that cannot be read, such as 'soon', and count as none: 1" in workload.quality.notes


def test_another_load_leaves_the_time_until_the_deadline() -> None:
    """80 GPU-seconds in 30 s on 2 GPUs are a load of 4/3; at twice that the gaps are half as long."""
    workload = Workload.of(
        {**JOBS, "deadline_s": [110.0, 200.0, None], "own_s": [1.0, 2.0, 3.0]}, columns=["deadline_s", "own_s"]
    )
    denser = at_load(workload, 2, 8 / 3)
    assert denser["submit_s"].to_list() == [100.0, 105.0, 115.0]
    assert denser["deadline_s"].to_list() == [110.0, 195.0, None]
    assert denser["own_s"].to_list() == [1.0, 2.0, 3.0]


# -- formats -------------------------------------------------------------------------------------------


def test_rows_of_known_formats_keep_theirs() -> None:
    tiresias = read_workload(FIXTURES / "tiresias.csv", keep_columns=["iterations"])
    assert tiresias["iterations"].to_list() == [606, 133]
    assert "columns not read: interval" in tiresias.quality.notes
    sacct = read_workload(FIXTURES / "sacct.txt", keep_columns=["state=State", "deadline_s=End"])
    assert sacct.jobs.select("job_id", "state").row(3) == ("101", "CANCELLED by 1001")
    assert sacct["deadline_s"][0] == sacct["end_s"][0] == 3610.0


def test_formats_without_rows_refuse() -> None:
    with pytest.raises(
        UsageError, match="'own' cannot be kept of a log of the format philly-json: 'pointsman trace convert'"
    ):
        read_workload(FIXTURES / "philly.json", keep_columns=["own=vc"])


def test_objects_in_json_keep_theirs(tmp_path: Path) -> None:
    (tmp_path / "jobs.json").write_text('[{"t": 0, "n": 1, "d": 5, "job": {"due": 30}}, {"t": 1, "n": 2, "d": 5}]')
    named = {"submit_s": "t", "gpus": "n", "duration_s": "d"}
    workload = read_workload(tmp_path / "jobs.json", columns=named, keep_columns=["deadline_s=job.due"])
    assert workload["deadline_s"].to_list() == [30.0, None]


# -- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (["gpus"], "'gpus' cannot be kept: job tables have a column of this name; rename it: my_gpus=gpus"),
        (["line"], "'line' cannot be kept: this name is used while jobs are read"),
        (["own=x", "own=y"], "'own' is named twice"),
        (["own="], "'own=' is not NAME or NAME=COLUMN"),
        ([""], "'' is not NAME or NAME=COLUMN"),
        ("own", "is a list of names, such as ['own']"),
        ({"own": 3}, "3 is no name of a column"),
        ([None], "None is no name of a column"),
    ],
)
def test_names_that_cannot_be_kept(keep: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        read_workload(written(tmp_path, columns_of({"own": ["1"] * 3})), keep_columns=keep)
    assert said in str(error.value) and str(error.value).startswith("keep_columns")
    with pytest.raises(UsageError) as error:
        Workload.of(JOBS, columns=keep)
    assert said in str(error.value)


def test_a_column_that_the_log_lacks_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"deadline_s": ["1"] * 3}))
    with pytest.raises(
        InputError, match=r"jobs.csv:1: there is no column 'dead_line_s' to keep \(did you mean 'deadline_s'"
    ):
        read_workload(path, keep_columns=["dead_line_s"])
    with pytest.raises(InputError, match=r"memory: there is no column 'tenent' to keep \(did you mean 'tenant'"):
        Workload.of({**JOBS, "tenant": ["a"] * 3}, columns=["tenent"])
    with pytest.raises(InputError, match=r"tiresias.csv:1: there is no column 'steps' to keep"):
        read_workload(FIXTURES / "tiresias.csv", keep_columns=["steps"])


def test_seconds_are_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"deadline_s": ["1", "", "soon"]}))
    with pytest.raises(InputError, match=r"jobs.csv:4: deadline_s 'soon' is not a number of seconds"):
        read_workload(path, keep_columns=["deadline_s"])
    with pytest.raises(InputError, match="the column 'wait_at_most_s' holds String, not numbers of seconds"):
        Workload.of({**JOBS, "wait_at_most_s": ["1"] * 3}, columns=["wait_at_most_s"])
    with pytest.raises(InputError, match=r"the column 'own' holds List\(Int64\), not numbers, truths or text"):
        Workload.of(pl.DataFrame({**JOBS, "own": [[1]] * 3}), columns=["own"])


def test_jobs_that_are_drawn_anew_have_none_of_them() -> None:
    generated = pointsman.generate("philly", jobs=5, cluster_gpus=8)
    kept = Workload.of(generated.jobs.with_columns(tenant=pl.lit("a")), columns=["tenant"])
    with pytest.raises(UsageError, match="have no 'tenant': keep no columns of the log, or leave the workload seeds"):
        pointsman.sweep(kept, "1x8", ["fifo"], workload_seeds=[1])


# -- what is done with them ----------------------------------------------------------------------------


def test_jobs_are_chosen_by_them(tmp_path: Path) -> None:
    path = written(tmp_path, columns_of({"tenant": ["a", "b", "a"]}))
    workload = read_workload(path, keep_columns=["tenant"], only={"tenant": "A"})
    assert workload["submit_s"].to_list() == [0.0, 2.0]


def test_they_are_in_the_digest() -> None:
    digests = [workload_digest(Workload.of({**JOBS, "own": [1, 2, last]}, columns=["own"])) for last in (3, 3, 4)]
    assert digests[0] == digests[1] != digests[2]
