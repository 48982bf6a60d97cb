"""The landing story in a real browser: the hero, watching a network learn, breaking it."""

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from safetensors import torch as safetensors
from tests.studio.test_page import PATIENCE

from ntm import pretrained
from ntm.cell import State
from ntm.commands.main import main
from ntm.layer import NTM
from ntm.layer.switches import PARTS, without
from ntm.models.lstm import LSTMBaseline
from ntm.paper.baseline import as_ntm, baseline

SIZES = [(1280, 800), (1920, 1080), (390, 844)]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_input_and_both_lines_are_above_the_fold(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("./")
    expect(page.locator("#hero-verdict")).to_have_text("20 vectors: all 160 bits right")
    for lane in ("Input", "Output", "Write head", "Read head"):
        box = page.locator("#hero-tape .lane", has_text=lane).locator("canvas").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
        assert box["x"] + box["width"] <= width


def test_nothing_sticks_out_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("./")
    for chapter in ("hero", "watch", "works", "break", "beside"):
        page.locator(f"#story-{chapter}").scroll_into_view_if_needed()
        expect(page.locator(f"#story-{chapter} canvas").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_six_times_longer_is_right_too(page: Page) -> None:
    page.goto("./")
    page.get_by_role("button", name="Make the sequence six times longer").click()
    expect(page.locator("#hero-verdict")).to_have_text(
        "120 vectors: all 960 bits right. In training it saw at most 20."
    )
    page.get_by_role("button", name="Back to 20 vectors").click()
    expect(page.locator("#hero-verdict")).to_have_text("20 vectors: all 160 bits right")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_cursor_plays_unless_motion_is_reduced(
    browser: Browser, address: str, motion: str
) -> None:
    with browser.new_context(reduced_motion=motion) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#hero-verdict")).to_contain_text("right")
        place = "document.querySelector('#hero-tape .cursor').style.transform"
        if motion == "reduce":
            before = page.evaluate(place)
            page.wait_for_timeout(1000)
            assert page.evaluate(place) == before
        else:
            page.wait_for_function(f"(before) => {place} !== before", arg=page.evaluate(place))


def test_training_can_be_watched_again_from_its_start(page: Page) -> None:
    page.goto("./#story/watch")
    stage = page.locator("#watch-stage")
    expect(stage).to_contain_text("Before training")
    page.get_by_role("button", name="Train a network").click()
    expect(page.get_by_role("button", name="Train another network")).to_be_enabled(
        timeout=4 * PATIENCE
    )
    end = "After 4,000 sequences: all 80 bits right. Two lines: both heads walk."
    expect(stage).to_have_text(end)
    page.get_by_label("Training time").fill("0")
    expect(stage).to_have_text(
        re.compile(r"After 40 sequences: \d+ of 80 bits wrong. No line yet: the heads do not walk.")
    )
    page.get_by_label("Training time").fill("99")
    expect(stage).to_have_text(end)


def test_slow_motion_can_be_chosen_while_it_learns(page: Page) -> None:
    page.goto("./#story/watch")
    time = page.get_by_label("Training time")
    page.get_by_role("button", name="Train a network").click()
    expect(time).to_be_enabled()
    page.get_by_label("slow motion").check()
    seconds = page.evaluate(
        """async () => {
          const time = document.querySelector("#watch-time");
          const [from, began] = [Number(time.max), performance.now()];
          const until = Math.min(from + 22, 98);
          while (Number(time.max) < until) await new Promise(requestAnimationFrame);
          return (performance.now() - began) / 1000;
        }"""
    )
    assert seconds > 20 * 0.12  # two pictures may be on their way


@pytest.mark.parametrize("chapter", ["break", "beyond"])
def test_a_link_to_a_chapter_stays_there_while_others_load(page: Page, chapter: str) -> None:
    page.set_viewport_size({"width": 700, "height": 640})
    page.goto(f"./#story/{chapter}")
    if chapter == "beyond":
        expect(page.locator("#beside-runs .outcome").last).to_contain_text("bits wrong")
    else:
        expect(page.locator("#links-verdict")).to_contain_text("at step 5")
        expect(page.locator("#break-verdict")).to_contain_text("bits right")
    expect(page.locator(f"#{chapter}-title")).to_be_in_viewport()
    page.mouse.wheel(0, -50_000)  # from here on, the visitor decides
    page.wait_for_function("scrollY === 0")
    page.set_viewport_size({"width": 690, "height": 640})
    expect(page.locator("#hero-title")).to_be_in_viewport()


def test_a_chapter_whose_download_failed_can_be_tried_again(browser: Browser, address: str) -> None:
    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route("**/copy-ff.safetensors", lambda route: route.abort(), times=1)
        page.goto(address)
        hero = page.locator("#story-hero")
        expect(hero.locator(".message")).to_contain_text("cannot be fetched")
        expect(page.locator("#hero-verdict")).to_be_empty()
        hero.get_by_role("button", name="Try again").click()
        expect(page.locator("#hero-verdict")).to_contain_text("bits right")
        expect(hero.locator(".message")).to_be_empty()


def test_the_bars_of_a_link_stand_below_their_locations(page: Page) -> None:
    page.goto("./#story/works")
    expect(page.locator("#links-verdict")).to_contain_text("at step 5")
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            """() => {
              const boxOf = (part) => document.querySelector(`#links-machine ${part} canvas`)
                .getBoundingClientRect();
              const [strip, bars] = [boxOf(".strip"), boxOf(".link")];
              return ["left", "right"].every((end) => Math.abs(bars[end] - strip[end]) <= 1);
            }"""
        )


def run_of(page: Page, length: int = 20, seed: int = 2) -> torch.Tensor:
    """The inputs that the page gives to the network."""
    vectors = page.evaluate(
        """async ([length, seed]) => {
          const { Backend } = await import("./site/static/backend.js");
          const backend = await Backend.open();
          return backend.example("pretrained:copy-ff", { length }, seed).vectors;
        }""",
        [length, seed],
    )
    x = torch.zeros(2 * length + 1, 1, 9)
    x[:length, 0, :8] = torch.tensor(vectors, dtype=torch.float32)
    x[length, 0, 8] = 1
    return x


def packaged(site: Path) -> NTM:
    """The network with the page's weights, which have half precision."""
    net = pretrained.load("copy-ff")
    half = safetensors.load_file(site / "data/copy-ff.safetensors")
    net.load_state_dict({name: tensor.float() for name, tensor in half.items()})
    return net


def wrong_bits(logits: torch.Tensor, x: torch.Tensor) -> int:
    length = len(x) // 2
    return int(((logits[length + 1 :, 0] > 0) != (x[:length, 0, :8] > 0.5)).sum())


def verdict(wrong: int) -> re.Pattern[str]:
    return re.compile(f"{wrong} of 160 bits wrong" if wrong else "all 160 bits right")


def test_what_breaks_is_what_breaks_in_python(page: Page, site: Path) -> None:
    page.goto("./#story/break")
    expect(page.locator("#break-verdict")).to_contain_text("all 160 bits right")
    net, x = packaged(site), run_of(page)
    boxes = page.locator("#break-switches input")
    found = []
    for part, box in zip(PARTS, boxes.all(), strict=True):
        box.uncheck()
        logits = torch.as_tensor(net.trace(x, without=[part]).outputs)
        found.append(wrong_bits(logits, x))
        expect(page.locator("#break-verdict")).to_contain_text(verdict(found[-1]))
        expect(page.locator("#break-verdict")).to_have_text(
            re.compile(r"bits (right|wrong)\. \w.+\.")
        )
        box.check()
        expect(page.locator("#break-verdict")).to_have_text("20 vectors: all 160 bits right.")
    assert max(found) > 40


def meddled(net: NTM, x: torch.Tensor, step: int, location: int, row: int | None) -> int:
    """Wrong bits if somebody writes into the memory after a step: 3 into a row, or 0 everywhere."""
    with torch.no_grad():
        first, state = net(x[: step + 1])
        if row is None:
            state.memory[0, location] = 0
        else:
            state.memory[0, location, row] = 3
        return wrong_bits(torch.cat([first, net(x[step + 1 :], State(*state))[0]]), x)


def test_the_memory_can_be_edited_at_any_step_as_in_python(page: Page, site: Path) -> None:
    page.goto("./#story/break")
    place, told = page.locator("#break-location"), page.locator("#break-verdict")
    expect(place).to_have_value(re.compile("."))
    location = int(place.input_value())
    net, x = packaged(site), run_of(page)
    found = []
    for step, component in ((10, 1), (20, 5), (39, 5)):
        page.locator("#break-machine input").fill(str(step))
        page.locator("#break-component").fill(str(component))
        for button, row in (("Write the number", component - 1), ("Clear the location", None)):
            page.get_by_role("button", name=button).click()
            found.append(meddled(net, x, step, location, row))
            expect(told).to_contain_text(f"after step {step + 1}:")
            what = "was cleared" if row is None else f"in component {component}"
            expect(told).to_contain_text(what)
            expect(told).to_contain_text(verdict(found[-1]))
            expect(told).to_contain_text("needed what" if found[-1] else "as good as before")
            spreads = "other vectors are wrong too" in told.inner_text()
            assert spreads == (found[-1] > 8)  # a vector has eight bits
    assert max(found) > 8
    page.locator("#break-memory").get_by_role("button", name="Undo").click()
    expect(told).to_have_text("20 vectors: all 160 bits right.")


def test_an_edited_cell_shows_its_number_at_once(page: Page) -> None:
    page.goto("./#story/break")
    place = page.locator("#break-location")
    expect(place).to_have_value(re.compile("."))
    for step in (10, 40):  # the last step too, after which nothing runs
        page.locator("#break-machine input").fill(str(step))
        page.get_by_role("button", name="Write the number").click()
        expect(page.locator("#break-verdict")).to_contain_text(f"after step {step + 1}:")
        strip = page.locator("#break-machine .strip canvas")
        column = (int(place.input_value()) - 125) % 128  # the picture starts with location 125
        width = strip.evaluate("strip => strip.clientWidth") / 47
        strip.hover(position={"x": (column + 0.5) * width, "y": 2})
        expect(page.locator("#break-machine .tip")).to_have_text(
            f"Memory after step {step + 1}, location {place.input_value()}, component 1: 3"
        )


def test_the_axes_stay_when_a_part_is_turned_off(page: Page) -> None:
    page.goto("./#story/break")
    told, shown = page.locator("#break-verdict"), page.locator("#break-shown")
    expect(told).to_contain_text("all 160 bits right")
    axes = page.locator("#break-tape .rows, #break-machine .ticks")
    before = axes.all_inner_texts()
    expect(shown).to_have_text("Shown: locations 125 to 127 and 0 to 43.")
    for box in page.locator("#break-switches input").all():
        box.uncheck()
        expect(told).to_have_text(re.compile(r"bits (right|wrong)\. \w.+\."))
        assert axes.all_inner_texts() == before
        box.check()
        expect(told).to_have_text("20 vectors: all 160 bits right.")
    page.locator("#break-task").select_option("recall")
    expect(shown).to_have_text("Shown: locations 103 to 127 and 0 to 16.")
    page.get_by_role("checkbox", name="Move by one").uncheck()
    expect(shown).to_have_text("A head leaves its usual locations. Shown: all 128 locations.")


def test_pressing_a_cell_chooses_it(page: Page) -> None:
    page.goto("./#story/break")
    strip = page.locator("#break-machine .strip canvas")
    expect(page.locator("#break-location")).to_have_value(re.compile("."))
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] - 2, "y": box["height"] - 2})
    last = page.locator("#break-machine .ticks span").last.inner_text()
    expect(page.locator("#break-component")).to_have_value("20")
    assert int(page.locator("#break-location").input_value()) - int(last) in range(4)


