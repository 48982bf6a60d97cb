"""Ctrl-C and SIGTERM as a request to stop after the current step."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def calling_on_signals(request: Callable[[int], None], patient: bool = False) -> Iterator[None]:
    """Within this, the first SIGINT or SIGTERM calls `request` with its number; a second one acts.

    patient: a second one does not act either; `request` is called for each. For processes whose
    launcher forwards signals that they have already received.

    Only the main thread of a process can receive signals; in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def receive(number: int, _frame: FrameType | None) -> None:
        if not patient:
            restore()
        request(number)

    for number in before:
        signal.signal(number, receive)
    # The process that started this one may have blocked signals until a handler was installed.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
    try:
        yield
    finally:
        restore()
