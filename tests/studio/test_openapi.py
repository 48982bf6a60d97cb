"""The OpenAPI document tells the truth: requests made from it, good and bad, get what it says."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.studio.conftest import make_run
from tests.studio.test_hostile import everything_in

from ntm.studio.server import create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# What every address takes; where nothing is sent, nothing can be wrong.
OPERATIONS = {
    ("GET", "/api/guide"): [GenerationMode.POSITIVE],
    ("GET", "/api/networks"): [GenerationMode.POSITIVE],
    ("GET", "/api/networks/{network}"): list(GenerationMode),
    ("POST", "/api/example"): list(GenerationMode),
    ("POST", "/api/trace"): list(GenerationMode),
    ("POST", "/api/share"): list(GenerationMode),
    ("GET", "/api/runs"): [GenerationMode.POSITIVE],
    ("POST", "/api/runs"): list(GenerationMode),
    ("GET", "/api/runs/{name}/curve"): list(GenerationMode),
    ("POST", "/api/runs/{name}/stop"): list(GenerationMode),
    ("POST", "/api/runs/{name}/resume"): list(GenerationMode),
    ("POST", "/api/runs/{name}/delete"): list(GenerationMode),
    ("POST", "/api/curves"): list(GenerationMode),
    ("GET", "/api/paper/{task}"): list(GenerationMode),
    ("GET", "/api/traces"): [GenerationMode.POSITIVE],
    ("GET", "/api/folder"): [GenerationMode.POSITIVE],
    ("GET", "/api/traces/{name}"): list(GenerationMode),
}


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A studio's document, with the studio behind it; in the end its folder must be as it was."""
    folder = tmp_path_factory.mktemp("runs")
    run = make_run(folder / "copying")
    # A good request to start a run would start one, so none may go on; one to delete the run would
    # do so, unless somebody trains it.
    with run.locked():
        before = everything_in(folder)
        app = create_app(folder, host="testserver", max_trainings=0)
        yield schemathesis.openapi.from_asgi("/openapi.json", app)
        assert everything_in(folder) == before


def test_every_operation_is_tried(documented: Any) -> None:
    paths: dict[str, dict[str, object]] = documented.raw_schema["paths"]
    offered = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert offered == OPERATIONS.keys()


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [(*operation, mode) for operation, modes in OPERATIONS.items() for mode in modes],
)
def test_every_answer_is_a_documented_one(
    documented: Any, method: str, path: str, mode: GenerationMode
) -> None:
    requests = documented[path][method].as_strategy(generation_mode=mode)

    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    @given(case=requests, existing=st.sampled_from(["", "run:copying", "untrained:ngrams"]))
    def send(case: Any, existing: str) -> None:
        # By chance hardly any name exists, and then nothing else in the request is looked at.
        if existing and isinstance(case.body, dict) and "network" in case.body:
            case.body["network"] = existing
        if existing and "name" in case.path_parameters:
            case.path_parameters["name"] = "copying"
        answer = case.call_and_validate(checks=CHECKS)
        if answer.status_code >= 400:
            assert list(answer.json()) == ["error"]
            assert answer.json()["error"].endswith(".")

    send()