def test_too_many_vectors_overwrite_each_other(page: Page) -> None:
    page.goto("./#story/break")
    page.locator("#break-task").select_option("long")
    expect(page.locator("#break-verdict")).to_have_text(
        re.compile(r"140 vectors: \d+ of 1,120 bits wrong. The memory has 128 locations, too few")
    )


def test_a_change_is_blamed_only_if_it_makes_the_answer_worse(page: Page) -> None:
    page.goto("./#story/break")
    page.locator("#break-task").select_option("long")
    told = page.locator("#break-verdict")
    expect(told).to_contain_text("too few for 140 vectors")
    page.get_by_role("checkbox", name="Find by content").uncheck()
    expect(told).to_contain_text("Without content lookup, the answer is no worse.")
    expect(told).to_contain_text("too few for 140 vectors")
    expect(told).to_contain_text("nearly every bit is a guess")
    page.get_by_role("checkbox", name="Find by content").check()
    page.get_by_role("checkbox", name="Erase before writing").uncheck()
    expect(told).to_contain_text("Without erasing, the answer is better.")
    expect(told).not_to_contain_text("guess")
    page.get_by_role("checkbox", name="Move by one").uncheck()
    expect(told).to_contain_text("Without shifts, the heads cannot walk")
    expect(told).not_to_contain_text("too few for 140 vectors")


