"""axe finds nothing to complain of: every view of the site, light and dark, desk and phone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.studio.test_accessibility import DESK, complaints
from tests.studio.test_page import PATIENCE, PHONE, TASKS

TOUR = "play/pretrained:copy-ff?vectors=a4.3c.91.e6.58&tour=4"
TRAINED = ("play/pretrained:associative-recall-ff", "play/pretrained:priority-sort-ff")
VIEWS = [*(f"play/untrained:{task}" for task in TASKS), *TRAINED, TOUR]


@pytest.fixture(
    params=[("light", DESK), ("dark", DESK), ("light", PHONE), ("dark", PHONE)], ids=str
)
def page(request: pytest.FixtureRequest, browser: Browser, address: str):
    scheme, size = request.param
    # The policy of the page forbids the scripts of strangers, and axe is one.
    with browser.new_context(
        color_scheme=scheme, viewport=size, bypass_csp=True, base_url=address
    ) as context:
        yield context.new_page()


def test_no_view_breaks_a_rule(page: Page, tmp_path: Path) -> None:
    for view in VIEWS:
        page.goto(f"./#{view}")
        expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
        expect(page.locator(".summary h2")).to_contain_text(
            view.partition(":")[2].partition("?")[0]
        )
        assert complaints(page) == [], view
    page.locator(".symbol").first.focus()
    assert complaints(page) == [], "an equation"
    page.locator("#share summary").click()
    assert complaints(page) == [], "an open menu"
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "saved.html")
    page.goto("./#gallery")
    for card in page.locator(".moment").all():
        card.scroll_into_view_if_needed()
        expect(card.locator("canvas").first).to_be_visible()
    assert complaints(page) == [], "gallery"
    page.goto("./#train")
    expect(page.locator("#train-picture canvas").first).to_be_visible()
    assert complaints(page) == [], "training, before"
    page.locator("#train-start").click()
    expect(page.locator(".figures dd").nth(1)).not_to_have_text("-")
    assert complaints(page) == [], "training"
    page.locator("#train-stop").click()
    expect(page.locator("#train-play")).to_be_enabled()
    assert complaints(page) == [], "training, after"
    page.goto((tmp_path / "saved.html").as_uri())
    expect(page.locator(".transport")).to_be_visible()
    assert complaints(page) == [], "a saved file"


def test_nor_does_what_goes_wrong(page: Page) -> None:
    page.goto("./#play/pretrained:copy-ff")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    length = page.get_by_label("Length", exact=True)
    length.fill("160")
    expect(page.get_by_role("button", name="Use 256 locations")).to_be_visible()
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    assert complaints(page) == [], "a lesson"
    length.fill("99999")
    expect(page.locator("#sizes .bad")).to_contain_text("Give a whole number")
    assert complaints(page) == [], "a size that is none"
    page.goto("./#play/run:nobody")
    expect(page.locator("#play-message")).to_contain_text("no network run:nobody")
    file = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"hello"}
    page.locator("#file-input").set_input_files([file])  # type: ignore[list-item]
    expect(page.locator("#file-message")).to_contain_text("Give a file of weights")
    assert complaints(page) == [], "refusals"


def test_the_story_breaks_no_rule(page: Page) -> None:
    page.goto("./#story")
    for chapter in ("hero", "works", "break", "beside"):
        page.locator(f"#story-{chapter}").scroll_into_view_if_needed()
        expect(page.locator(f"#story-{chapter} canvas").first).to_be_visible()
    page.locator("#watch-start").click()
    expect(page.locator("#watch-stage")).to_contain_text("all 80 bits right", timeout=4 * PATIENCE)
    expect(page.locator("#beside-runs")).not_to_contain_text("Loading")
    assert complaints(page) == [], "story"
    page.goto("./?embed=tape")
    expect(page.locator("#hero-verdict")).to_contain_text("right")
    assert complaints(page) == [], "the tape alone"
