"""What takes long neither holds up the rest nor piles up without end."""

import asyncio
import threading

import pytest

from ntm.studio.errors import RefusedError
from ntm.studio.workers import Workers


def test_so_many_may_wait_and_no_more() -> None:
    workers, finish = Workers(threads=1, waiting=2), threading.Event()

    def work() -> str:
        finish.wait()
        return "done"

    async def crowd() -> None:
        accepted = [asyncio.create_task(workers.run(work)) for _ in range(3)]
        await asyncio.sleep(0)  # they are handed to the thread, and this one goes on
        with pytest.raises(RefusedError, match="busy") as refused:
            await workers.run(work)
        assert refused.value.status == 429
        assert not any(task.done() for task in accepted)
        finish.set()
        assert await asyncio.gather(*accepted) == ["done"] * 3
        assert await workers.run(work) == "done"

    asyncio.run(crowd())


def test_what_goes_wrong_is_told_and_makes_room_again() -> None:
    workers = Workers(threads=1, waiting=0)

    def work() -> str:
        raise RefusedError(422, "No.")

    async def twice() -> None:
        for _ in range(2):
            with pytest.raises(RefusedError, match="No"):
                await workers.run(work)

    asyncio.run(twice())
