"""The end of a sentence about an unknown word."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str], *, limit: int = 40) -> str:
    """``did you mean 'gpus'? known: ...`` (or only the list, where nothing is near)."""
    names = sorted(known)
    near = nearest(word, names)
    listed = ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
    return f"did you mean {near!r}? known: {listed}" if near else f"known: {listed}" if names else "none is declared"


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The one of `names` that was probably meant, if any."""
    folded = {name.casefold(): name for name in names}
    close = get_close_matches(word.casefold(), folded, n=1)
    if close:
        return folded[close[0]]
    parts = [name for key, name in folded.items() if len(word) >= 3 and word.casefold() in key]
    return parts[0] if len(parts) == 1 else None
