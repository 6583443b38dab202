"""What people read of an option: one sentence, the values it takes, its unit and the name of its flag.

An option is a field of a pydantic model (`pointsman.experiment`), which knows its type, default and limits. Flags, the
schema of experiment files, docstrings and the reference page are derived from the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo


@dataclass(frozen=True, kw_only=True)
class About:
    """What a model does not know of its field. It is the field's ``json_schema_extra``."""

    values: Mapping[str, str] = field(default_factory=dict)
    """Each value, or form of a value, and what it means."""
    unset: str = ""
    """What holds where the option is not given, if the default does not say it."""
    example: str = ""
    """A value, as it is written on the command line."""
    unit: str = ""
    panel: str = ""
    """Heading over the flag in ``--help``."""
    flag: str = ""
    """The flag of the command line; by default the name of the field."""
    metavar: str = ""
    see: str = ""
    """Page of the documentation that says more, from ``docs/reference/``."""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Tell editors of files what the type does not say."""
        if self.values:
            schema["description"] = with_values(schema["description"], self.values)
        if self.unit:
            schema["unit"] = self.unit


def option(
    sentence: str,
    default: Any = ...,
    *,
    values: Mapping[str, str] | None = None,
    unset: str = "",
    example: str = "",
    unit: str = "",
    panel: str = "",
    flag: str = "",
    metavar: str = "",
    see: str = "",
    **limits: Any,
) -> Any:
    """A field with everything that is said of it (see `About`); `limits` are pydantic's (``ge``, ``min_length``...)."""
    said = About(
        values=values or {}, unset=unset, example=example, unit=unit, panel=panel, flag=flag, metavar=metavar, see=see
    )
    if isinstance(default, dict):
        return Field(default_factory=lambda: dict(default), description=sentence, json_schema_extra=said, **limits)
    return Field(default, description=sentence, json_schema_extra=said, **limits)


def about(info: FieldInfo) -> About:
    """What was said of the field where it was defined.

    Raises:
        TypeError: nothing; every option needs its sentence.
    """
    if not isinstance(info.json_schema_extra, About) or not info.description:
        raise TypeError("an option is defined with `pointsman.inputs.option.option`, which takes its sentence")
    return info.json_schema_extra


def default_of(info: FieldInfo) -> str:
    """What holds where the option is not given, in words; nothing where that is plain."""
    if (unset := about(info).unset) or info.is_required():
        return unset
    value = info.get_default(call_default_factory=True)
    return "" if value is None or isinstance(value, bool | dict | tuple) else str(value)


def with_values(sentence: str, values: Mapping[str, str]) -> str:
    """``GPU placement`` with ``consolidated or spread``, in one sentence."""
    *most, last = values
    return f"{sentence}: {', '.join(most)} or {last}."


def meaning_of(info: FieldInfo) -> str:
    """The sentence with the values: ``GPU placement: consolidated or spread.``"""
    values = about(info).values
    return with_values(str(info.description), values) if values else str(info.description)


def sentence_of(info: FieldInfo) -> str:
    """The sentence with the values and the default."""
    default = default_of(info)
    return f"{meaning_of(info)} Default: {default}." if default else meaning_of(info)
