"""What a person draws, types and opens stays true: nothing is lost, overwritten or blank."""

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Page, Route, expect
from tests.studio.test_page import (
    PATIENCE,
    address,
    browser,
    cell,
    complaints,
    drawn,
    eventually,
    folder,
    lengthen,
    page,
    play,
    tab,
)

from ntm.runs import Run

__all__ = ["address", "browser", "complaints", "folder", "page", "tab"]  # fixtures


def typed(page: Page, text: str) -> None:
    """Type over the length, digit by digit, and wait for the network after each."""
    length = page.get_by_label("Length", exact=True)
    length.click()
    length.press("Control+a")
    for digit in text:
        length.press(digit)
        page.wait_for_timeout(200)


def test_typing_a_length_keeps_the_drawing(page: Page) -> None:
    play(page)
    before = lengthen(page, 10)
    typed(page, "20")
    expect(page.locator(".summary h2")).to_contain_text("length 20")
    assert drawn(page)[:10] == before
    expect(page.get_by_label("Length", exact=True)).to_have_value("20")
    lengthen(page, 10)
    assert drawn(page) == before


def test_a_length_that_cannot_be_is_said_and_changes_nothing(page: Page) -> None:
    play(page)
    before = lengthen(page, 4)
    typed(page, "99999")
    expect(page.locator(".size .bad")).to_contain_text("from 1 to")
    page.get_by_label("Length", exact=True).blur()
    # What could be while it was typed was shown: 999 steps are too many, 99 vectors are not.
    assert drawn(page)[:4] == before
    assert page.get_by_label("Length", exact=True).input_value() == str(len(drawn(page)))


def test_bits_are_lengthened_not_drawn_anew(page: Page) -> None:
    play(page, "untrained:ngrams")
    before = lengthen(page, 30)
    typed(page, "40")
    assert drawn(page)[:30] == before
    assert len(drawn(page)) == 40


def test_undo_and_redo(page: Page) -> None:
    play(page)
    first = lengthen(page, 4)
    page.get_by_role("button", name="Clear").click()
    assert drawn(page) == [[0, 0, 0]] * 4
    page.get_by_role("button", name="Undo").click()
    assert drawn(page) == first
    page.get_by_role("button", name="Redo").click()
    assert drawn(page) == [[0, 0, 0]] * 4
    cell(page, 2, 2).click()
    for key, bit in (("Control+z", False), ("Control+Shift+z", True), ("Control+z", False)):
        page.keyboard.press(key)
        expect(cell(page, 2, 2)).to_be_checked(checked=bit)
        expect(cell(page, 2, 2)).to_be_focused()
    page.keyboard.press("Control+z")
    assert drawn(page) == first
    page.keyboard.press("Control+y")
    assert drawn(page) == [[0, 0, 0]] * 4


def test_undo_takes_back_memory_locations_too(page: Page) -> None:
    play(page)
    typed(page, "4")
    expect(page.locator(".summary h2")).to_contain_text("length 4")
    memory = page.get_by_label("Memory locations", exact=True)
    expect(memory).to_have_value("11")
    memory.fill("20")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    page.get_by_role("button", name="Undo").click()
    expect(memory).to_have_value("11")
    assert len(drawn(page)) == 4
    page.get_by_role("button", name="Redo").click()
    expect(memory).to_have_value("20")
    page.wait_for_url(re.compile("memory=20"))


def test_the_address_tells_what_is_shown(page: Page) -> None:
    play(page)
    pattern = lengthen(page, 6)
    page.get_by_label("Memory locations", exact=True).fill("15")
    page.get_by_label("read", exact=True).check()
    page.get_by_label("Step", exact=True).fill("7")
    page.wait_for_url(re.compile(r"vectors=.*memory=15.*step=8&head=1$"))
    page.reload()
    expect(page.locator(".readout")).to_have_text("step 8 of 13")
    expect(page.get_by_label("read", exact=True)).to_be_checked()
    expect(page.get_by_label("Memory locations", exact=True)).to_have_value("15")
    assert drawn(page) == pattern


