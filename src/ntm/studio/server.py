"""The studio's server: a small JSON interface, and the page that uses it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from ntm.studio import guide, problems, schemas
from ntm.studio.curves import paper_curves
from ntm.studio.documents import Document
from ntm.studio.errors import RefusedError
from ntm.studio.folder import RunsFolder
from ntm.studio.networks import Networks
from ntm.studio.runs import Runs
from ntm.studio.saved import SavedTraces
from ntm.studio.security import Guard, refusal
from ntm.studio.sharing import as_html, static_folder
from ntm.studio.trainings import Order
from ntm.studio.workers import Workers

_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}

_REASONS = {
    400: "The body is not JSON.",
    403: "The request lacks the token, names another host, or comes from another site.",
    404: "There is no such thing.",
    409: "It is there already, or not in a state for this.",
    413: "The body is too long.",
    415: "The body is not declared as JSON.",
    422: "A value is missing, of the wrong kind or out of bounds.",
    429: "The studio is busy; try again later.",
}

_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take requests of that method.",
}


def create_app(
    folder: str | Path,
    host: str = "127.0.0.1",
    max_trainings: int = 4,
    token: str | None = None,
) -> FastAPI:
    """The studio for a folder of runs, as an ASGI application.

    host: the address that it will be bound to; requests must name it.
    max_trainings: how many runs that were started here may go on at a time.
    token: what a request must bring; None lets in whoever reaches the server.
    """
    place = RunsFolder(Path(folder))
    networks, runs, workers = Networks(place), Runs(place, max_trainings), Workers()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(runs.close)

    app = FastAPI(title="ntm studio", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.include_router(_page())
    app.include_router(_play(networks, workers), prefix="/api")
    app.include_router(_saved(SavedTraces(place), workers), prefix="/api")
    app.include_router(_training(runs), prefix="/api")
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(OSError, _vanished)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    app.add_middleware(Guard, host=host, token=token)
    return app


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a route declares what it may refuse."""
    return {
        status: {"model": schemas.Refusal, "description": _REASONS[status]} for status in statuses
    }


_POSTED = (400, 403, 413, 415, 422)


def _page() -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def index() -> Response:
        return _static("index.html")

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        return _static(name)

    return router


def _play(networks: Networks, workers: Workers) -> APIRouter:
    router = APIRouter()

    @router.get("/guide", response_model=dict[str, Any], responses=_refusals(403, 404))
    def guidance() -> Any:
        return guide.to_json()

    @router.get(
        "/networks", response_model=list[schemas.NetworkListed], responses=_refusals(403, 404)
    )
    def list_networks() -> Any:
        return networks.listing()

    @router.post(
        "/example", response_model=schemas.ExampleAnswer, responses=_refusals(*_POSTED, 404, 429)
    )
    async def example(request: schemas.ExampleRequest) -> Response:
        def drawn() -> str:
            task = networks.find(request.network).task
            sizes = {axis: getattr(request, axis) for axis in ("length", "repeats", "items")}
            given = {axis: size for axis, size in sizes.items() if size is not None}
            problem = problems.example(task, given, request.seed)
            return f'{{"problem": {problem.model_dump_json()}}}'

        return Response(await workers.run(drawn), media_type="application/json")

    def traced(request: schemas.TraceRequest) -> Document:
        return networks.trace(request.network, request.problem, request.memory_locations)

    @router.post(
        "/trace",
        response_model=schemas.TraceDocument,
        responses=_refusals(*_POSTED, 404, 429),
    )
    async def trace(request: schemas.TraceRequest) -> Response:
        text = await workers.run(lambda: json.dumps(traced(request), allow_nan=False))
        return Response(text, media_type="application/json")

    @router.post(
        "/share",
        response_class=Response,
        responses=_refusals(*_POSTED, 404, 429) | {200: {"content": {"text/html": {}}}},
    )
    async def share(request: schemas.TraceRequest) -> Response:
        html = await workers.run(lambda: as_html(traced(request)))
        headers = {"content-disposition": 'attachment; filename="trace.html"'}
        return HTMLResponse(html, headers=headers)

    return router


