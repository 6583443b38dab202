"""Where a job table came from, and how good its log was."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pointsman.inputs.messages import quoted

MOST_LINES: Final = 3
"""Lines that are named of the rows dropped for one reason."""


@dataclass(frozen=True)
class Place:
    """Where the rows stand that were dropped for one reason."""

    lines: tuple[int, ...]
    """Lines of the first rows, at most `MOST_LINES`; none of a file without lines."""
    cell: str | None = None
    """What the first of them has where it cannot be read."""

    def after(self, other: "Place | None") -> "Place":
        """The place of these rows and of others that were dropped for the same reason, in the order of the file."""
        if other is None:
            return self
        first = min(self, other, key=lambda place: place.lines or (0,))
        return Place(tuple(sorted({*self.lines, *other.lines})[:MOST_LINES]), first.cell)

    def render(self, rows: int) -> str:
        """Renders ``lines 4, 7, 9, …; line 4 has '2 Mar'``; `rows` is the number of rows in all."""
        if not self.lines:
            return f"such as {quoted(self.cell)}"
        more = ", …" if rows > len(self.lines) else ""
        said = f"line{'s' if rows > 1 else ''} {', '.join(f'{line:,}' for line in self.lines)}{more}"
        return said if self.cell is None else f"{said}; line {self.lines[0]:,} has {quoted(self.cell)}"


@dataclass(frozen=True)
class Quality:
    """What reading a log dropped, changed and assumed. `rows_read = kept + Σ dropped + Σ merged`, always."""

    rows_read: int
    """Rows of the file, counted apart from its parsing where that can be done."""
    kept: int
    """Jobs."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    clamped: dict[str, int] = field(default_factory=dict)
    """Rows kept with a changed value, by what was changed."""
    notes: tuple[str, ...] = ()
    """Assumptions (time zone, sharing, …), one sentence each."""
    merged: dict[str, int] = field(default_factory=dict)
    """Further rows of a job that another row began, by what they are; all that they say of it is kept."""
    places: dict[str, Place] = field(default_factory=dict)
    """Where the dropped rows stand, by reason; without reasons whose lines are not known."""

    def render(self) -> str:
        """The report as text, one fact a line."""
        lines = [f"rows read: {self.rows_read:,}; jobs kept: {self.kept:,}"]
        lines += [f"merged {n:,}: {what}" for what, n in self.merged.items()]
        lines += [f"dropped {n:,}: {self.render_place(reason)}" for reason, n in self.dropped.items()]
        lines += [f"changed {n:,}: {what}" for what, n in self.clamped.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def render_place(self, reason: str) -> str:
        """A reason for dropping rows, with the lines of the first."""
        place = self.places.get(reason)
        return reason if place is None else f"{reason} ({place.render(self.dropped[reason])})"

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `merged` and `places` where there are any."""
        return {
            "rows_read": self.rows_read,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            "clamped": dict(self.clamped),
            "notes": list(self.notes),
            **({"merged": dict(self.merged)} if self.merged else {}),
            **({"places": {reason: asdict(place) for reason, place in self.places.items()}} if self.places else {}),
        }


@dataclass(frozen=True)
class Provenance:
    """Where a workload came from."""

    source: str
    """The file as given, `-` for standard input, or what made the workload."""
    sha256: str
    """Digest of the bytes as stored (compressed, if they were); empty for a workload that was no file."""
    format: str
    command: str = ""
    """What read or made it."""
    origin: "Provenance | None" = None
    """Where the jobs of a converted or generated table came from."""
    only: str = ""
    """Which of its jobs, where not all were asked for: `vc=cluster04`."""
    seed: int | None = None
    """With which generated jobs were drawn."""

    def __str__(self) -> str:
        """In a few words, of a file with its format."""
        this = f"{self.source} (format {self.format})" if self.sha256 else self.source
        this += f", only {self.only}" if self.only else ""
        return this if self.origin is None else f"{this}, from {self.origin}"

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `origin`, `only` and `seed` where there are any."""
        own: dict[str, Any] = {
            "source": self.source,
            "sha256": self.sha256,
            "format": self.format,
            "command": self.command,
        }
        own |= {"only": self.only} if self.only else {}
        own |= {"seed": self.seed} if self.seed is not None else {}
        return own if self.origin is None else own | {"origin": self.origin.as_dict()}
