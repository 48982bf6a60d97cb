"""The page in a real browser: what a person does, and what they see."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks.browser import open_browser
from playwright.sync_api import Browser, Locator, Page, expect

from ntm.paper import settings_for
from ntm.runs import Run, build_model
from ntm.studio.schemas import RunRequest
from ntm.training import paper_settings

SMALL = {"model.controller_size": "7", "model.memory_locations": "11", "model.memory_width": "5"}
TASKS = ("copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort")
PATIENCE = 30_000  # milliseconds, on a machine that does many other things
Vectors = list[list[int]]
Answer = list[list[float]]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with open_browser("--disable-background-networking") as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of copy on vectors of three bits: one to play with, one that goes on, an LSTM's."""
    runs = tmp_path_factory.mktemp("runs")
    for name, model in (("playing", "ntm-ff"), ("going-on", "ntm-ff"), ("baseline", "lstm")):
        sizes = {"model.hidden_size": "5"} if model == "lstm" else SMALL
        settings = paper_settings("copy", model).with_text(sizes | {"task.bits": "3"})
        run = Run.create(runs / name, settings)
        run.save_weights("best", build_model(settings), {"sequences": 40, "validation_bits": 1.5})
        report(run, 1000, 9.5)
        report(run, 2000, 8.5)
    return runs


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "ntm", "studio", str(folder), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        yield studio.stdout.readline().strip()
        studio.terminate()


@pytest.fixture(scope="module")
def tab(browser: Browser, address: str) -> Iterator[Page]:
    """One for all tests: a window costs more than all that a test does in it."""
    with browser.new_context(base_url=address.partition("?")[0]) as context:
        context.set_default_timeout(PATIENCE)
        opened = context.new_page()
        opened.goto(address)  # with the token, which becomes a cookie
        yield opened


@pytest.fixture
def complaints(tab: Page) -> Iterator[list[str]]:
    """What the page complains of during a test; a test that expects it clears the list."""
    heard: list[str] = []
    stop = listen(tab, heard)
    yield heard
    stop()
    assert not heard


@pytest.fixture
def page(tab: Page, complaints: list[str]) -> Iterator[Page]:  # noqa: ARG001
    """The tab, empty: an address that differs in its hash alone would not load the page again."""
    tab.set_viewport_size({"width": 1280, "height": 900})
    yield tab
    tab.goto("about:blank")


def listen(page: Page, heard: list[str]) -> Callable[[], None]:
    """Note what a page throws, logs as an error or, by its policy, is not allowed to do."""

    def on_error(error: Any) -> None:
        heard.append(str(error))

    def on_line(line: Any) -> None:
        if line.type == "error":
            heard.append(line.text)

    def stop() -> None:
        page.remove_listener("pageerror", on_error)
        page.remove_listener("console", on_line)

    page.on("pageerror", on_error)
    page.on("console", on_line)
    return stop


def report(run: Run, sequences: int, bits: float) -> None:
    with run.metrics.open("a") as metrics:
        metrics.write(json.dumps({"sequences": sequences, "bits": bits}) + "\n")


def play(page: Page, network: str = "run:playing") -> None:
    page.goto(f"/#play/{network}")
    expect(page.locator(".summary h2")).to_contain_text(network.partition(":")[2])


def lengthen(page: Page, length: int) -> Vectors:
    """Run the network on so many vectors; returns them, as they are random."""
    page.get_by_label("Length", exact=True).fill(str(length))
    page.get_by_role("button", name="Run").click()  # by itself it does so only where it is fast
    return drawn(page)


def drawn(page: Page) -> Vectors:
    """The vectors of the drawing."""
    return page.locator(".column").evaluate_all(
        """columns => columns.map(column =>
          [...column.children].map(cell => Number(cell.ariaChecked === "true")))"""
    )


def cell(page: Page, vector: int, bit: int) -> Locator:
    return page.get_by_label(f"vector {vector}, bit {bit}", exact=True)


