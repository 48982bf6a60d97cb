"""What takes long neither holds up the rest nor piles up without end."""

import asyncio
import threading

import pytest

from ntm.studio.errors import RefusedError
from ntm.studio.workers import Workers

PATIENCE = (
    30  # seconds for what is refused at once; a broken bound fails the test and hangs nothing
)


def test_so_many_may_wait_and_no_more() -> None:
    workers, finish = Workers(threads=1, waiting=2), threading.Event()

    def work() -> str:
        finish.wait()
        return "done"

    async def crowd() -> None:
        accepted = [asyncio.create_task(workers.run(work)) for _ in range(3)]
        await asyncio.sleep(0)  # they are handed to the thread, and this one goes on
        try:
            with pytest.raises(RefusedError, match="busy") as refused:
                await asyncio.wait_for(workers.run(work), PATIENCE)
            assert refused.value.status == 503
            assert not any(task.done() for task in accepted)
        finally:
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


def test_who_waits_too_long_is_told_and_what_has_not_begun_never_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ntm.studio.workers.SECONDS_TO_ANSWER", 0.01)
    workers, finish, begun = Workers(threads=1), threading.Event(), []

    def work() -> str:
        begun.append("work")
        finish.wait()
        return "done"

    async def late() -> None:
        asked = [workers.run(work) for _ in range(3)]
        try:
            answers = await asyncio.wait_for(
                asyncio.gather(*asked, return_exceptions=True), PATIENCE
            )
        finally:
            finish.set()
        for answer in answers:
            assert isinstance(answer, RefusedError)
            assert answer.status == 503
            assert "try again in a moment" in str(answer)
        monkeypatch.setattr("ntm.studio.workers.SECONDS_TO_ANSWER", 300.0)
        assert await workers.run(lambda: "next") == "next"

    asyncio.run(late())
    assert begun == ["work"]
