"""Train it now: a network that learns in the page, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from safetensors import torch as safetensors
from tests.studio.test_page import PATIENCE

from ntm.layer import NTM


def test_it_trains_in_the_page_and_is_played_with(page: Page, tmp_path: Path) -> None:
    page.goto("./#train")
    page.get_by_label("Seed").fill("3")
    expect(page.locator("#train-command")).to_contain_text("--seed 3 --starts 1")
    page.get_by_role("button", name="Train", exact=True).click()
    solved = page.locator(".figures div", has_text="Below 0.1 bits").locator("dd")
    expect(solved).to_contain_text("sequences", timeout=4 * PATIENCE)
    expect(page.locator("#train-news")).to_contain_text("Below 0.1 bits after")
    expect(page.locator("#train-picture .lane")).to_have_count(6)
    page.get_by_role("button", name="Stop").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the weights").click()
    saved = tmp_path / "mine.safetensors"
    download.value.save_as(saved)
    net = NTM(9, 8)
    net.load_state_dict(safetensors.load_file(saved))
    page.get_by_role("button", name="Play with it").click()
    expect(page.locator(".summary h2")).to_contain_text("trained here (seed 3)")
    expect(page.locator(".verdict")).to_contain_text("All 80 bits right")
    page.locator("#file-input").set_input_files(saved)
    expect(page.locator(".summary h2")).to_contain_text("mine, length")
    expect(page.locator(".verdict")).to_contain_text("bits right")


@pytest.mark.parametrize(("typed", "meant"), [("02", 2), ("1e0", 1)])
def test_a_seed_is_the_number_that_was_typed(page: Page, typed: str, meant: int) -> None:
    page.goto("./#train")
    page.get_by_label("Seed").fill(typed)
    expect(page.locator("#train-command")).to_have_text(
        f"ntm train copy --model ntm-ff --seed {meant} --starts 1"
    )
    page.locator("#train-start").click()
    expect(page.locator("#train-picture-of")).to_have_text(f": copy, seed {meant}")
    expect(page.locator(".figures dd").nth(1)).not_to_have_text("-")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-play")).to_be_enabled()


@pytest.mark.parametrize("typed", ["", "9999999", "1.5"])
def test_a_seed_that_the_page_does_not_know_is_refused_in_words(page: Page, typed: str) -> None:
    page.goto("./#train")
    expect(page.locator("#train-picture canvas").first).to_be_visible()
    page.get_by_label("Seed").fill(typed)
    sentence = "Give a whole number from 1 to 32 as the seed."
    expect(page.locator("#train-refusal")).to_have_text(sentence)
    expect(page.locator("#train-command")).to_be_hidden()
    page.locator("#train-form").evaluate("form => { form.noValidate = true; }")
    page.locator("#train-start").click()
    expect(page.locator("#train-message")).to_have_text(sentence)
    expect(page.locator("#train-stop")).to_be_disabled()


def test_stop_waits_for_an_engine_that_still_loads(browser: Browser, address: str) -> None:
    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        waiting: list[Route] = []

        def hold(route: Route) -> None:
            waiting.append(route)

        page.route("**/engine.wasm", hold)
        page.goto(f"{address}#train")
        page.locator("#train-start").click()
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#train-stop")).to_be_disabled()
        # On a busy machine, the worker asks only now.
        page.route("**/engine.wasm", lambda route: route.continue_())
        for route in waiting:
            route.continue_()
        expect(page.locator("#train-play")).to_be_enabled()
        expect(page.locator("#train-message")).to_be_empty()
        expect(page.locator("#train-news")).to_contain_text("Training has stopped")


def test_an_engine_that_cannot_be_had_leaves_the_form_as_it_was(
    browser: Browser, address: str
) -> None:
    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route("**/engine.wasm", lambda route: route.abort())
        page.goto(f"{address}#train")
        page.locator("#train-start").click()
        expect(page.locator("#train-message")).not_to_be_empty()
        expect(page.locator("#train-start")).to_have_text("Train")
        for button in ("stop", "play", "save"):
            expect(page.locator(f"#train-{button}")).to_be_disabled()


def test_a_task_that_there_is_not_is_said(page: Page) -> None:
    page.goto("./#train/nothing")
    expect(page.locator("#train-message")).to_have_text("There is no task nothing here.")
    expect(page.locator("#train-picture canvas").first).to_be_visible()
    page.get_by_label("Task").select_option("repeat-copy")
    expect(page.locator("#train-message")).to_be_empty()


def test_training_can_begin_again(page: Page) -> None:
    page.goto("./#train/repeat-copy")
    expect(page.get_by_label("Task")).to_have_value("repeat-copy")
    expect(page.locator("#train-curves-of")).to_have_text(": repeat-copy, seed 1")
    page.get_by_label("Model").select_option("ntm-lstm")
    for _ in range(2):
        page.locator("#train-start").click()
        expect(page.locator(".figures dd").nth(1)).not_to_have_text("-")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-news")).to_contain_text("Training has stopped")


def test_both_the_learning_and_the_papers_can_be_read_off_the_curves(page: Page) -> None:
    page.goto("./#train/ngrams")
    expect(page.locator("#train-curves-of")).to_have_text(": ngrams, seed 1")
    expect(page.locator("#train-reading")).to_be_empty()  # far from zero
    page.goto("./#train/copy")
    expect(page.locator("#train-reading")).to_contain_text("costs below 0.05 bits")
    page.get_by_label("Seed").fill("3")
    page.locator("#train-start").click()
    solved = page.locator(".figures div", has_text="Below 0.1 bits").locator("dd")
    expect(solved).to_contain_text("sequences", timeout=4 * PATIENCE)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-play")).to_be_enabled()
    chart = page.locator("#train-chart svg").bounding_box()
    lines = page.locator("#train-chart .line").evaluate_all(
        """lines => lines.map((line) => {
          const { x, y, width, height } = line.getBoundingClientRect();
          return { x, y, width, height };
        })"""
    )
    assert chart is not None
    assert len(lines) == 4
    for line in lines:
        assert chart["x"] <= line["x"]
        assert line["x"] + line["width"] <= chart["x"] + chart["width"]
        assert chart["y"] <= line["y"]
        assert line["width"] > 0.2 * chart["width"]
        assert line["height"] > 0.2 * chart["height"]


def test_the_picture_is_there_before_and_only_changes(page: Page) -> None:
    """To make it takes longer than a frame."""
    page.goto("./#train")
    canvases = page.locator("#train-picture canvas")
    expect(canvases).to_have_count(5)
    output = canvases.nth(2).element_handle()
    untrained = output.evaluate("canvas => canvas.toDataURL()")
    page.locator("#train-start").click()
    expect(page.locator(".figures dd").nth(1)).not_to_have_text("-")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-play")).to_be_enabled()
    assert output.evaluate("canvas => canvas.isConnected")
    assert output.evaluate("canvas => canvas.toDataURL()") != untrained
    page.get_by_label("Task").select_option("repeat-copy")
    for heading in ("curves", "picture"):
        expect(page.locator(f"#train-{heading}-of")).to_have_text(": copy, seed 1")
    page.locator("#train-start").click()
    expect(page.locator("#train-picture")).to_contain_text("repeats")
    expect(page.locator("#train-picture-of")).to_have_text(": repeat-copy, seed 1")
    page.get_by_role("button", name="Stop").click()


@pytest.mark.parametrize("file", ["engine.wasm", "copy-ff.safetensors"])
def test_a_failed_download_is_tried_again(browser: Browser, address: str, file: str) -> None:
    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route(f"**/{file}", lambda route: route.abort(), times=1)
        page.goto(f"{address}#play/pretrained:copy-ff")
        expect(page.locator("#play-message")).not_to_be_empty()
        page.get_by_role("button", name="Run").click()
        expect(page.locator(".verdict")).to_contain_text("All 80 bits right")
        expect(page.locator("#play-message")).to_be_empty()


def test_a_training_that_diverges_says_so(browser: Browser, address: str) -> None:
    def with_a_huge_rate(route: Route) -> None:
        data = route.fetch().json()
        data["training"]["copy"]["ntm-ff"]["optimiser"]["learning_rate"] = 1e30
        route.fulfill(json=data)

    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route("**/site.json", with_a_huge_rate)
        page.goto(f"{address}#train")
        page.locator("#train-start").click()
        expect(page.locator("#train-message")).to_have_text(
            re.compile("Training failed after .* sequences: .* Train again with another seed.")
        )
        expect(page.locator("#train-start")).to_have_text("Train")
        for button in ("stop", "play", "save"):
            expect(page.locator(f"#train-{button}")).to_be_disabled()


def test_a_link_to_a_network_trained_here_trains_it_again(browser: Browser, address: str) -> None:
    link = "#play/trained:copy%2Fntm-ff%2F3%2F1600?vectors=a4.3c.91&step=2&head=0"
    answers = []
    for _ in range(2):
        with browser.new_context(service_workers="block") as context:
            page = context.new_page()
            page.goto(address + link)
            expect(page.locator(".summary h2")).to_contain_text("trained here (seed 3)")
            expect(page.locator(".readout")).to_contain_text("2 of 7")
            assert "trained:copy%2Fntm-ff%2F3%2F1600" in page.url
            answers.append(page.locator(".verdict").inner_text())
    assert answers[0] == answers[1]


def test_the_address_carries_task_model_and_seed(page: Page) -> None:
    page.goto("./#train/repeat-copy?model=ntm-lstm&seed=5")
    expect(page.locator("#train-command")).to_have_text(
        "ntm train repeat-copy --model ntm-lstm --seed 5 --starts 1"
    )
    page.get_by_label("Seed").fill("7")
    page.wait_for_url("**/#train/repeat-copy?model=ntm-lstm&seed=7")


def test_priority_sort_has_a_forecast_and_the_papers_cost_as_yardstick(page: Page) -> None:
    page.goto("./#train/priority-sort")
    page.locator("#train-start").click()
    figures = page.locator("#train-figures")
    expect(figures.locator("div", has_text="Time left").locator("dd")).to_have_text(
        re.compile(r"^\d+ (s|min|h \d+ min)$")
    )
    expect(figures).to_contain_text(re.compile(r"Below the paper's 2\d(\.\d+)? bits after"))
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-play")).to_be_enabled()
