"""Ctrl-C and SIGTERM as a request to stop after the current step."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def calling_on_signals(request: Callable[[int], None], patient: bool = False) -> Iterator[None]:
    """Call `request` with the number of the first SIGINT or SIGTERM; a second signal acts as usual.

    Only the main thread of a process can receive signals; in other threads, the context does
    nothing.

    patient: whether to call `request` for every signal, not only for the first (False). Some
        launchers forward signals that the process has already received.
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
    # The parent process may have blocked signals until a handler is installed.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
    try:
        yield
    finally:
        restore()
