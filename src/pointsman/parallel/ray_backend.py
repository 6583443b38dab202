"""Ray's backend of joblib, with results as they come, and calls for idle workers."""

import threading
from collections.abc import Callable
from typing import Any

from ray.util.joblib.ray_backend import RayBackend
from ray.util.multiprocessing.pool import ResultThread


class Backend(RayBackend):
    """``ray.util.joblib``, for at most as many calls in flight as there are workers."""

    supports_return_generator = True

    def configure(self, *given: Any, **named: Any) -> int:
        workers = super().configure(*given, **named)
        self._idle = list(range(workers))
        threading.excepthook = _report_lost_thread
        return workers

    def submit(self, func: Callable[..., Any], callback: Callable[[Any], Any] | None = None) -> Any:
        """As Ray's, which deals calls out in turn: here the turn is always an idle worker's."""
        worker = self._idle.pop(0)

        def free_worker(answer: Any) -> None:
            self._idle.append(worker)
            if callback is not None:
                callback(answer)

        pool: Any = self._pool
        pool._current_index = worker - 1  # its turn is the next
        return super().submit(func, free_worker)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        super().abort_everything(ensure_ready=False)  # no new workers will be needed


def _report_lost_thread(args: threading.ExceptHookArgs) -> None:
    """A thread of Ray's that waits for an answer dies with the connection without a word: here it says so."""
    if isinstance(args.thread, ResultThread):
        args.thread._error_callback(args.exc_value)
    else:
        threading.__excepthook__(args)
