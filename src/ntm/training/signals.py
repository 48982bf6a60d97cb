"""Ctrl-C and a polite kill as a request to stop, not as an end in the middle of something."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def calling_on_signals(request: Callable[[int], None], patient: bool = False) -> Iterator[None]:
    """Within this, the first SIGINT or SIGTERM calls `request` with its number; a second one acts.

    patient: no second one acts, `request` is called for each. For processes whose launcher passes
    on the signals that they have had already.

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
    # Whoever started this process may have held signals back until there was somebody to take them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
    try:
        yield
    finally:
        restore()
