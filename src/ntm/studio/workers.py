"""Threads for what takes long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ntm.studio.errors import RefusedError


class Workers:
    """A few threads for what takes long, so that all else is answered in the meantime."""

    def __init__(self, threads: int = 2, waiting: int = 8) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="studio")
        self._most, self._pending = threads + waiting, 0

    async def run(self, work: Callable[[], str]) -> str:
        """Have something done; refuse it where too much is waiting already."""
        if self._pending >= self._most:
            raise RefusedError(429, "The studio is busy with other traces; try again in a moment.")
        self._pending += 1
        try:
            return await asyncio.wrap_future(self._pool.submit(work))
        finally:
            self._pending -= 1