def answer_table(page: Page) -> Answer:
    """The answer as the page shows it now: a row per scored step, none while it is drawn."""
    details = page.locator("details.answer")
    if details.get_attribute("open") is None:
        details.locator("summary").click()
    # Without waiting: the next answer may take the place of this one at any moment.
    texts = page.locator(".answer tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return [[float(text.removesuffix(" X")) for text in row] for row in texts]


def layer_answer(folder: Path, vectors: Vectors, locations: int | None = None) -> Answer:
    """The answer of the layer itself to a copy problem."""
    net = Run(folder / "playing").load_model("best")[0]
    if locations:
        net = net.resized(locations)
    shown = torch.tensor(vectors).float()
    length, bits = shown.shape
    inputs = torch.zeros(2 * length + 1, 1, bits + 1)
    inputs[:length, 0, :bits] = shown
    inputs[length, 0, bits] = 1
    with torch.no_grad():
        logits, _ = net(inputs)
    return torch.sigmoid(logits[length + 1 :, 0]).tolist()


def eventually(check: Callable[[], Any]) -> None:
    """Repeat a check until it holds."""
    end = time.monotonic() + PATIENCE / 1000
    while not check():
        assert time.monotonic() < end, "It never came to hold."
        time.sleep(0.05)


def shows(page: Page, answer: Answer) -> None:
    eventually(
        lambda: (
            len(table := answer_table(page)) == len(answer)
            and all(a == pytest.approx(b, abs=6e-5) for a, b in zip(table, answer, strict=True))
        )
    )


def test_a_drawn_pattern_gives_the_answer_of_the_layer(page: Page, folder: Path) -> None:
    play(page)
    lengthen(page, 3)
    page.get_by_role("button", name="Clear").click()
    for vector, bit in ((1, 2), (3, 1), (3, 3)):
        cell(page, vector, bit).click()
    page.get_by_role("button", name="Run").click()
    shows(page, layer_answer(folder, [[0, 1, 0], [0, 0, 0], [1, 0, 1]]))


def test_wrong_bits_are_counted_and_marked(page: Page, folder: Path) -> None:
    play(page)
    pattern = lengthen(page, 40)
    answer = layer_answer(folder, pattern)
    shows(page, answer)
    pairs = [
        (p, bit)
        for row, bits in zip(answer, pattern, strict=True)
        for p, bit in zip(row, bits, strict=True)
    ]
    wrong = sum((p > 0.5) != bit for p, bit in pairs)
    assert wrong > 0, "An untrained network knows none of 120 random bits."
    expect(page.locator(".verdict")).to_contain_text(f"{wrong} of 120 bits wrong")
    expect(page.locator(".answer td.bad")).to_have_count(wrong)


def test_longer_sequences_and_a_larger_memory(page: Page, folder: Path) -> None:
    play(page)
    pattern = lengthen(page, 25)
    page.get_by_label("Memory locations", exact=True).fill("15")
    page.get_by_role("button", name="Run").click()
    shows(page, layer_answer(folder, pattern, locations=15))


def test_an_open_table_stays_open(page: Page) -> None:
    play(page)
    for length in (3, 5):
        lengthen(page, length)
        expect(page.locator(".summary h2")).to_contain_text(f"length {length}")
        if length == 3:
            page.locator("details.answer summary").click()
        expect(page.locator(".answer tbody tr")).to_have_count(length)


def test_cells_are_drawn_by_dragging_and_with_the_keys(page: Page) -> None:
    play(page)
    lengthen(page, 4)
    page.get_by_role("button", name="Clear").click()
    cell(page, 1, 2).hover()
    page.mouse.down()
    for vector in (2, 3):
        cell(page, vector, 2).hover()
    page.mouse.up()
    for vector, bit in ((1, 1), (2, 1), (3, 1), (4, 0)):
        expect(cell(page, vector, 2)).to_be_checked(checked=bool(bit))
    cell(page, 1, 2).focus()
    for key in ("ArrowDown", "ArrowRight", " "):
        page.keyboard.press(key)
    expect(cell(page, 2, 3)).to_be_focused()
    expect(cell(page, 2, 3)).to_be_checked()


def test_keys_step_through_time(page: Page) -> None:
    play(page)
    lengthen(page, 3)
    expect(page.locator(".readout")).to_have_text("step 1 of 7")
    page.locator(".viewer h3").first.click()
    for key, step in (
        ("ArrowRight", 2),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("End", 7),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        expect(page.locator(".readout")).to_have_text(f"step {step} of 7")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".readout")).to_have_text("step 7 of 7")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_the_focused_cell_tells_its_exact_value(page: Page, folder: Path) -> None:
    play(page)
    pattern = lengthen(page, 2)
    answer = layer_answer(folder, pattern)
    shows(page, answer)
    page.get_by_label("Output, probability of a one").focus()
    for key in ("End", "ArrowDown"):
        page.keyboard.press(key)
    told = page.locator(".viewer [aria-live]")
    expect(told).to_contain_text("Output, bit 2, step 5: ")
    value = float(told.inner_text().split(": ")[1].split(",")[0])
    assert value == pytest.approx(answer[-1][1], rel=1e-3)


def test_hovering_tells_the_value_and_pressing_moves_there(page: Page) -> None:
    play(page)
    lengthen(page, 3)
    lane = page.get_by_label("Write weighting")
    lane.hover()
    expect(page.locator(".viewer .tip")).to_contain_text("Write weighting, location")
    lane.click(position={"x": 1, "y": 1})
    expect(page.locator(".readout")).to_have_text("step 1 of 7")


