"""The studio's server: a small JSON interface, and the page that uses it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from ntm.runs import Run
from ntm.studio import routes
from ntm.studio.errors import RefusedError, sentence_of
from ntm.studio.folder import RunsFolder
from ntm.studio.networks import Networks
from ntm.studio.runs import Runs
from ntm.studio.saved import SavedTraces
from ntm.studio.security import Guard, refusal
from ntm.studio.workers import Workers

_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take requests of that method.",
}


def create_app(
    folder: str | Path,
    host: str = "127.0.0.1",
    max_trainings: int = 4,
    token: str | None = None,
    networks: Sequence[Run] = (),
) -> FastAPI:
    """Return the studio for a folder of runs, as an ASGI application.

    folder: folder of runs, which need not exist yet.
    host: address that the server will be bound to; requests must have it as host (127.0.0.1).
    max_trainings: largest number of runs that the studio trains at a time (4).
    token: token that every request must contain (None: no token is needed).
    networks: saved networks to show in addition to the networks of the folder.
    """
    place = RunsFolder(Path(folder))
    playable, runs = Networks(place, networks), Runs(place, max_trainings)
    # Separate threads: reading the folder must not wait for computations.
    workers, readers = Workers(), Workers()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(runs.close)

    app = FastAPI(title="ntm studio", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.include_router(routes.page())
    for router in (
        routes.play(playable, workers, readers),
        routes.saved(SavedTraces(place), workers, readers),
        routes.watch(runs, readers),
        routes.train(runs),
    ):
        app.include_router(router, prefix="/api")
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(OSError, _vanished)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    app.add_middleware(Guard, host=host, token=token)
    return app


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal(error.status, str(error))


async def _vanished(_request: Request, _error: Exception) -> Response:
    return refusal(404, "A file of the folder disappeared while it was being read; try again.")


async def _failed(_request: Request, error: Exception) -> Response:
    """Answer requests that FastAPI does not accept: unknown addresses and wrong methods."""
    assert isinstance(error, HTTPException)
    answer = refusal(error.status_code, _SENTENCES.get(error.status_code, f"{error.detail}."))
    answer.headers.update(error.headers or {})
    return answer


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problem = error.errors()[0]
    if problem["type"] == "json_invalid":
        return refusal(422, f"The body is not JSON: {problem['ctx']['error']}.")
    # The first part of the place is body, path or query.
    return refusal(422, sentence_of({**problem, "loc": problem["loc"][1:]}))
