"""The models of the catalogue that the results pages survey."""

from pointsman.speed.profiles.catalogue import Catalogue


def surveyed(catalogue: Catalogue) -> list[str]:
    """All but DL2's six, of which neither memory nor batches are known: a survey would count guesses."""
    return sorted(name for name, model in catalogue.models.items() if not model.gradient.source.startswith("dl2:"))