def test_the_chosen_head_is_explained(page: Page) -> None:
    play(page)
    page.get_by_label("read", exact=True).check()
    expect(page.locator(".link")).to_have_count(4)
    for title, parameter in (
        ("1. Content", "\u03b2"),
        ("2. Gate", "g "),
        ("3. Shift", "+1"),
        ("4. Sharpening", "\u03b3"),
    ):
        link = page.locator(".link").filter(has_text=title)
        expect(link.locator(".parameter")).to_contain_text(parameter)


def test_a_network_without_memory_shows_its_answer_alone(page: Page) -> None:
    play(page, "run:baseline")
    lengthen(page, 3)
    expect(page.locator(".lane-title strong")).to_have_text(["Input", "Target", "Output"])
    expect(page.locator(".tape, .chain")).to_have_count(0)
    expect(page.locator(".summary h2")).to_contain_text("length 3")
    eventually(lambda: len(answer_table(page)) == 3)


def test_a_drawing_stays_when_another_network_understands_it(page: Page) -> None:
    play(page)
    pattern = lengthen(page, 5)
    page.get_by_label("Network").select_option("run:going-on")
    expect(page.locator(".summary h2")).to_contain_text("going-on, length 5")
    assert lengthen(page, 5) == pattern


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_drawn_and_fits_a_phone(page: Page, task: str) -> None:
    page.set_viewport_size(PHONE)
    play(page, f"untrained:{task}")
    page.locator(".cell").first.click()
    with page.expect_response("**/api/trace") as answered:
        page.get_by_role("button", name="Run").click()
    assert answered.value.ok
    expect(page.locator("#play-message")).to_have_text("")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_names_of_rows_are_not_covered_on_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    play(page, "untrained:copy")  # whose locations are all shown
    covered = page.locator(".rows span").evaluate_all("""
    (names) => names.filter((name) => {
      name.scrollIntoView({ block: "center" });
      const { left, top } = name.getBoundingClientRect();
      return document.elementFromPoint(left + 1, top + 1) !== name;
    }).map((name) => name.textContent)""")
    assert covered == []


def sent_problem(page: Page, action: Callable[[], None]) -> Any:
    """What the page asks the network after an action."""
    action()
    with page.expect_request("**/api/trace") as request:
        page.get_by_role("button", name="Run").click()
    return request.value.post_data_json["problem"]


def test_the_query_reaches_the_network(page: Page) -> None:
    play(page, "untrained:associative-recall")
    third = page.get_by_role("radio", name="query").nth(2)
    assert sent_problem(page, third.check)["query"] == 2


def test_repeats_reach_the_network(page: Page) -> None:
    play(page, "untrained:repeat-copy")
    repeats = page.get_by_label("Repeats", exact=True)
    assert sent_problem(page, lambda: repeats.fill("7"))["repeats"] == 7


def test_priorities_reach_the_network(page: Page) -> None:
    play(page, "untrained:priority-sort")
    slider = page.get_by_role("slider", name="Priority of vector 2", exact=True)
    assert sent_problem(page, lambda: slider.press("End"))["priorities"][1] == 1


def test_a_curve_moves_when_its_run_reports(page: Page, folder: Path) -> None:
    page.goto("/#training")
    line = page.locator("path[data-run=going-on]")
    expect(line).to_be_attached()
    before = line.get_attribute("d")
    report(Run(folder / "going-on"), 3000, 2.25)
    expect(line).not_to_have_attribute("d", str(before))
    row = page.locator("tr[data-run=going-on]")
    expect(row).to_contain_text("3,000")
    expect(row).to_contain_text("2.25")
    expect(page.locator("path.paper").first).to_be_attached()
    page.get_by_label("Show going-on").uncheck()
    expect(line).to_have_count(0)


def test_a_run_is_started_and_stopped(page: Page, folder: Path) -> None:
    page.goto("/#training")
    form = page.locator("#start")
    expect(form.get_by_label("Sequences")).to_have_value("20000")  # the page has filled in the form
    form.get_by_label("Sequences").fill("1000000")
    form.get_by_label("Name (optional)").fill("from-the-page")
    form.get_by_role("button", name="Start").click()
    row = page.locator("tr[data-run=from-the-page]")
    expect(row).to_have_attribute("data-state", "running")
    expect(row.locator(".number").first).not_to_have_text("0")
    page.get_by_role("button", name="Stop from-the-page").click()
    expect(row).to_have_attribute("data-state", "stopped")
    assert (folder / "from-the-page" / "checkpoint").is_dir()


