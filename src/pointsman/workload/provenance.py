"""Where a job table came from, and how good its log was."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Quality:
    """What reading a log dropped, changed and assumed. `rows_read = kept + Σ dropped`."""

    rows_read: int
    kept: int
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    clamped: dict[str, int] = field(default_factory=dict)
    """Rows kept with a changed value, by what was changed."""
    notes: tuple[str, ...] = ()
    """Assumptions (time zone, sharing, …), one sentence each."""

    def render(self) -> str:
        """The report as text, one fact a line."""
        lines = [f"rows read: {self.rows_read:,}; jobs kept: {self.kept:,}"]
        lines += [f"dropped {n:,}: {reason}" for reason, n in self.dropped.items()]
        lines += [f"changed {n:,}: {what}" for what, n in self.clamped.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "rows_read": self.rows_read,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            "clamped": dict(self.clamped),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Provenance:
    """Where a workload came from."""

    source: str
    """The file as given, `-` for standard input, or what made the workload."""
    sha256: str
    """Of the bytes as stored (compressed, if they were); empty for a workload that was no file."""
    format: str
    command: str = ""
    """What read or made it."""
    origin: "Provenance | None" = None
    """Of a table that was converted or generated: where its jobs came from."""
    only: str = ""
    """Which of its jobs, where not all were asked for: `vc=cluster04`."""

    def __str__(self) -> str:
        """In a few words; the format where the source does not say it."""
        this = self.source if self.format in self.source else f"{self.source} (format {self.format})"
        this += f", only {self.only}" if self.only else ""
        return this if self.origin is None else f"{this}, from {self.origin}"

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `origin` and `only` where there are any."""
        own = {"source": self.source, "sha256": self.sha256, "format": self.format, "command": self.command}
        own |= {"only": self.only} if self.only else {}
        return own if self.origin is None else own | {"origin": self.origin.as_dict()}