def test_back_leads_to_what_was_shown_before(page: Page) -> None:
    play(page)
    pattern = lengthen(page, 5)
    page.get_by_label("Network").select_option("untrained:ngrams")  # before the address is written
    expect(page.locator(".summary h2")).to_contain_text("ngrams")
    page.get_by_role("link", name="Training").click()
    expect(page.locator(".run-table")).to_be_visible()
    page.go_back()
    expect(page.locator(".summary h2")).to_contain_text("ngrams")
    expect(page.get_by_label("Network")).to_have_value("untrained:ngrams")
    page.go_back()
    expect(page.locator(".summary h2")).to_contain_text("playing, length 5")
    assert drawn(page) == pattern
    page.go_forward()
    expect(page.locator(".summary h2")).to_contain_text("ngrams")


@pytest.mark.parametrize(
    "hash_",
    ["#%", "#constructor", "#__proto__/x", "#play/%", "#play/run:none?vectors=zz&step=-1", "#?"],
)
def test_no_address_leaves_the_page_blank(page: Page, hash_: str) -> None:
    page.goto(f"/{hash_}")
    expect(page.locator(".summary h2")).to_contain_text("copy")  # it opens on copy
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")


def hold_first_example(page: Page) -> list[Route]:
    """The next request for an example waits here until a test lets it go."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if waiting:
            route.continue_()
        else:
            waiting.append(route)

    page.route("**/api/example", hold)
    return waiting


def test_a_late_example_does_not_take_the_place_of_a_newer_drawing(page: Page) -> None:
    play(page)
    lengthen(page, 4)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    waiting = hold_first_example(page)
    page.get_by_role("button", name="Random example").click()
    eventually(lambda: page.wait_for_timeout(20) or waiting)
    cell(page, 1, 1).click()
    with page.expect_response("**/api/example"):
        waiting[0].continue_()
    page.wait_for_timeout(300)
    assert drawn(page) == [[1, 0, 0], *[[0, 0, 0]] * 3]
    page.unroute_all(behavior="ignoreErrors")


def test_a_late_network_does_not_take_the_place_of_a_newer_one(page: Page) -> None:
    play(page)
    waiting = hold_first_example(page)
    page.get_by_label("Network").select_option("untrained:priority-sort")
    eventually(lambda: page.wait_for_timeout(20) or waiting)
    page.get_by_label("Network").select_option("untrained:ngrams")
    expect(page.locator(".summary h2")).to_contain_text("ngrams")
    waiting[0].continue_()
    page.wait_for_timeout(500)
    expect(page.locator(".summary h2")).to_contain_text("ngrams")
    expect(page.get_by_label("Network")).to_have_value("untrained:ngrams")
    expect(page.locator(".priority")).to_have_count(0)
    page.unroute_all(behavior="ignoreErrors")


def test_a_late_refusal_does_not_stand_above_a_newer_answer(
    page: Page, complaints: list[str]
) -> None:
    play(page)
    lengthen(page, 4)
    waiting = hold_first_example(page)
    page.get_by_role("button", name="Random example").click()
    eventually(lambda: page.wait_for_timeout(20) or waiting)
    lengthen(page, 5)
    expect(page.locator(".summary h2")).to_contain_text("length 5")
    waiting[0].fulfill(status=422, json={"error": "Too late."})
    page.wait_for_timeout(300)
    expect(page.locator("#play-message")).to_have_text("")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    page.unroute_all(behavior="ignoreErrors")
    complaints.clear()  # the browser's own note of the status


def test_an_error_is_in_sight_and_the_old_picture_is_dimmed(
    page: Page,
    complaints: list[str],
) -> None:
    play(page)
    lengthen(page, 4)
    refusal = {"status": 422, "json": {"error": "This is why."}}
    page.route("**/api/trace", lambda route: route.fulfill(**refusal))
    page.mouse.wheel(0, 3000)
    page.get_by_role("button", name="Run").dispatch_event("click")
    message = page.locator("#play-message")
    expect(message).to_have_text("This is why.")
    expect(message).to_be_in_viewport()
    expect(message).to_have_role("alert")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "true")
    dim = "canvas => Number(getComputedStyle(canvas).opacity)"
    eventually(lambda: page.locator(".strip canvas").evaluate(dim) < 0.5)
    page.unroute("**/api/trace")
    page.get_by_role("button", name="Run").click()
    expect(message).to_have_text("")
    eventually(lambda: page.locator(".strip canvas").evaluate(dim) == 1)
    complaints.clear()  # the browser's own note of the status


def test_a_busy_studio_is_asked_again(page: Page, complaints: list[str]) -> None:
    play(page)
    lengthen(page, 4)
    answers = iter([503, 503])
    busy = {"json": {"error": "Busy."}, "headers": {"Retry-After": "0"}}

    def answer(route: Route) -> None:
        status = next(answers, None)
        if status is None:
            route.continue_()
        else:
            route.fulfill(status=status, **busy)

    page.route("**/api/trace", answer)
    lengthen(page, 5)
    expect(page.locator(".summary h2")).to_contain_text("length 5")
    assert next(answers, None) is None
    expect(page.locator("#play-message")).to_have_text("")
    answers = iter([503] * 5)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#play-message")).to_have_text("Busy.")
    page.unroute("**/api/trace")
    complaints.clear()  # the browser's own note of the status


def test_editing_while_it_plays_goes_on_playing(page: Page) -> None:
    play(page)
    lengthen(page, 40)
    expect(page.locator(".summary h2")).to_contain_text("length 40")
    page.get_by_label("Speed").select_option("2")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".readout")).not_to_have_text("step 1 of 81")
    with page.expect_response("**/api/trace"):
        cell(page, 1, 1).click()
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_label("Speed")).to_have_value("2")
    step = page.locator(".readout").inner_text()
    assert step != "step 1 of 81"
    expect(page.locator(".readout")).not_to_have_text(step)


def test_the_result_is_announced(page: Page) -> None:
    play(page)
    lengthen(page, 4)
    expect(page.get_by_role("status").first).to_contain_text("playing, length 4")
    expect(page.get_by_role("status").first).to_contain_text("bits")


def test_a_saved_trace_is_opened_without_its_network(
    page: Page,
    folder: Path,
) -> None:
    play(page)
    lengthen(page, 4)
    net = Run(folder / "playing").load_model("best")[0]
    net.trace(torch.ones(5, 1, 4), memory=True).save(folder / "plain.npz")
    net.trace(torch.ones(5, 1, 4)).save(folder / "without-memory.npz")
    page.goto("/#play/trace:plain.npz")
    expect(page.locator(".readout")).to_have_text("step 1 of 5")
    expect(page.locator(".tape")).to_be_visible()
    expect(page.locator(".sketch")).to_be_hidden()
    page.get_by_label("Network").select_option("trace:without-memory.npz")
    expect(page.locator(".tape")).to_have_count(0)
    expect(page.locator(".chain")).to_be_visible()
    expect(page.get_by_label("Write weighting")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Network")).to_have_value("trace:without-memory.npz")
    page.get_by_label("Network").select_option("run:playing")
    expect(page.locator(".sketch")).to_be_visible()


def test_who_has_no_token_sees_a_sentence(browser: Browser, address: str) -> None:
    with browser.new_context() as stranger:
        seen = stranger.new_page()
        answer = seen.goto(address.partition("?")[0], timeout=PATIENCE)
        assert answer is not None
        assert answer.status == 403
        expect(seen.locator("p")).to_contain_text("address that the studio printed")
        asked = seen.goto(f"{address.partition('?')[0]}api/runs", timeout=PATIENCE)
        assert asked is not None
        assert "address that the studio printed" in asked.json()["error"]
