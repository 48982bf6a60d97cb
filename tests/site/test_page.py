"""The site in a real browser, from a plain web server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from safetensors import torch as safetensors
from tests.studio.test_page import answer_table, drawn, listen

from ntm import pretrained
from ntm.layer import NTM
from ntm.paper import paper_settings
from ntm.runs import Run, build_model
from ntm.studio.problems import encode
from ntm.tasks import make_task

NAMES = pretrained.names()
# The pixels around an element in which an outline is seen: what scrolls cuts it off.
ROOM = """element => {
  const around = element.parentElement.closest(".scrolls")?.getBoundingClientRect();
  const { left, top, bottom } = element.getBoundingClientRect();
  return around ? Math.min(left - around.left, top - around.top, around.bottom - bottom) : 8;
}"""

# Between the transport, which stays at the top, and the card of the tour. Of what is too tall for
# that, both weightings.
IN_SIGHT = """element => {
  const top = document.querySelector(".transport").getBoundingClientRect();
  const { top: bottom } = document.querySelector(".tour").getBoundingClientRect();
  const lanes = [...element.querySelectorAll("[data-head]")];
  const parts = (lanes.length ? lanes : [element]).map((part) => part.getBoundingClientRect());
  const first = Math.min(...parts.map((part) => part.top));
  const last = Math.max(...parts.map((part) => part.bottom));
  return (top.top > 0 || first >= top.bottom) && last <= bottom;
}"""

# What has the focus, where the transport, which stays at the top, lies above its upper edge.
COVERED = """() => {
  const transport = document.querySelector(".transport");
  const focused = document.activeElement;
  const { bottom } = transport.getBoundingClientRect();
  const { top, bottom: end } = focused.getBoundingClientRect();
  const isStuck = transport.getBoundingClientRect().top <= 0;
  const isBelow = isStuck && !transport.contains(focused) && top < bottom && end > 0;
  return isBelow ? focused.outerHTML.slice(0, 100) : null;
}"""


def play(page: Page, network: str = "pretrained:copy-ff", **values: Any) -> None:
    query = "&".join(f"{name}={value}" for name, value in values.items())
    page.goto(f"./#play/{network}?{query}")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".summary h2")).to_contain_text(network.partition(":")[2])


def test_it_opens_on_a_copy_and_asks_nobody_else(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("./")
    expect(page.locator("#hero-verdict")).to_have_text("20 vectors: all 160 bits right")
    assert all(url.startswith((address, "blob:")) for url in asked)
    before = (
        asked[: asked.index(f"{address}offline.js")] if f"{address}offline.js" in asked else asked
    )
    weights = [url for url in before if url.endswith(".safetensors")]
    assert weights == [f"{address}data/copy-ff.safetensors"]


def test_the_answer_is_that_of_the_layer(page: Page, site: Path) -> None:
    play(page)
    page.get_by_label("Length", exact=True).fill("7")
    expect(page.locator(".readout")).to_contain_text("of 15")
    vectors = drawn(page)
    page.locator("details.answer summary").click()
    expect(page.locator("details.answer table")).to_be_visible()  # the event comes later
    found = torch.tensor(answer_table(page))
    net = pretrained.load("copy-ff")
    half = safetensors.load_file(site / "data/copy-ff.safetensors")
    net.load_state_dict({name: tensor.float() for name, tensor in half.items()})
    batch = encode({"vectors": vectors}, make_task("copy"))
    expected = torch.sigmoid(net(batch.inputs)[0][8:, 0])
    assert torch.allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_every_packaged_network_is_there(page: Page, name: str) -> None:
    play(page, f"pretrained:{name}")
    expect(page.locator(".verdict")).to_contain_text(re.compile("bits (right|wrong)|best possible"))
    if name.startswith(("copy", "repeat", "assoc")):
        expect(page.locator(".verdict")).to_contain_text("bits right")


@pytest.mark.parametrize("name", [*NAMES, "copy-ff?length=120", "copy-ff?length=160"])
def test_input_memory_and_output_are_side_by_side_above_the_fold(page: Page, name: str) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})  # a laptop's
    network, _, length = name.partition("?length=")
    play(page, f"pretrained:{network}")
    if length:
        page.get_by_label("Length", exact=True).fill(length)
        expect(page.locator(".readout")).to_contain_text(f"of {2 * int(length) + 1}")
        expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    boxes = [page.locator(part).bounding_box() for part in (".vectors .input", ".strip", ".output")]
    assert all(box is not None for box in boxes)
    left, memory, right = (box for box in boxes if box is not None)
    assert left["x"] + left["width"] <= memory["x"]
    assert memory["x"] + memory["width"] <= right["x"]
    for box in (left, memory, right):
        assert box["y"] + box["height"] <= 768


def test_a_runs_weights_and_config_are_opened(page: Page, tmp_path: Path) -> None:
    settings = paper_settings("copy").with_(
        task={"bits": 3, "end_marker": True},
        model={"controller_size": 7, "memory_locations": 16, "shifts": (-2, -1, 0, 1, 2)},
    )
    run = Run.create(tmp_path / "run", settings)
    run.save_weights("best", build_model(settings), {"sequences": 40, "validation_bits": 1.5})
    play(page)
    files = [run.path / "best.safetensors", run.path / "config.json"]
    page.locator("#file-input").set_input_files(files)
    expect(page.locator(".summary h2")).to_contain_text("best, length")
    expect(page.locator("#network-note")).to_contain_text("16 locations")
    assert len(drawn(page)[0]) == 3
    page.locator("#file-input").set_input_files(files[:1])
    expect(page.locator("#file-message")).to_contain_text(
        "No task has 4 inputs and 4 outputs by default; open the config.json"
    )


LSTM = NTM(9, 8, controller="lstm").state_dict()
BAD_FILES = {
    "part.safetensors": (
        safetensors.save({name: t for name, t in LSTM.items() if name != "start.hidden"}),
        "Its cell.controller.layers.0.weight has the shape (400, 129); its config asks for (100,",
    ),
    "notes.txt": (b"hello", "Give a file of weights, whose name ends in .safetensors."),
    "torn.safetensors": (b"\x80\x02}q\x00.", "torn.safetensors cannot be opened. It is not a"),
    "other.safetensors": (
        safetensors.save({"weight": torch.zeros(2, 2)}),
        "It contains no Neural Turing Machine: it has no start.memory.",
    ),
    "scalar.safetensors": (
        safetensors.save(NTM(9, 8, shift_mode="scalar").state_dict()),
        "Its weights do not determine the shifts; open its config.json together with it.",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_in_words(page: Page, name: str) -> None:
    content, sentence = BAD_FILES[name]
    play(page)
    page.locator("#open-file").scroll_into_view_if_needed()
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("#file-input").set_input_files([file])  # type: ignore[list-item]
    expect(page.locator("#file-message")).to_contain_text(sentence)
    expect(page.locator("#file-message")).to_be_in_viewport()
    expect(page.locator(".verdict")).to_contain_text("bits right")  # what was shown still is


def test_a_file_can_be_dropped(page: Page) -> None:
    play(page)
    content = list((pretrained.FOLDER / "repeat-copy-ff.safetensors").read_bytes())
    page.evaluate(
        """content => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(content)], "dropped.safetensors"));
          document.body.dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        content,
    )
    expect(page.locator(".summary h2")).to_contain_text("dropped, length 5, repeats 5")
    expect(page.locator("#network-note")).to_contain_text("trained on")


