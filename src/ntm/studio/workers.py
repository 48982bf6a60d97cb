"""Threads that do slow work for requests."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ntm.studio.errors import RefusedError

Value = TypeVar("Value")

SECONDS_TO_ANSWER = 1.5


class Workers:
    """A few threads for slow work, so that the studio can answer other requests meanwhile.

    A request that takes longer than SECONDS_TO_ANSWER ends with an error. If its work has started,
    the work continues, and may fill a cache for the next request; otherwise the work never starts.
    """

    def __init__(self, threads: int = 2, waiting: int = 8) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="studio")
        self._most, self._pending = threads + waiting, 0

    async def run(self, work: Callable[[], Value]) -> Value:
        """Return the value of `work`; raise RefusedError if it takes or would wait too long."""
        if self._pending >= self._most:
            raise RefusedError(503, "The studio is busy; try again in a moment.")
        self._pending += 1
        try:
            done = asyncio.wrap_future(self._pool.submit(work))
            return await asyncio.wait_for(done, SECONDS_TO_ANSWER)
        except TimeoutError as error:
            raise RefusedError(
                503,
                f"This takes longer than {SECONDS_TO_ANSWER} s here, or other work came first; try "
                f"again in a moment, or ask for something smaller.",
            ) from error
        finally:
            self._pending -= 1
