"""A page of sections, for whatever is reported."""

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.report.figures.drawing import Drawing
from pointsman.report.pages.filling import render
from pointsman.report.tables.tables import Table


@dataclass(frozen=True)
class Section:
    """A heading, and below it, in this order, paragraphs, the figures of its name, tables and a list."""

    name: str
    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    points: Sequence[str] = ()
    is_folded: bool = False
    """Whether it is opened by a click."""


def page_of(
    title: str, lead: str, sections: Sequence[Section], drawings: Sequence[Drawing] = (), command: str | None = None
) -> str:
    """The HTML of a page; `command` is what it was made by."""
    return render("sections", drawings, title=title, lead=lead, sections=sections, command=command)
