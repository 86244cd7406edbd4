"""Threads that plan ahead and do not delay the end of a program.

concurrent.futures joins its threads before the interpreter runs exit handlers, so a program would
wait for its last search. The threads here are daemon threads; _planner.py ends and joins them at
exit.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
Task = tuple["Future[Any]", Callable[[], Any]]


class Threads:
    """Runs calls in the order of their submission, up to `count` at a time.

    submit() and close() must not be called concurrently.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._waiting: queue.SimpleQueue[Optional[Task]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, call: Callable[[], T]) -> Future[T]:
        from concurrent.futures import Future  # with logging, see log() in _errors.py

        future: Future[T] = Future()
        self._waiting.put((future, call))
        if len(self._threads) < self._count:
            name = f"stowage_{len(self._threads)}"
            # The target is not a method of this object, so that a waiting thread does not keep the
            # object alive.
            thread = threading.Thread(target=_work, args=(self._waiting,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        return future

    def close(self) -> None:
        """Cancels calls that have not begun, and waits for running calls."""
        self.stop()
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """Cancels calls that have not begun, without waiting."""
        while True:
            try:
                task = self._waiting.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)


def _work(waiting: queue.SimpleQueue[Optional[Task]]) -> None:
    while (task := waiting.get()) is not None:
        _call(*task)
        del task  # the thread must not keep a reference to the result


def _call(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as raised:
        future.set_exception(raised)
    else:
        future.set_result(result)