def test_the_gallery_has_seven_moments_that_open(page: Page) -> None:
    page.goto("./#gallery")
    links = page.locator(".moment a")
    expect(links).to_have_count(7)
    addresses = [link.get_attribute("href") for link in links.all()]
    for card in page.locator(".moment").all():
        card.scroll_into_view_if_needed()
        expect(card.locator("canvas").first).to_be_visible()
        assert len(re.findall(r"[.:]( |$)", card.locator("p").inner_text())) >= 3
    for address in addresses:
        page.goto(f"./{address}")
        wanted = re.search(r"pretrained:([\w-]+).*step=(\d+)", address or "")
        assert wanted is not None
        expect(page.locator(".summary h2")).to_contain_text(wanted[1])
        expect(page.locator(".readout")).to_contain_text(f"step {wanted[2]} of")
        right = "best possible" if "ngrams" in wanted[1] else "bits right"
        expect(page.locator(".verdict")).to_contain_text(right)


def test_a_link_opens_that_moment(page: Page) -> None:
    play(page, "pretrained:associative-recall-ff", step=5, head=6)
    shown = page.locator(".readout").inner_text(), drawn(page)
    page.locator("#share summary").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#shared")).to_have_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".summary h2")).to_contain_text("associative-recall-ff")
    assert (page.locator(".readout").inner_text(), drawn(page)) == shown
    expect(page.locator("input[name^=head]:checked")).to_have_value("6")


