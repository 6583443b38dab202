"""The page ``docs/reference/options.md``: every option by its flag, key and keyword.

``python -m pointsman.cli.reference > docs/reference/options.md`` writes it; a test compares.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pointsman.cli.flags import flag_of
from pointsman.experiment import ASSUMED, WHAT, Assumptions, ExperimentSpec, RunOptions
from pointsman.inputs.option import about, default_of

TITLE = """\
# Options

Every option of a run: its flag for `pointsman simulate` and `compare`, its key in `spec` of an
[experiment file](../formats/experiment.md), and its keyword of [`pointsman.simulate`](api.md).

This page is generated from `src/pointsman/experiment.py` by `python -m pointsman.cli.reference`.
"""
KEYWORDS = "The keys are keywords of `pointsman.simulate` as well.\n"
MORE = "`pointsman.simulate` also takes these keywords.\n"
COLUMNS = ("meaning", "type and limits", "default")


def page() -> str:
    """The whole page."""
    whole = ExperimentSpec.model_fields
    replayed = {name: info for name, info in whole.items() if name not in Assumptions.model_fields}
    python = {name: info for name, info in RunOptions.model_fields.items() if name not in whole}
    parts = [
        TITLE,
        f"## {WHAT}\n\n{_table(ExperimentSpec, replayed)}",
        f"## {ASSUMED}\n\n{KEYWORDS}\n{_table(ExperimentSpec, Assumptions.model_fields)}",
        f"## Only in Python\n\n{MORE}\n{_table(RunOptions, python)}",
        "## Values\n",
        *(_values(name, info) for name, info in whole.items() if about(info).values),
    ]
    return "\n".join(parts)


def _table(model: type[BaseModel], fields: Mapping[str, FieldInfo]) -> str:
    """A row for each field; those that no file has are keywords only."""
    properties, in_file = model.model_json_schema()["properties"], model is ExperimentSpec
    head = ("flag", "key") if in_file else ("keyword",)
    rows = [(*head, *COLUMNS), ("---",) * (len(head) + len(COLUMNS))]
    for name, info in fields.items():
        names = (_flag(name, info), name) if in_file else (name,)
        rows.append((*(f"`{each}`" for each in names), *_row(name, info, properties[name])))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(name: str, info: FieldInfo, schema: Mapping[str, Any]) -> tuple[str, ...]:
    said = about(info)
    meaning = f"{info.description}: [values](#{name})." if said.values else str(info.description)
    if said.see:
        meaning += f" [More]({said.see})."
    kind = " ".join(word for word in (_kind(schema), said.unit and f"({said.unit})") if word)
    return meaning, kind or "any", _default(info)


def _flag(name: str, info: FieldInfo) -> str:
    flag, metavar = flag_of(name), about(info).metavar
    if info.default is True:
        return flag.replace("--", "--no-")
    return flag if flag == metavar or not metavar else f"{flag} {metavar}"


def _values(name: str, info: FieldInfo) -> str:
    rows = "".join(f"| `{value}` | {meaning} |\n" for value, meaning in about(info).values.items())
    example = f"\nExample: `{flag_of(name)} {about(info).example}`.\n" if about(info).example else ""
    return f"### `{name}`\n\n| value | meaning |\n|---|---|\n{rows}{example}"


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if about(info).unset:
        return default_of(info)
    return "none" if value in ((), {}) else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _kind(schema: Mapping[str, Any]) -> str:
    """The type and the limits, as the schema of the file has them: ``whole number, 1 to 8``."""
    if "anyOf" in schema:
        kinds = [_kind(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
    if "$ref" in schema:
        return "`name` with `params`"
    if "enum" in schema:
        return "one of the values"
    kind = schema.get("type", "")
    if kind == "array":
        inner = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
        many = _kind(inner).replace("number", "numbers").replace("text", "texts")
        return f"list of {many}" if "items" in schema else f"pair of {many}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"mapping to {_kind(inner)}" if isinstance(inner, dict) else "mapping"
    words = {"string": "text", "integer": "whole number", "boolean": "`true` or `false`"}
    return words.get(kind, kind) + _limits(schema)


def _limits(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMaximum" in schema:
        most = schema["exclusiveMaximum"] - 1
    return "" if least is None else f", {least:g} to {most:,.10g}" if most is not None else f", from {least:g}"


if __name__ == "__main__":
    print(page(), end="")
