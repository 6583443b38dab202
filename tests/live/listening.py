"""Policies that know of jobs only what they have heard."""

from typing import Any

from pointsman.types import Event, Reason


class Listens:
    """Starts jobs in the order in which it has heard of them. What it forgets it can hear again."""

    name, needs = "listens", "none"

    def __init__(self) -> None:
        self.waiting: list[int] = []

    def on_event(self, view: Any, kind: int, job: int) -> None:
        if kind == Event.SUBMIT:
            self.waiting.append(job)

    def decide(self, view: Any) -> None:
        while self.waiting and view.start(self.waiting[0]) is Reason.OK:
            self.waiting.pop(0)


class Alternates(Listens):
    """The first and the last of them by turns, which nobody could tell it again."""

    name = "alternates"

    def __init__(self) -> None:
        super().__init__()
        self.starts = 0

    def decide(self, view: Any) -> None:
        while self.waiting:
            job = self.waiting[-1 if self.starts % 2 else 0]
            if view.start(job) is not Reason.OK:
                return
            self.waiting.remove(job)
            self.starts += 1

    def remember(self) -> dict[str, Any]:
        return {"waiting": self.waiting, "starts": self.starts}

    def recall(self, memory: dict[str, Any]) -> None:
        self.waiting, self.starts = memory["waiting"], memory["starts"]

    def copy(self) -> "Alternates":
        other = Alternates()
        other.recall({"waiting": [*self.waiting], "starts": self.starts})
        return other