def test_recall_needs_content_lookup(page: Page) -> None:
    page.goto("./#story/break")
    page.locator("#break-task").select_option("recall")
    expect(page.locator("#break-verdict")).to_have_text("The item that follows: all 18 bits right.")
    expect(page.locator("#break-machine output")).to_have_text(re.compile("^29 of"))
    expect(page.locator("#break-memory")).to_be_hidden()
    page.get_by_role("checkbox", name="Find by content").uncheck()
    expect(page.locator("#break-verdict")).to_contain_text("bits wrong. Without content lookup")


def test_every_link_has_an_equation_and_a_control(page: Page) -> None:
    page.goto("./#story/works")
    told, value = page.locator("#links-verdict"), page.locator("#links-value")
    expect(told).to_have_text("The network itself sets this value at step 5.")
    for number, (fixed, shown) in enumerate({"50": "50", "1": "1", "0": "0", "1.5": "1.5"}.items()):
        expect(page.locator("#links-title")).to_have_text(re.compile(f"^{number + 1}\\."))
        expect(page.locator("#links-equation math")).to_be_visible()
        expect(page.locator("#links-machine .link:visible")).to_have_count(1)
        bars = page.locator("#links-machine .link:visible canvas").bounding_box()
        tape = page.locator("#links-machine .strip").bounding_box()
        assert bars
        assert tape
        assert bars["width"] > 0.9 * tape["width"]
        learned = value.inner_text()
        page.locator("#links-slider").fill(fixed)
        expect(told).to_contain_text(
            "lets only 29 % of the search through" if number == 0 else "You set"
        )
        expect(told).to_contain_text(
            "You set this value at step 5: the write head ends at location"
        )
        expect(value).to_have_text(shown)
        if number == 3:
            page.locator("#links-slider").fill("1")
            expect(told).to_contain_text("One blurred step does little harm.")
            page.locator("#links-slider").fill("20")
            expect(told).to_have_text(re.compile("all 64 bits right.$"))
        page.get_by_role("button", name="As learned").click()
        expect(value).to_have_text(learned)
        label = "Next stage" if number < 3 else "Back to stage 1"
        page.get_by_role("button", name=label).click()
    expect(page.locator("#links-title")).to_have_text(re.compile("^1"))


