"""What is the same in every row of a comparison is said once, under it."""

from pointsman.report.tables.equal_columns import without_equal
from pointsman.report.tables.tables import Table

COLUMNS = ("policy", "durations", "profiles", "mean JCT", "preemptions")


def test_equal_columns_go_into_the_note_and_figures_stay() -> None:
    table = Table("", COLUMNS, [("a", "none", "none", "1 h", "0"), ("b", "oracle", "none", "1 h", "0")], "Baseline: a.")
    found = without_equal(table)
    assert found.columns == ("policy", "durations", "mean JCT")
    assert found.rows == [("a", "none", "1 h"), ("b", "oracle", "1 h")]
    assert found.note == "Baseline: a. The same in every row: profiles none, preemptions 0."


def test_a_single_row_and_rows_that_differ_stay_as_they_are() -> None:
    alone = Table("", COLUMNS, [("a", "none", "none", "1 h", "0")])
    unlike = Table("", COLUMNS, [("a", "none", "none", "1 h", "0"), ("b", "oracle", "true", "1 h", "9")])
    assert without_equal(alone) is alone
    assert without_equal(unlike) is unlike
