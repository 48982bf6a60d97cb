"""Routes of the studio's server, and the functions that answer them."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from pydantic_core import to_json

from ntm.studio import guide, schemas
from ntm.studio.curves import paper_curves
from ntm.studio.errors import RefusedError
from ntm.studio.networks import Networks
from ntm.studio.runs import Runs
from ntm.studio.saved import SavedTraces
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
    409: "It exists already, or its state does not allow this.",
    413: "The body is too long.",
    415: "The body is not declared as JSON.",
    422: "A value is missing, of the wrong kind or out of bounds.",
    429: "Too many runs are being trained; try again later.",
    503: "It would take too long now; try again later.",
}


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the declaration of a route's error statuses, for the OpenAPI document."""
    return {
        status: {"model": schemas.Refusal, "description": _REASONS[status]} for status in statuses
    }


_ASKED = _refusals(403, 404, 503)
_NAMED = _ASKED | _refusals(422)
_POSTED = _refusals(400, 403, 413, 415, 422)
_WORKED = _POSTED | _refusals(404, 503)
_ORDERED = _refusals(403, 404, 409, 413, 415, 422)


def page() -> APIRouter:
    """Return the routes for the page and its files."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def index() -> Response:
        return _static("index.html")

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        return _static(name)

    return router


def play(networks: Networks, workers: Workers, readers: Workers) -> APIRouter:
    """Return the routes that list networks and run them on problems."""
    router = APIRouter()

    @router.get("/networks", response_model=list[schemas.NetworkListed], responses=_ASKED)
    async def list_networks() -> Any:
        return await readers.run(networks.listing)

    @router.get("/networks/{network}", response_model=schemas.NetworkListed, responses=_NAMED)
    async def network(network: schemas.NetworkPath) -> Any:
        return await readers.run(lambda: networks.find(network).to_json())

    @router.post("/example", response_model=schemas.ExampleAnswer, responses=_WORKED)
    async def example(request: schemas.ExampleRequest) -> Response:
        def drawn() -> Response:
            problem = networks.example(request.network, request.sizes, request.seed)
            return _json({"problem": problem})

        return await workers.run(drawn)

    @router.post("/trace", response_model=schemas.TraceDocument, responses=_WORKED)
    async def trace(request: schemas.TraceRequest) -> Response:
        return await workers.run(lambda: _json(networks.trace(*request.order)))

    shared: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}

    @router.post("/share", response_class=Response, responses=_WORKED | shared)
    async def share(request: schemas.ShareRequest) -> Response:
        def shown() -> Response:
            html = as_html(networks.trace(*request.order), request.view)
            headers = {"content-disposition": 'attachment; filename="trace.html"'}
            return HTMLResponse(html, headers=headers)

        return await workers.run(shown)

    return router


def saved(traces: SavedTraces, workers: Workers, readers: Workers) -> APIRouter:
    """Return the routes for traces that were saved in the folder."""
    router = APIRouter()

    @router.get("/traces", response_model=list[str], responses=_ASKED)
    async def list_traces() -> Any:
        return await readers.run(traces.names)

    @router.get("/folder", response_model=schemas.FolderAnswer, responses=_ASKED)
    async def folder() -> Any:
        return await readers.run(traces.state)

    @router.get("/traces/{name}", response_model=schemas.TraceDocument, responses=_NAMED)
    async def trace(name: schemas.NamePath) -> Response:
        return await workers.run(lambda: _json(traces.document(name)))

    return router


def watch(runs: Runs, readers: Workers) -> APIRouter:
    """Return the routes for runs, learning curves, and texts about tasks and models."""
    router = APIRouter()

    @router.get("/guide", response_model=dict[str, Any], responses=_ASKED)
    def guidance() -> Any:
        return guide.to_json()

    @router.get("/runs", response_model=schemas.RunsAnswer, responses=_ASKED)
    async def list_runs() -> Any:
        return await readers.run(runs.listing)

    @router.get("/runs/{name}/curve", response_model=schemas.CurveAnswer, responses=_NAMED)
    async def curve(name: schemas.NamePath, after: schemas.Sequences = 0) -> Any:
        return await readers.run(lambda: runs.curve(name, after))

    @router.post("/curves", response_model=dict[str, schemas.Curve], responses=_WORKED)
    async def curves(request: schemas.CurvesRequest) -> Any:
        return await readers.run(lambda: runs.curves(request.after))

    points = dict[str, list[schemas.Point]]

    @router.get("/paper/{task}", response_model=points, responses=_refusals(403, 422))
    def paper(task: schemas.TaskName) -> Any:
        return paper_curves(task)

    return router


def train(runs: Runs) -> APIRouter:
    """Return the routes that start, stop, resume and delete runs."""
    router = APIRouter()

    @router.post("/runs", response_model=schemas.RunName, responses=_POSTED | _refusals(409, 429))
    def start(request: schemas.RunRequest) -> Any:
        order = Order(request.task, request.model, request.seed, request.sequences)
        return {"name": runs.start(order, request.name)}

    @router.post("/runs/{name}/stop", response_model=schemas.RunName, responses=_ORDERED)
    def stop(name: schemas.NamePath) -> Any:
        runs.stop(name)
        return {"name": name}

    responses = _ORDERED | _refusals(400, 429)

    @router.post("/runs/{name}/resume", response_model=schemas.RunName, responses=responses)
    def resume(name: schemas.NamePath, request: schemas.ResumeRequest) -> Any:
        runs.resume(name, request.sequences)
        return {"name": name}

    @router.post("/runs/{name}/delete", response_model=schemas.Deleted, responses=_ORDERED)
    def delete(name: schemas.NamePath) -> Any:
        return {"name": name, "was_there": runs.delete(name)}

    return router


def _static(name: str) -> Response:
    """Return a file of the page; raise RefusedError if the static folder has no such file."""
    files = {file.name: file for file in static_folder().iterdir() if file.suffix in _KINDS}
    if name not in files:
        raise RefusedError(404, "The page has no file of that name.")
    return Response(files[name].read_bytes(), media_type=_KINDS[files[name].suffix])


def _json(document: dict[str, Any]) -> Response:
    try:
        return Response(to_json(document, inf_nan_mode="null"), media_type="application/json")
    except ValueError as error:  # half of a character in a file, or too deep nesting
        raise RefusedError(422, "This contains values that cannot be sent as JSON.") from error
