"""Templates of pages that need nothing else, filled."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from pointsman.report.figures.drawing import Drawing
from pointsman.report.figures.style import THEMED
from pointsman.report.pages.fit import glued, is_long, is_sentence, needed_em
from pointsman.version import __version__

TEMPLATES = Path(__file__).parent / "templates"

PREAMBLE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
NAMED = re.compile(r'(\bid="|url\(#|href="#)')


def render(template: str, drawings: Sequence[Drawing], **parts: Any) -> str:
    """A template filled with these figures and `parts`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"glued": glued, "is_long": is_long, "is_sentence": is_sentence, "needed_em": needed_em}
    told = [(drawing, Markup(_inline(drawing))) for drawing in drawings]  # ours, so trusted
    return environment.get_template(f"{template}.html.j2").render(drawings=told, version=__version__, **parts)


def _inline(drawing: Drawing) -> str:
    return inline(drawing.name, drawing.svg or "", f"{drawing.title}. {drawing.sentence}")


def inline(name: str, svg: str, said: str) -> str:
    """An SVG for use inside a page: the page's text and grid colours, its width, ids of its own, and what it shows for
    those who hear the page.
    """
    svg = PREAMBLE.sub("", svg, count=1)
    for colour, variable in THEMED.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = NAMED.sub(rf"\g<1>f{name}-", svg)
    head = f'<svg viewBox="VIEW" role="img" aria-label="{escape(said, quote=True)}">'
    return re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', lambda found: head.replace("VIEW", found[1]), svg, count=1)
