"""Tables as text for other documents: Markdown, and LaTeX with the rules of booktabs."""

from collections.abc import Sequence
from typing import Final

Rows = Sequence[Sequence[str]]

LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "<": "$<$", ">": "$>$",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$", "ρ": r"$\rho$", "σ": r"$\sigma$",
        "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "…": r"\dots{}", "≥": r"$\geq$", "≤": r"$\leq$",
    }
)  # fmt: skip
"""What stands for characters that mean something else to LaTeX, or that its fonts may lack."""


def markdown(columns: Sequence[str], rows: Rows, left: Sequence[str]) -> str:
    """A table of Markdown; columns in `left` hold words."""
    rule = [":--" if column in left else "--:" for column in columns]
    head, *body = ([_plain(cell) for cell in cells] for cells in (columns, *rows))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *body))


def _plain(cell: str) -> str:
    return " ".join(cell.replace("|", r"\|").split())


def latex(columns: Sequence[str], rows: Rows, left: Sequence[str]) -> str:
    r"""A ``tabular``, which needs ``\usepackage{booktabs}``; columns in `left` hold words."""
    head, *body = (" & ".join(cell.translate(LATEX) for cell in cells) + r" \\" for cells in (columns, *rows))
    spec = "".join("l" if column in left else "r" for column in columns)
    lines = rf"\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"
    return "".join(f"{line}\n" for line in lines)
