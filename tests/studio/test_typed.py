"""Runs of a file of examples in the studio: examples of the file, typed inputs, and symbols."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.browser import open_browser
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.studio.conftest import HOST, SMALL
from tests.studio.opened import opened

from ntm.evaluation.predicting import predict
from ntm.paper.examples import settings_for_examples
from ntm.runs import Run, build_model
from ntm.studio.documents import decoded
from ntm.studio.server import create_app
from ntm.tasks import examples_from
from ntm.tasks.examples import Layout

WORDS = [("ab", "ba"), ("abc", "cba"), ("c", "c"), ("cab", "bac")] * 5
FILES: dict[str, tuple[Layout, list[tuple[Any, Any]]]] = {
    "words": ("transduction", WORDS),
    "tags": ("tagging", [(["the", "cat"], ["DET", "NOUN"]), (["a", "b"], ["DET", "NOUN"])] * 4),
    "classes": ("classification", [("ab", "first class"), ("ba", "second")] * 4),
    "vectors": ("transduction", [([[0, 1], [1, 1]], [[1, 1]]), ([[1, 0]], [[0, 1]])] * 4),
}


def make_run(folder: Path, name: str) -> Run:
    """Return an untrained run of a file of examples beside the runs."""
    layout, pairs = FILES[name]
    file = folder / f"{name}.jsonl"
    lines = [json.dumps({"input": asked, "target": answer}) for asked, answer in pairs]
    file.write_text("\n".join(lines))
    settings = settings_for_examples(examples_from(file, layout)).with_text(SMALL)
    run = Run.create(folder / "runs" / name, settings)
    run.save_weights("best", build_model(settings), {"sequences": 40, "validation_bits": 1.5})
    return run


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    for name in FILES:
        make_run(tmp_path, name)
    with TestClient(create_app(tmp_path / "runs"), base_url=HOST) as client:
        yield client


def example(client: TestClient, name: str) -> dict[str, str]:
    answer = client.post("/api/example", json={"network": f"run:{name}", "seed": 3})
    assert answer.status_code == 200, answer.text
    return answer.json()["problem"]


def trace(client: TestClient, name: str, asked: str, target: str = "") -> Any:
    problem = {"input": asked, "target": target}
    return client.post("/api/trace", json={"network": f"run:{name}", "problem": problem})


@pytest.mark.parametrize("name", FILES)
def test_an_example_of_the_file_runs(client: TestClient, name: str) -> None:
    problem = example(client, name)
    layout, pairs = FILES[name]
    written = [(_typed(asked), _typed(answer)) for asked, answer in pairs]
    assert (problem["input"], problem["target"]) in written
    document = trace(client, name, asked=problem["input"], target=problem["target"]).json()
    assert document["cost_bits"] > 0
    kind = "bits" if name == "vectors" else "symbols"
    assert document["kinds"] == {"inputs": kind, "outputs": kind}
    assert layout != "classification" or len(document["answer_steps"]) == 1


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(
    ("name", "asked", "steps", "first"),
    [
        ("words", "abcab", 6, 6),
        ("tags", '["cat", "the"]', 2, 0),
        ("classes", "aab", 4, 3),
        ("vectors", "[[0, 0], [1, 1]]", 3, 3),
    ],
)
def test_a_typed_input_is_answered_without_a_target(
    client: TestClient, tmp_path: Path, name: str, asked: str, steps: int, first: int
) -> None:
    document = trace(client, name, asked).json()
    assert document["targets"] is None
    assert document["cost_bits"] is None
    assert document["answer_steps"] == list(range(first, document["steps"]))
    run = Run(tmp_path / "runs" / name)
    task, model = run.settings.task, run.load_model()[0]
    expected = predict(model, task, task.typed(asked))
    outputs = decoded(document["outputs"])
    answer = outputs[document["answer_steps"]]
    if name != "vectors":
        said = [document["labels"]["outputs"][place] for place in answer.argmax(axis=1)]
        assert said[: len(expected)] == expected
    assert document["steps"] >= steps


@pytest.mark.parametrize(
    ("name", "asked", "target", "sentence"),
    [
        ("words", "abx", "", "The network does not know the symbol 'x'; it knows a b c."),
        ("words", "ab", "bx", "The network does not know the symbol 'x'; it knows a b c."),
        ("tags", "the cat", "", "This input must be a JSON list, got 'the cat'."),
        ("tags", "[" * 9000, "", "This input must be a JSON list"),
        ("tags", '["the"]', '["DET", "NOUN"]', "Tagging needs one target for every step"),
        ("words", "ab" * 600, "", "This has 1,202 steps; the studio shows up to 1,000."),
        ("words", "ab", "c" * 1200, "This has 1,204 steps; the studio shows up to 1,000."),
        ("words", "a" * 20_000, "", "problem.input: String should have at most 10000 characters."),
    ],
)
def test_what_cannot_be_read_is_refused(
    client: TestClient, name: str, asked: str, target: str, sentence: str
) -> None:
    answer = trace(client, name, asked, target)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(sentence)


@pytest.mark.parametrize("loss", ["missing", "changed", "pipe", "large"])
def test_a_run_without_its_file_can_still_be_asked(
    client: TestClient, tmp_path: Path, loss: str
) -> None:
    file = tmp_path / "words.jsonl"
    file.unlink()
    if loss == "changed":
        file.write_text('{"input": "a", "target": "b"}')
    elif loss == "pipe":
        os.mkfifo(file)
    elif loss == "large":
        with file.open("wb") as made:
            made.truncate(10**12)  # a sparse file
    assert example(client, "words") == {"input": "a", "target": ""}
    assert trace(client, "words", "a").status_code == 200


def test_a_person_types_an_input_and_reads_symbols(tmp_path: Path) -> None:
    for name in ("words", "vectors"):
        make_run(tmp_path, name)
    with (
        open_browser() as browser,
        opened(browser, tmp_path, "#play/run:words", "runs") as page,
    ):
        page.set_default_timeout(60_000)
        asked, target = (page.get_by_label(name, exact=True) for name in ("Input", "Target"))
        expect(asked).not_to_have_value("", timeout=60_000)
        expect(page.locator(".verdict")).to_contain_text("symbols")
        expect(target).not_to_have_value("")
        asked.fill("cabba")
        expect(page.locator(".summary h2")).to_have_text("words, cabba")
        expect(target).to_have_value("")
        expect(page.locator(".verdict")).to_contain_text("answer")
        expect(page.locator(".verdict")).not_to_contain_text("right")
        target.fill("abbac")
        expect(page.locator(".verdict")).to_contain_text("of 6 symbols")
        lane = page.locator(".lane", has_text="the most probable symbol")
        assert (
            lane.locator("canvas")
            .get_attribute("aria-label")
            .startswith("Output, the most probable symbol: 1 rows by 12 steps.")
        )
        page.locator("details.answer summary").click()
        expect(page.locator("details.answer thead th")).to_have_text(
            ["step", "answer", "probability", "target", "next"]
        )
        expect(page).to_have_url(re.compile("input=cabba"))
        page.reload()
        expect(asked).to_have_value("cabba")
        asked.fill("cabby")
        expect(page.locator("#play-message")).to_contain_text("does not know the symbol 'y'")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".summary h2")).to_have_text("words, cabba")
        page.get_by_label("Network").select_option("run:vectors")
        expect(page.locator(".verdict")).to_contain_text("bits")
