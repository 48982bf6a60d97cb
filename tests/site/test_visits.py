"""Mishaps of a visit: odd drawings, odd files, slow connections, a page that is busy."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.site.test_page import play
from tests.studio.test_page import PATIENCE

from ntm import pretrained


def lesson(page: Page, vectors: list[list[int]]) -> str:
    """The page's explanation of three wrong bits of copy-ff."""
    told = page.evaluate(
        """async (vectors) => {
          const { Backend } = await import("./site/static/backend.js");
          const { lessonOf } = await import("./studio/static/lessons.js");
          const networks = (await Backend.open()).networks();
          const network = networks.find(({ title }) => title === "copy-ff");
          const failure = { problem: { vectors }, network, steps: 9, memory: 128, wrongBits: 3 };
          return lessonOf(failure)?.text ?? "";
        }""",
        vectors,
    )
    assert isinstance(told, str)
    return told


@pytest.mark.parametrize("length", [8, 40])
def test_blank_vectors_are_not_blamed_on_the_length(page: Page, length: int) -> None:
    page.goto("./#play")
    blank, full = [0] * 8, [1] * 8
    vectors = [full, *[blank] * 3, *[full] * (length - 4)]
    told = lesson(page, vectors)
    assert told.startswith("The drawing has 3 blank vectors in a row")
    assert "generalise" not in told
    without = lesson(page, [full] * length)
    assert ("generalise" in without) == (length > 20)


@pytest.mark.parametrize("network", ["priority-sort-ff", "priority-sort-lstm"])
def test_the_head_that_is_shown_first_moves(page: Page, network: str) -> None:
    page.goto("./#play")
    roles = page.evaluate(
        """async (network) => {
          const { Backend } = await import("./site/static/backend.js");
          const { readTrace } = await import("./studio/static/trace.js");
          const { KINDS, rankedHeads, roleOf } = await import("./studio/static/heads.js");
          const backend = await Backend.open();
          const found = [];
          for (let seed = 1; seed <= 12; seed++) {
            const problem = backend.example(network, { length: 20 }, seed);
            const trace = readTrace(await backend.trace({ network, problem }));
            found.push(...KINDS.map((kind) => roleOf(rankedHeads(trace, kind)[0], trace)));
          }
          return found;
        }""",
        f"pretrained:{network}",
    )
    assert len(roles) == 24
    assert all(role.startswith("visits") for role in roles), roles


def test_nothing_grey_is_announced_at_the_first_step(page: Page) -> None:
    play(page, vectors="a4.3c.91", step=1, head=0)
    gate = page.locator(".link", has_text="2. Gate")
    expect(gate).not_to_contain_text("grey")
    page.get_by_role("button", name="One step forward").click()
    expect(gate).to_contain_text("last location")


def test_an_untrained_network_is_not_said_to_do_anything(page: Page) -> None:
    play(page)
    expect(page.locator(".look-for")).to_contain_text("the write head stores each vector")
    play(page, "untrained:copy")
    expect(page.locator(".look-for")).to_have_count(0)


def test_no_network_is_announced_to_jump_that_may_not(page: Page) -> None:
    play(page, "pretrained:repeat-copy-ff")
    expect(page.locator(".look-for")).to_contain_text("What to look for: some networks")


def packaged(name: str, change: Any) -> bytes:
    """A packaged network's file with another header."""
    data = (pretrained.FOLDER / f"{name}.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def settings_with(**changes: Any) -> Any:
    def change(header: dict[str, Any]) -> None:
        facts = json.loads(header["__metadata__"]["ntm"])
        facts["settings"]["model"] |= changes
        header["__metadata__"] = {"ntm": json.dumps(facts)}

    return change


def open_weights(page: Page, content: bytes) -> None:
    file = {"name": "mine.safetensors", "mimeType": "application/octet-stream", "buffer": content}
    page.locator("#file-input").set_input_files([file])  # type: ignore[list-item]


def test_weights_from_the_footer_open_at_the_top(page: Page) -> None:
    play(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    no_metadata = packaged("copy-lstm", lambda header: header.update(__metadata__=None))
    open_weights(page, no_metadata)
    expect(page.locator(".summary h2")).to_contain_text("mine, length")
    assert page.evaluate("scrollY") == 0
    expect(page.locator("#file-message")).to_be_empty()


@pytest.mark.parametrize("shifts", [None, "abc", [0.5, 1, 2], [-300, 0, 300], [1, 1, 1]])
def test_odd_shifts_are_refused_in_a_sentence_and_not_listed(page: Page, shifts: Any) -> None:
    play(page)
    open_weights(page, packaged("copy-ff", settings_with(shifts=shifts)))
    message = page.locator("#file-message")
    if shifts in ([-300, 0, 300], [1, 1, 1]):  # some engines can run these
        page.wait_for_function(
            """() => location.hash.includes("mine") ||
              document.querySelector("#file-message").textContent"""
        )
    else:
        expect(message).to_contain_text("shifts must be whole numbers")
    if message.inner_text():
        assert "undefined" not in message.inner_text()
        expect(page.locator("#network option", has_text="mine")).to_have_count(0)


def test_a_page_that_was_busy_skips_no_step(page: Page) -> None:
    play(page, vectors="a4.3c.91.e6.58", step=1)
    page.evaluate(
        """() => {
          window.seen = [];
          const readout = document.querySelector(".readout");
          const note = () => seen.push(Number(readout.textContent.match(/\\d+/)[0]));
          new MutationObserver(note).observe(readout, { childList: true });
        }"""
    )
    page.get_by_role("button", name="Play", exact=True).click()
    page.evaluate("() => { const end = performance.now() + 900; while (performance.now() < end); }")
    expect(page.locator(".readout")).to_have_text("step 11 of 11")
    seen = page.evaluate("seen")
    assert set(range(2, 12)) <= set(seen)


def test_a_slow_connection_is_told(browser: Browser, address: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with browser.new_context(base_url=address, service_workers="block") as context:
        context.route("**/copy-ff.safetensors", hold)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto("./#play/pretrained:copy-ff")
        expect(page.locator("#play-waiting")).to_be_visible()
        expect(page.locator("#play-waiting")).to_have_text("Waiting for the network ...")
        context.unroute("**/copy-ff.safetensors")  # on a busy machine, the worker asks only now
        for route in held:
            route.continue_()
        expect(page.locator(".summary h2")).to_contain_text("copy-ff")
        expect(page.locator("#play-waiting")).to_be_hidden()
