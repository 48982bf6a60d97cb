"""axe finds nothing to complain of: every view, light and dark, on a desk and on a phone."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.studio.test_page import PHONE, TASKS, address, browser, folder

from ntm.paper import paper_settings
from ntm.runs import build_model
from ntm.studio import show, traced
from ntm.tasks import make_task

__all__ = ["address", "browser", "folder"]  # fixtures

DESK = {"width": 1280, "height": 900}
VIEWS = [*(f"play/untrained:{task}" for task in TASKS), "play/run:baseline", "training"]


@pytest.fixture(
    params=[("light", DESK), ("dark", DESK), ("light", PHONE), ("dark", PHONE)], ids=str
)
def page(request: pytest.FixtureRequest, browser: Browser, address: str):
    scheme, size = request.param
    # The policy of the page forbids the scripts of strangers, and axe is one.
    with browser.new_context(color_scheme=scheme, viewport=size, bypass_csp=True) as context:
        opened = context.new_page()
        opened.goto(address)
        yield opened


# Rules that axe does not apply unless asked.
ASKED = {"label-content-name-mismatch": {"enabled": True}, "target-size": {"enabled": True}}


def complaints(page: Page) -> list[str]:
    found = Axe().run(page, options={"rules": ASKED}).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:150]}"
        for rule in found
        for node in rule["nodes"][:3]
    ]


def test_no_view_breaks_a_rule(page: Page, address: str) -> None:
    for view in VIEWS:
        page.goto(f"{address.partition('?')[0]}#{view}")
        expect(
            page.locator(".run-table tbody tr, .answer").locator("visible=true").first
        ).to_be_visible()
        if view.startswith("play"):
            expect(page.locator(".summary h2")).to_contain_text(view.rpartition(":")[2])
            expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
            page.locator("details.answer summary").click()
        assert complaints(page) == [], view


def test_nor_does_a_refusal(page: Page, address: str) -> None:
    page.goto(f"{address.partition('?')[0]}#play/run:nobody")
    expect(page.locator("#play-message")).to_contain_text("no network run:nobody")
    assert complaints(page) == []
    page.get_by_role("link", name="Training").click()
    page.get_by_label("Name (optional)").fill("playing")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#training-trouble")).to_contain_text("playing")
    page.locator("#find-run").fill("nobody")
    expect(page.locator("#no-runs")).to_have_text("No matching run.")
    assert complaints(page) == []


def test_nor_does_what_opens_and_closes(page: Page) -> None:
    page.get_by_role("link", name="Guided tour").click()
    expect(page.locator(".tour .note")).to_have_text("1 of 9")
    assert complaints(page) == [], "the tour"
    page.keyboard.press("Escape")
    page.locator(".symbol").first.focus()
    expect(page.locator(".tip math")).to_be_visible()
    assert complaints(page) == [], "an equation"
    page.locator("#share summary").click()
    assert complaints(page) == [], "an open menu"
    page.get_by_role("link", name="Training").click()
    expect(page.locator("path[data-run]").first).to_be_attached()
    page.get_by_role("img", name="Learning curves").focus()
    page.keyboard.press("ArrowRight")
    assert complaints(page) == [], "a point of a curve"


def test_nor_does_a_saved_trace(page: Page, address: str, folder: Path) -> None:
    task, net = make_task("copy"), build_model(paper_settings("copy"))
    batch = task.at(length=4).sample(1, torch.Generator())
    recorded = traced(net, batch, task)
    recorded.save(folder / "whole.npz")
    replace(recorded, memory=None, targets=None, mask=None, about={}).save(folder / "bare.npz")
    for name in ("whole.npz", "bare.npz"):
        page.goto("about:blank")
        page.goto(f"{address.partition('?')[0]}#play/trace:{name}")
        expect(page.locator(".readout")).to_have_text("step 1 of 9")
        page.locator("details.answer summary").click()
        assert complaints(page) == [], name


def test_nor_does_a_shared_file(page: Page, tmp_path: Path) -> None:
    task = make_task("copy")
    net = build_model(paper_settings("copy"))
    batch = task.at(length=4).sample(1, torch.Generator())
    show(traced(net, batch, task)).save(tmp_path / "trace.html")
    page.goto((tmp_path / "trace.html").as_uri())
    expect(page.locator(".transport")).to_be_visible()
    assert complaints(page) == []