def test_a_link_whose_drawing_cannot_be_shown_says_so(page: Page) -> None:
    play(page, vectors="a4.zz", step=2)
    expect(page.locator("#play-message")).to_contain_text("drawing in this address does not fit")
    play(page, vectors="a4.3c", step=2)
    expect(page.locator("#play-message")).to_be_empty()


def test_a_link_that_cannot_be_copied_is_shown_and_the_picture_stays(page: Page) -> None:
    """A page that comes over plain HTTP from another machine has no clipboard."""
    play(page, vectors="a4.3c.91", step=5)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator("#share summary").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#shared")).to_contain_text("does not allow copying; the link is http")
    expect(page.locator("#shared")).to_contain_text("vectors=a4.3c.91&step=5")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#play-message")).to_be_empty()


def test_what_share_says_goes_when_the_address_changes(page: Page) -> None:
    play(page, vectors="a4.3c.91", step=1)
    changes = (
        "document.querySelector('.transport [aria-label=\"One step forward\"]').click()",
        "location.hash = location.hash.replace(/step=[0-9]+/, 'step=4')",
    )
    page.locator("#share summary").click()
    for change in changes:
        page.get_by_role("button", name="Copy the link").click()
        expect(page.locator("#shared")).to_have_text("Link copied.")
        page.evaluate(change)
        expect(page.locator("#shared")).to_be_empty()
        expect(page.locator("#share")).to_have_attribute("open", "")


