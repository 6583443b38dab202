"""Parts of sentences."""

import pytest

from pointsman.inputs.messages import counted


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("job",), "1 job"),
        (0, ("job",), "0 jobs"),
        (2500, ("job",), "2,500 jobs"),
        (1, ("row has", "rows have"), "1 row has"),
        (3, ("row has", "rows have"), "3 rows have"),
    ],
)
def test_one_thing_is_singular(number: int, words: tuple[str, ...], said: str) -> None:
    assert counted(number, *words) == said