def test_a_shift_that_is_taken_away_is_missed_as_in_python(page: Page, site: Path) -> None:
    page.goto("./#story/works")
    expect(page.locator("#links-verdict")).to_contain_text("at step 5")
    page.get_by_label("3. Move by one").check()
    page.locator("#links-slider").fill("0")
    net = packaged(site)
    x = run_of(page, 8, 3)
    with torch.no_grad():
        first, state = net(x[:4])
        middle, state = without(net, ["shift"])(x[4:5], State(*state))
        moved = net(x[:5])[1]
        # Only the write head is fixed; the read head waits at this step in both runs.
        assert torch.equal(state.read_weightings.argmax(-1), moved.read_weightings.argmax(-1))
        last, _ = net(x[5:], State(*state))
    wrong = wrong_bits(torch.cat([first, middle, last]), x)
    assert wrong > 0
    place = int(state.write_weightings.argmax())
    expect(page.locator("#links-verdict")).to_have_text(
        f"You set this value at step 5: the write head ends at location {place}. "
        f"The copy of 8 vectors: {wrong} of 64 bits wrong."
    )


def test_the_lstm_answers_as_in_python(page: Page) -> None:
    lstm, facts = baseline()
    page.goto("./#story/beside")
    expect(page.locator("#beside-sequences")).to_have_text(f"{facts['sequences']:,}")
    for number, length in enumerate((20, 120)):
        x = run_of(page, length, 4)
        with torch.no_grad():
            wrong = wrong_bits(lstm(x)[0], x)
        assert wrong > length / 2
        outcome = page.locator("#beside-runs .outcome").nth(4 + number)
        expect(outcome).to_have_text(re.compile(r"[\d,]+ of [\d,]+ bits wrong."))
        shown = int(outcome.inner_text().split()[0].replace(",", ""))
        assert abs(shown - wrong) <= max(2, 0.05 * wrong)  # half precision, many steps
    for number, words in ((0, "wrong"), (1, "wrong"), (2, "All 160"), (3, "All 960")):
        expect(page.locator("#beside-runs .outcome").nth(number)).to_contain_text(words)


def test_an_lstm_of_one_layer_is_an_ntm_that_ignores_its_memory() -> None:
    torch.manual_seed(1)
    lstm = LSTMBaseline(5, 3, hidden_size=7, layers=1)
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter)
    x = torch.randn(9, 4, 5)
    assert torch.allclose(as_ntm(lstm)(x)[0], lstm(x)[0], atol=1e-5)
    with pytest.raises(ValueError, match="2"):
        as_ntm(LSTMBaseline(5, 3, hidden_size=7, layers=2))