def test_the_saved_file_opens_offline_where_you_were(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    play(page, vectors="a4.3c.91", step=5, head=1)
    page.locator("#share summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    file = tmp_path / "shared.html"
    download.value.save_as(file)
    with browser.new_context(offline=True) as context:
        alone = context.new_page()
        complaints: list[str] = []
        listen(alone, complaints)
        alone.goto(file.as_uri())
        expect(alone.locator("h2")).to_have_text("copy-ff, length 3")
        expect(alone.locator(".readout")).to_have_text("step 5 of 7")
        expect(alone.get_by_label("read", exact=True)).to_be_checked()
        assert not complaints


def test_it_works_offline_after_the_first_visit(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        first = context.new_page()
        first.goto(address)
        first.evaluate("navigator.serviceWorker.ready.then(() => null)")
        context.set_offline(True)
        # Another tab: in the first, a reload can overtake an address that is still on its way.
        page = context.new_page()
        page.goto(f"{address}#play/pretrained:ngrams-ff")
        expect(page.locator(".summary h2")).to_contain_text("ngrams-ff")
        expect(page.locator(".verdict")).to_contain_text("best possible")


def test_a_failure_teaches(page: Page) -> None:
    play(page)
    page.get_by_label("Length", exact=True).fill("160")
    lesson = page.locator("#play-lesson")
    expect(lesson).to_contain_text("160 vectors do not fit 128 locations: use 256.")
    page.get_by_role("button", name="Use 256 locations").click()
    expect(lesson).to_be_empty()
    expect(page.get_by_label("Memory locations", exact=True)).to_have_value("256")
    expect(page.locator(".verdict")).to_contain_text("All 1280 bits right")
    play(page, "untrained:copy")
    expect(lesson).to_contain_text("This network is untrained")
    play(page, "pretrained:associative-recall-lstm")
    page.get_by_label("Items", exact=True).fill("40")
    expect(lesson).to_contain_text("It was trained up to 6 items;")


def test_no_more_memory_is_offered_than_is_shown(page: Page) -> None:
    play(page, "pretrained:priority-sort-lstm")
    length, lesson = page.get_by_label("Length", exact=True), page.locator("#play-lesson")
    length.fill("200")
    page.get_by_role("button", name="Use 256 locations").click()
    expect(page.locator("#play-message")).to_be_empty()
    expect(page.locator(".verdict")).to_contain_text("bits")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    length.fill("300")  # with 256 locations, too many numbers
    expect(page.locator("#play-message")).to_contain_text("too many numbers to show")
    expect(lesson).to_be_empty()
    page.get_by_label("Memory locations", exact=True).fill("128")
    expect(lesson).to_have_text("300 vectors do not fit 128 locations: use fewer vectors.")


def test_what_has_the_focus_is_seen(page: Page) -> None:
    play(page)
    target = page.get_by_role("img", name="target vector")
    page.keyboard.press("Tab")  # from here on, the focus is the keyboard's
    target.focus()
    assert target.evaluate("canvas => getComputedStyle(canvas).outlineWidth") == "2px"
    page.locator("details.answer summary").focus()
    for _ in range(25):
        page.keyboard.press("Shift+Tab")
        covered = page.evaluate(COVERED)
        assert covered is None, covered


def test_the_tour_has_nine_steps_and_ends(page: Page) -> None:
    play(page)
    page.get_by_role("link", name="Guided tour").click()
    card = page.locator(".tour")
    titles = set()
    for number in range(1, 10):
        expect(card.locator(".note")).to_have_text(f"{number} of 9")
        titles.add(card.locator("h2").inner_text())
        pointed = page.locator("#play").get_attribute("data-pointed")
        assert pointed is not None
        part = page.locator(f"#play .{pointed}, #play #{pointed}").first
        expect(part).to_be_in_viewport()
        assert part.evaluate(ROOM) >= 8, pointed
        assert part.evaluate(IN_SIGHT), pointed
        assert page.evaluate("document.activeElement.closest('.tour') !== null")
        card.locator("button.primary").click()
    assert len(titles) == 9
    expect(card).to_have_count(0)
    page.go_back()
    expect(card.locator(".note")).to_have_text("8 of 9")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_the_tours_card_leaves_the_chain_in_sight_in_a_low_window(page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})  # 1280 x 800 at twice the size
    play(page, vectors="a4.3c.91.e6.58", step=3, head=0, tour=4)
    expect(page.locator(".tour")).to_be_visible()
    for link in page.locator(".link").all():
        expect(link).to_be_in_viewport(ratio=0.9)
        assert link.evaluate(
            """link => {
              const { top } = document.querySelector(".tour").getBoundingClientRect();
              return link.getBoundingClientRect().bottom <= top;
            }"""
        )


def test_symbols_show_their_equations(page: Page) -> None:
    play(page)
    symbols = page.locator(".symbol")
    expect(symbols).to_have_count(7)
    for symbol in symbols.all():
        assert "quation" in (symbol.get_attribute("aria-description") or "")
        symbol.focus()
        expect(page.locator(".tip math")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".tip")).to_be_hidden()
    for sign, number in {"\u03b2": 5, "g": 7, "s": 8, "\u03b3": 9}.items():
        page.locator(".parameter i", has_text=sign).hover()
        expect(page.locator(".tip")).to_contain_text(f"Equation {number}:")
        page.mouse.move(0, 0)
        expect(page.locator(".tip")).to_be_hidden()


def test_heads_are_ranked_and_shown_together(page: Page) -> None:
    play(page, "pretrained:priority-sort-ff", step=1)
    labels = page.get_by_role("group", name="Head", exact=True).locator("label").all_inner_texts()
    assert len(labels) == 16
    assert any("visits" in label for label in labels[:2])
    assert "spreads" in labels[7]
    for kind in ("write", "read"):
        expect(page.locator(".lane-title", has_text=f"All 8 {kind} heads")).to_be_visible()


def test_another_network_begins_with_the_head_that_does_most(page: Page) -> None:
    play(page, head=1)
    page.get_by_label("Network").select_option("pretrained:priority-sort-ff")
    heads = page.get_by_role("group", name="Head", exact=True).get_by_role("radio")
    expect(heads).to_have_count(16)
    expect(heads.first).to_be_checked()
    play(page)
    play(page, "pretrained:priority-sort-ff", head=3)
    expect(page.get_by_role("radio", name="write 4")).to_be_checked()


def test_scales_can_be_fixed(page: Page) -> None:
    play(page)
    ends = page.locator(".lane .scale")
    page.get_by_label("0 to 1", exact=True).check()
    for text in ends.all_inner_texts():
        assert re.fullmatch(r"(0|-1)\s*1", text), text
    page.get_by_label("fitted", exact=True).check()
    assert any(not re.fullmatch(r"(0|-1)\s*1", text) for text in ends.all_inner_texts())


def test_what_is_listed_is_what_the_studio_lists(page: Page) -> None:
    page.goto("./#play")
    options = page.locator("#network option")
    expect(options).to_have_count(15)
    found = json.loads(page.evaluate("fetch('data/site.json').then((answer) => answer.text())"))
    assert {network["id"] for network in found["networks"]} == set(
        options.evaluate_all("options => options.map((option) => option.value)")
    )
