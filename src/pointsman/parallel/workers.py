"""What runs calls in parallel, wherever it does."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, Protocol

from pointsman.parallel.file_bundle import FileBundle


class Workers(Protocol):
    """What runs calls side by side."""

    @property
    def far(self) -> bool:
        """Whether they may run where the files of this machine are not; they need a `FileBundle` then."""
        ...

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        bundle: FileBundle | None = None,
        *,
        in_order: bool = True,
    ) -> Iterator[Any]:
        """What `function` returns for the arguments of each call; `bundle` has the files that it reads.

        They come in the order of the calls, or as soon as there is one if they need not be `in_order`.

        Where workers are far, `function`, arguments and what comes back must pickle.
        """
        ...


def returned_as(in_order: bool) -> Literal["generator", "generator_unordered"]:
    """How joblib calls it."""
    return "generator" if in_order else "generator_unordered"