def test_the_form_accepts_what_the_server_accepts(page: Page) -> None:
    page.goto("/#training")
    fields = RunRequest.model_json_schema()["properties"]
    for name in ("seed", "sequences"):
        field = page.locator(f"#start [name={name}]")
        expect(field).to_have_attribute("min", str(fields[name]["minimum"]))
        expect(field).to_have_attribute("max", str(fields[name]["maximum"]))
    called = page.locator("#start [name=name]")
    accepted = {"a-run_2.b": True, "a" * 100: True, "-a": False, "a b": False, "../a": False}
    for text, valid in accepted.items():
        called.fill(text)
        assert called.evaluate("field => field.checkValidity()") == valid, text
    called.fill("a" * 101)
    expect(called).to_have_value("a" * 100)


def test_the_form_offers_the_task_that_is_shown(page: Page) -> None:
    page.goto("/#training/copy")
    task, sequences = (page.locator(f"#start [name={name}]") for name in ("task", "sequences"))
    expect(task).to_have_value("copy")
    page.locator("#curves-task").select_option("priority-sort")
    expect(task).to_have_value("priority-sort")
    usual = settings_for("priority-sort", "ntm-ff").training.sequences
    expect(sequences).to_have_value(str(usual))
    page.locator("#start [name=model]").select_option("lstm")
    expect(sequences).to_have_value(str(settings_for("priority-sort", "lstm").training.sequences))
    task.select_option("copy")  # a choice in the form stays when the list is updated
    with page.expect_response("**/api/runs"):
        pass
    expect(task).to_have_value("copy")
    expect(page.get_by_label("logarithmic")).to_be_checked()


def test_refusals_are_shown_as_sentences(page: Page, complaints: list[str]) -> None:
    page.goto("/#training")
    form = page.locator("#start")
    form.get_by_label("Name (optional)").fill("playing")
    form.get_by_role("button", name="Start").click()
    expect(page.locator("#training-trouble")).to_contain_text("playing already")
    assert len(complaints) == 1  # the browser's own note of the status
    complaints.clear()
    with page.expect_response("**/api/runs"):
        pass  # the runs are asked for again, and shown
    expect(page.locator("#training-trouble")).to_contain_text("playing already")
    expect(page.locator("#chart")).not_to_have_class("stale")
    form.get_by_label("Name (optional)").fill("another")
    expect(page.locator("#training-trouble")).to_be_empty()


def test_the_shared_file_opens_offline(
    page: Page, browser: Browser, folder: Path, tmp_path: Path
) -> None:
    play(page)
    pattern = lengthen(page, 3)
    expect(page.locator(".readout")).to_contain_text("of 7")
    page.get_by_label("Step", exact=True).fill("4")
    page.get_by_label("read", exact=True).check()
    page.locator("#share summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    file = tmp_path / "shared.html"
    download.value.save_as(file)
    with browser.new_context() as context:
        context.set_offline(True)
        alone = context.new_page()
        complaints: list[str] = []
        listen(alone, complaints)
        asked: list[str] = []
        alone.on("request", lambda request: asked.append(request.url))
        alone.goto(file.as_uri())
        shows(alone, layer_answer(folder, pattern))
        expect(alone.locator(".readout")).to_have_text("step 5 of 7")
        expect(alone.get_by_label("read", exact=True)).to_be_checked()
        alone.keyboard.press("ArrowRight")
        expect(alone.locator(".readout")).to_have_text("step 6 of 7")
        assert asked == [file.as_uri()]
        assert not complaints


@pytest.mark.parametrize(
    "view", ["play/untrained:associative-recall", "play/untrained:priority-sort", "training"]
)
def test_everything_that_takes_the_focus_has_a_name(page: Page, view: str) -> None:
    page.goto(f"/#{view}")
    expect(page.locator(".run-table, .transport").first).to_be_visible()
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = [node for node in tree if not node["ignored"]]
    nameless = [
        node["role"]["value"] for node in nodes if _takes_focus(node) and not node["name"]["value"]
    ]
    assert not nameless
    roles = [node["role"]["value"] for node in nodes]
    assert roles.count("main") == roles.count("navigation") == 1
    assert page.get_by_role("heading", level=1).count() == 1


def _takes_focus(node: dict[str, Any]) -> bool:
    focusable = any(p["name"] == "focusable" and p["value"]["value"] for p in node["properties"])
    return focusable and node["role"]["value"] != "RootWebArea"


def test_a_studio_that_hangs_is_noticed(browser: Browser, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ntm", "studio", str(tmp_path), "--port=0", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio,
        browser.new_context() as context,
    ):
        try:
            assert studio.stdout is not None
            page = context.new_page()
            page.goto(f"{studio.stdout.readline().strip()}#training")
            trouble = page.locator("#training-trouble")
            expect(page.locator("#no-runs")).to_be_visible()
            studio.send_signal(signal.SIGSTOP)
            expect(trouble).to_have_text("The studio has not answered for a while; is it busy?")
            studio.send_signal(signal.SIGCONT)
            expect(trouble).to_be_empty()
        finally:
            studio.kill()
