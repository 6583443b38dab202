"""Ray's backend of joblib, with results as they come, and calls for whoever is idle."""

from collections.abc import Callable
from typing import Any

from ray.util.joblib.ray_backend import RayBackend


class Backend(RayBackend):
    """``ray.util.joblib``, for at most as many calls in flight as there are workers."""

    supports_return_generator = True

    def configure(self, *given: Any, **named: Any) -> int:
        workers = super().configure(*given, **named)
        self._idle = list(range(workers))
        return workers

    def submit(self, func: Callable[..., Any], callback: Callable[[Any], Any] | None = None) -> Any:
        """As Ray's, which deals calls out in turn: here the turn is always an idle worker's."""
        worker = self._idle.pop(0)

        def done(answer: Any) -> None:
            self._idle.append(worker)
            if callback is not None:
                callback(answer)

        pool: Any = self._pool
        pool._current_index = worker - 1  # its turn is the next
        return super().submit(func, done)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        super().abort_everything(ensure_ready=False)  # nobody will need new workers