def _saved(traces: SavedTraces, workers: Workers) -> APIRouter:
    router = APIRouter()

    @router.get("/traces", response_model=list[str], responses=_refusals(403, 404))
    def list_traces() -> Any:
        return traces.names()

    @router.get(
        "/traces/{name}",
        response_model=schemas.TraceDocument,
        responses=_refusals(403, 404, 422, 429),
    )
    async def trace(name: schemas.NamePath) -> Response:
        text = await workers.run(lambda: json.dumps(traces.document(name), allow_nan=False))
        return Response(text, media_type="application/json")

    return router


def _training(runs: Runs) -> APIRouter:
    router = APIRouter()

    @router.get("/runs", response_model=list[schemas.RunListed], responses=_refusals(403, 404))
    def list_runs() -> Any:
        return runs.listing()

    @router.post("/runs", response_model=schemas.RunName, responses=_refusals(*_POSTED, 409, 429))
    def start(request: schemas.RunRequest) -> Any:
        order = Order(request.task, request.model, request.seed, request.sequences)
        return {"name": runs.start(order, request.name)}

    @router.get(
        "/runs/{name}/curve",
        response_model=schemas.CurveAnswer,
        responses=_refusals(403, 404, 422),
    )
    def curve(name: schemas.NamePath, after: schemas.Sequences = 0) -> Any:
        return runs.curve(name, after)

    @router.post(
        "/runs/{name}/stop",
        response_model=schemas.RunName,
        responses=_refusals(403, 404, 409, 413, 415, 422),
    )
    def stop(name: schemas.NamePath) -> Any:
        runs.stop(name)
        return {"name": name}

    @router.post(
        "/curves",
        response_model=dict[str, schemas.Curve],
        responses=_refusals(*_POSTED),
    )
    def curves(request: schemas.CurvesRequest) -> Any:
        return runs.curves(request.after)

    @router.post(
        "/runs/{name}/resume",
        response_model=schemas.RunName,
        responses=_refusals(*_POSTED, 404, 409, 429),
    )
    def resume(name: schemas.NamePath, request: schemas.ResumeRequest) -> Any:
        runs.resume(name, request.sequences)
        return {"name": name}

    @router.post(
        "/runs/{name}/delete",
        response_model=schemas.RunName,
        responses=_refusals(403, 404, 409, 413, 415, 422),
    )
    def delete(name: schemas.NamePath) -> Any:
        runs.delete(name)
        return {"name": name}

    @router.get(
        "/paper/{task}",
        response_model=dict[str, list[schemas.Point]],
        responses=_refusals(403, 422),
    )
    def paper(task: schemas.TaskName) -> Any:
        return paper_curves(task, guide.TASKS[task].height)

    return router


def _static(name: str) -> Response:
    """A file of the page: one of those in the folder, however it is asked for."""
    files = {file.name: file for file in static_folder().iterdir() if file.suffix in _KINDS}
    if name not in files:
        raise RefusedError(404, "The page has no file of that name.")
    return Response(files[name].read_bytes(), media_type=_KINDS[files[name].suffix])


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal(error.status, str(error))


async def _vanished(_request: Request, _error: Exception) -> Response:
    return refusal(404, "A file of the folder went away while it was being read; try again.")


async def _failed(_request: Request, error: Exception) -> Response:
    """What the framework itself refuses: unknown addresses, other methods, nonsense."""
    assert isinstance(error, HTTPException)
    answer = refusal(error.status_code, _SENTENCES.get(error.status_code, f"{error.detail}."))
    answer.headers.update(error.headers or {})
    return answer


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return refusal(422, _sentence(error.errors()[0]))


def _sentence(problem: dict[str, Any]) -> str:
    if problem["type"] == "json_invalid":
        return f"The body is not JSON: {problem['ctx']['error']}."
    # The first part says body, path or query; the name of a task is how a problem was recognised.
    where = [str(part) for part in problem["loc"][1:] if part not in problems.PROBLEMS]
    said = problem["msg"].removeprefix("Value error, ")
    return f"{'.'.join(where)[:200] or 'The body'}: {said}."
