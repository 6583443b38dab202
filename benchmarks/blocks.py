"""Tables in a page of results, which stand between ``<!-- table NAME -->`` and ``<!-- end -->``."""

import re
from collections.abc import Mapping
from pathlib import Path

from pointsman.errors import InputError

BLOCK = re.compile(r"(<!-- table (?P<name>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: Path, tables: Mapping[str, str], *, partly: bool = False) -> None:
    """Write the tables into their places, and leave all other words; `partly`: there may be places for more.

    Raises:
        InputError: a table has no place, or a place no table.
    """
    text = page.read_text(encoding="utf-8")
    named = {match["name"] for match in BLOCK.finditer(text)}
    odd = set(tables) - named if partly else named ^ set(tables)
    if odd:
        raise InputError(f"tables that are not both made and wanted: {', '.join(sorted(odd))}", path=str(page))
    page.write_text(BLOCK.sub(lambda match: _filled(match, tables), text), encoding="utf-8")


def _filled(match: re.Match[str], tables: Mapping[str, str]) -> str:
    return f"{match[1]}\n{tables[match['name']]}\n{match[3]}" if match["name"] in tables else match[0]
