"""What runs calls in parallel, wherever it does."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from pointsman.parallel.file_bundle import Parcel


class Workers(Protocol):
    """What runs calls side by side."""

    @property
    def far(self) -> bool:
        """Whether they may run where the files of this machine are not; they need a `Parcel` then."""
        ...

    def __call__(
        self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], parcel: Parcel | None = None
    ) -> Iterator[Any]:
        """What `function` returns for the arguments of each call, in order; `parcel` has the files that it reads.

        Where workers are far, `function`, arguments and what comes back must pickle.
        """
        ...
