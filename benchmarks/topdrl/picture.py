"""The picture of the page."""


def draw(figures, path):
    """Write it."""