def test_the_story_can_be_read_with_the_keyboard_alone(page: Page) -> None:
    page.goto("./")
    for chapter in ("hero", "watch", "works", "break", "beside", "hero"):
        page.locator(f"#story-{chapter}").scroll_into_view_if_needed()
        expect(page.locator(f"#story-{chapter} canvas").first).to_be_visible()
    reached: list[str] = []
    for _ in range(120):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.id || document.activeElement.name")
        reached.append(str(focused))
        if focused == "hero-longer":
            page.keyboard.press("Enter")
            expect(page.locator("#hero-verdict")).to_contain_text("120 vectors: all 960")
        elif focused == "links-next":
            page.keyboard.press("Enter")
            expect(page.locator("#links-title")).to_have_text(re.compile("^2"))
        elif focused == "links-slider":
            expect(page.locator("#links-verdict")).to_contain_text("itself")
            page.keyboard.press("ArrowRight")
            expect(page.locator("#links-verdict")).to_contain_text("You set this value")
        elif focused == "break-clear":
            page.keyboard.press("Space")
            expect(page.locator("#break-verdict")).to_contain_text("was cleared")
        elif focused == "embed-copy":
            break
    wanted = ["hero-watch", "hero-longer", "watch-start", "watch-slow", "links-choice",
              "links-slider", "links-next", "break-task", "break-location", "break-set",
              "break-clear", "embed-copy"]  # fmt: skip
    assert [part for part in reached if part in wanted] == wanted


def test_a_moment_keeps_its_caption(page: Page) -> None:
    page.goto("./#gallery")
    page.get_by_role("link", name="The goto of repeat copy").click()
    caption = page.locator(".moment-caption")
    expect(caption).to_contain_text("This is a goto")
    expect(page.locator("#viewer")).to_have_attribute("aria-busy", "false")
    page.reload()
    expect(caption).to_contain_text("This is a goto")
    page.get_by_label("Network").select_option("pretrained:copy-ff")
    expect(caption).to_be_hidden()
    expect(page.locator(".summary h2")).to_contain_text("copy-ff")
    page.wait_for_function("() => location.hash.includes('copy-ff?')")
    assert "moment" not in page.evaluate("location.hash")


@pytest.mark.parametrize(
    ("title", "axis"), [("Sort's line", "priority"), ("The n-grams table", "the last five bits")]
)
def test_a_scatter_shows_where_a_head_goes(page: Page, title: str, axis: str) -> None:
    page.goto("./#gallery")
    card = page.locator(".moment", has_text=title)
    card.scroll_into_view_if_needed()
    scatter = card.locator(".scatter")
    expect(scatter).to_have_attribute("aria-label", re.compile(f"head against {axis}: "))
    dots = scatter.locator("circle").evaluate_all(
        "dots => dots.map((dot) => [dot.getAttribute('cx'), dot.getAttribute('cy')].map(Number))"
    )
    x, y = torch.tensor(dots, dtype=torch.float64).T
    if axis == "priority":
        assert len(dots) == 20
        assert torch.corrcoef(torch.stack([x, y]))[0, 1] < -0.98  # up is less in a picture
    else:
        spread = [y[x == column] for column in x.unique()]
        alone = [float((places == places.mode().values).double().mean()) for places in spread]
        assert sum(alone) / len(alone) > 0.9


def test_links_preview_and_snippet(page: Page, tmp_path: Path) -> None:
    page.goto("./")
    page.locator("#story-beyond").scroll_into_view_if_needed()
    code = page.locator("#embed-code")
    expect(code).to_contain_text("?embed=tape")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#embed-copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == code.inner_text()
    found = re.search(r'src="([^"]+)".* height="(\d+)"', code.inner_text())
    assert found is not None
    height = int(found[2])
    for width in (1200, 700, 390):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(found[1])
        expect(page.locator("#hero-verdict")).to_contain_text("right")
        assert page.evaluate("document.documentElement.scrollHeight") == height
    expect(page.locator(".foot")).to_be_hidden()
    home, code_at = "https://example.org/tape", "https://example.org/ntm?a=1&b"
    assert main(["site", "--out", str(tmp_path), "--address", home, "--repository", code_at]) == 0
    written = (tmp_path / "index.html").read_text()
    assert f'<meta property="og:image" content="{home}/preview.png">' in written
    assert '<a href="https://example.org/ntm?a=1&amp;b">repository</a>' in written
    assert (tmp_path / "preview.png").read_bytes()[1:4] == b"PNG"


def test_the_tape_alone_can_be_embedded(page: Page) -> None:
    page.goto("./?embed=tape")
    expect(page.locator("#hero-verdict")).to_have_text("20 vectors: all 160 bits right")
    for part in (".top", ".foot", "#story-watch", "#hero-watch"):
        expect(page.locator(part)).to_be_hidden()
