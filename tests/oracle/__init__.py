"""An independent, slow and obvious simulator, written from docs/reference/semantics.md and its pages alone.

It imports nothing of Pointsman, so that a disagreement with the engine is news.
"""

from .model import Job, Node, Schedule
from .simulator import simulate

__all__ = ["Job", "Node", "Schedule", "simulate"]
