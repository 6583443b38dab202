"""Values and documents that are damaged: a sentence, never a traceback."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from pointsman.errors import UsageError
from pointsman.inputs.config_file import parse_document, parse_value, read_document


class Anything(BaseModel):
    a: object = None


DAMAGED = {
    "a date that there cannot be": "2020-99-99",
    "no number": "!!int x",
    "no number at all": '!!int ""',
    "no date": "!!timestamp x",
    "no truth value": "!!bool x",
    "code": "!!python/object:os.system x",
    "too many digits": "1" * 5_000,
    "too deep": "[" * 5_000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_value_gets_a_short_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--set x: ") as caught:
        parse_value(text, origin="--set x")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", DAMAGED.values(), ids=list(DAMAGED))
def test_a_document_with_a_damaged_value_gets_a_short_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=r"^x\.yaml") as caught:
        parse_document(f"a: {text}", Anything, origin="x.yaml")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", ["[" * 5_000, "{a = " * 5_000, "1" * 5_000, "2020-99-99"])
def test_damaged_toml_gets_a_short_sentence(value: str) -> None:
    with pytest.raises(UsageError, match=r"^x\.toml") as caught:
        parse_document(f"a = {value}", Anything, origin="x.toml")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "value"),
    [("60", 60), ("1e5", 1e5), ("-2.5E-3", -0.0025), ("true", True), ("[1, 2]", [1, 2]), ("", None), ("[1,", "[1,")],
)
def test_values_are_yaml_and_what_is_not_is_text(text: str, value: object) -> None:
    assert parse_value(text, origin="--set x") == value


def test_a_wrong_value_of_toml_has_its_line_where_its_key_is_there_once(tmp_path: Path) -> None:
    class Two(BaseModel):
        model_config = ConfigDict(extra="forbid")
        a: int = 0
        b: int = 0

    path = tmp_path / "x.toml"
    path.write_text('a = 1\n\nb = "x"\n')
    with pytest.raises(UsageError, match=r"x\.toml:3: "):
        read_document(path, Two)
