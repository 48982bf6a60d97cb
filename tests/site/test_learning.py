"""Train it now: a network that learns in the page, in a real browser."""

from pathlib import Path

from playwright.sync_api import Page, expect
from safetensors import torch as safetensors
from tests.studio.test_page import PATIENCE

from ntm.layer import NTM


def test_it_trains_in_the_page_and_is_played_with(page: Page, tmp_path: Path) -> None:
    page.goto("./#train")
    page.get_by_label("Seed").fill("3")
    expect(page.locator("#train-command")).to_contain_text("ntm train copy --model ntm-ff --seed 3")
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
    page.reload()
    expect(page.locator("#play-message")).to_contain_text("was only in the page that you left")
    page.locator("#file-input").set_input_files(saved)
    expect(page.locator(".summary h2")).to_contain_text("mine, length")
    expect(page.locator(".verdict")).to_contain_text("bits right")


def test_training_can_begin_again(page: Page) -> None:
    page.goto("./#train/repeat-copy")
    expect(page.get_by_label("Task")).to_have_value("repeat-copy")
    page.get_by_label("Model").select_option("ntm-lstm")
    for _ in range(2):
        page.locator("#train-start").click()
        expect(page.locator(".figures dd").nth(1)).not_to_have_text("-")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#train-news")).to_contain_text("Training has stopped")


def test_both_the_learning_and_the_papers_can_be_read_off_the_curves(page: Page) -> None:
    page.goto("./#train")
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
    page.locator("#train-start").click()
    expect(page.locator("#train-picture")).to_contain_text("repeats")
    page.get_by_role("button", name="Stop").click()
