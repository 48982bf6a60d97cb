"""Networks of a file of examples on the site: typed problems and symbols, beside Python's."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect
from safetensors import torch as safetensors
from tests.site.node import answer
from tests.site.test_machine import SMALL, require_alike
from tests.site.test_page import play
from tests.site.test_weights import encoded
from tests.studio.test_typed import FILES, make_run

from ntm.layer import NTM
from ntm.studio import trace_document
from ntm.studio.typed import posed
from ntm.tasks import Examples, examples_from

FACTS = {"task": "examples", "defaults": {}}


def task_of(folder: Path, name: str) -> Examples:
    layout, pairs = FILES[name]
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(json.dumps({"input": a, "target": b}) for a, b in pairs))
    return examples_from(file, layout)


def settings_of(task: Examples) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(task)))


@pytest.mark.parametrize(
    ("name", "asked", "target"),
    [
        ("words", "abcab", ""),
        ("words", "abcab", "bacba"),
        ("tags", '["cat", "the"]', ""),
        ("tags", '["cat", "the"]', '["NOUN", "DET"]'),
        ("classes", "aab", ""),
        ("classes", "aab", "second"),
        ("vectors", "[[0, 1], [1, 1]]", ""),
        ("vectors", "[[0, 1], [1, 1]]", "[[1, 0]]"),
    ],
)
def test_a_document_of_a_typed_problem_is_pythons(
    name: str, asked: str, target: str, tmp_path: Path
) -> None:
    task = task_of(tmp_path, name)
    torch.manual_seed(4)
    net = NTM(task.input_size, task.output_size, **SMALL)
    with torch.no_grad():
        net.cell.output.bias[-1] += 0.3  # so that the end comes soon, yet not at once
    problem = {"input": asked, "target": target}
    ready = posed(problem, task)
    expected = trace_document(ready.record(net, "a title"))
    about = {key: expected[key] for key in ("title", "hint", "model")}
    found = answer(
        ask="document", config=asdict(net.config), file=encoded(safetensors.save(net.state_dict())),
        problem=problem, about=about, facts=FACTS, settings=settings_of(task),
    )  # fmt: skip
    require_alike(found, expected, "document")


@pytest.mark.parametrize(
    ("name", "asked", "target", "message"),
    [
        ("words", "abx", "", "The network does not know the symbol 'x'; it knows a b c."),
        ("tags", "the", "", "This must be a JSON list, got the."),
        ("tags", '["the"]', '["DET", "DET"]', "Tagging needs one target for every step"),
        ("tags", '[{"a": 1}]', "", '{"a":1} is neither a symbol nor a vector'),
        ("vectors", "[[0]]", "", "The network knows vectors of 2 bits; got [0]."),
    ],
)
def test_what_cannot_be_read_is_refused(
    name: str, asked: str, target: str, message: str, tmp_path: Path
) -> None:
    problem = {"input": asked, "target": target}
    settings = settings_of(task_of(tmp_path, name))
    found = answer(ask="encoded", facts=FACTS, settings=settings, problem=problem)
    assert found["error"].startswith(message)


@pytest.mark.parametrize(
    "change", [{"layout": "sideways"}, {"input_symbols": "ab"}, {"target_bits": -1}]
)
def test_odd_settings_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    settings = settings_of(task_of(tmp_path, "words")) | change
    problem = {"input": "a", "target": ""}
    found = answer(ask="encoded", facts=FACTS, settings=settings, problem=problem)
    assert found == {"error": "Its config.json does not describe a file of examples."}


def test_the_weights_of_a_run_open_in_the_page(page: Page, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    run = make_run(tmp_path, "words")
    play(page)
    files = [run.path / "best.safetensors", run.path / "config.json"]
    page.locator("#file-input").set_input_files(files)
    expect(page.locator(".summary h2")).to_have_text("best, a")
    page.get_by_label("Input", exact=True).fill("cab")
    expect(page.locator(".summary h2")).to_have_text("best, cab")
    expect(page.locator(".verdict")).to_contain_text("answer")
    page.get_by_label("Target", exact=True).fill("bac")
    expect(page.locator(".verdict")).to_contain_text("of 4 symbols")
    page.get_by_label("Input", exact=True).fill("cax")
    expect(page.locator("#play-message")).to_contain_text("does not know the symbol 'x'")
