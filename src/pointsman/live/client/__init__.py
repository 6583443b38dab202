"""Commands of users and operators, which ask the daemon; standard library only, so that they start at once."""

from typing import Final

VERBS: Final[dict[str, str]] = {
    "submit": "Submit a job to a live cluster.",
    "run": "Submit a job, print its output and leave with its exit code.",
    "queue": "List the jobs of a live cluster that have not ended.",
    "history": "List the jobs of a live cluster that have ended.",
    "nodes": "List the nodes of a live cluster.",
    "show": "Print all that is known of a job of a live cluster.",
    "logs": "Print the output of a job of a live cluster.",
    "cancel": "Cancel jobs of a live cluster.",
    "hold": "Hold pending jobs of a live cluster.",
    "release": "Release held jobs of a live cluster.",
    "requeue": "Stop jobs of a live cluster and queue them again.",
    "drain": "Let a node of a live cluster take no new jobs.",
    "resume": "Let a drained node of a live cluster take jobs again.",
    "explain": "Explain why a job of a live cluster is pending; with --run DIR, a job of a run.",
    "whatif": "Foretell what would change on a live cluster.",
}
"""The commands of `pointsman.live.client.verbs`, and what they do."""
