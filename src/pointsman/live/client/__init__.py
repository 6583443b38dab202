"""Commands of users and operators, which ask the daemon; standard library only, so that they start at once."""

from typing import Final

VERBS: Final = (
    *("submit", "run", "queue", "history", "nodes", "show", "logs", "cancel", "hold", "release", "requeue"),
    *("drain", "resume", "explain"),
)
"""The commands of `pointsman.live.client.verbs`."""
