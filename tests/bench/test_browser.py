"""Tests, screenshots and benchmarks find a browser on any machine, or say what to install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import browser

SCRIPT = Path(browser.__file__)
STUB = "#!/bin/sh\necho 'This command requires the chromium snap to be installed.' >&2\nexit 1\n"


def write_command(file: Path, text: str) -> str:
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


def real_browser() -> str:
    """Return the text of a command that starts this machine's browser, wherever PATH leads."""
    with browser.sync_playwright() as playwright:
        opened, name = browser.started(playwright)
        opened.close()
        file = name if Path(name).is_absolute() else playwright.chromium.executable_path
    return f'#!/bin/sh\nPATH="{os.environ["PATH"]}" exec "{file}" "$@"\n'


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder of PATH, on a machine without any browser."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")  # no server
    monkeypatch.delenv("NTM_BROWSER", raising=False)
    monkeypatch.setattr(browser, "APPLICATIONS", ())
    return tmp_path


@pytest.mark.parametrize("name", browser.COMMANDS)
def test_every_usual_command_is_tried(name: str, bare: Path) -> None:
    assert browser.candidates() == [browser.OWN]
    file = write_command(bare / name, STUB)
    assert browser.candidates() == [file, browser.OWN]


def test_applications_of_macos_are_tried(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "APPLICATIONS", ("Google Chrome",))
    monkeypatch.setattr(Path, "home", lambda: bare)
    file = bare / "Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    file.parent.mkdir(parents=True)
    file.touch()
    assert str(file) in browser.candidates()


def test_a_command_that_is_no_browser_is_passed_over(tmp_path: Path) -> None:
    write_command(tmp_path / "chromium-browser", STUB)
    other = write_command(tmp_path / "google-chrome-stable", real_browser())
    environment = {**os.environ, "PATH": str(tmp_path), "NTM_BROWSER": ""}
    command = [sys.executable, SCRIPT, "--find"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{other}\n"


def test_a_named_browser_is_the_only_one(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_command(bare / "chromium", STUB)
    named = write_command(bare / "my-browser", STUB)
    monkeypatch.setenv("NTM_BROWSER", "my-browser")
    assert browser.candidates() == [named]
    with pytest.raises(browser.NoBrowserError, match=r"NTM_BROWSER is 'my-browser', which does"):
        browser.first()


@pytest.mark.usefixtures("bare")
def test_without_any_browser_a_sentence_says_which_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT)])
    with pytest.raises(browser.NoBrowserError) as caught:
        browser.main()
    said = str(caught.value)
    assert f"none starts here: install {browser.package()}, or" in said
    assert said.count("\n") == 0


def test_the_command_ends_with_that_sentence_and_an_error() -> None:
    environment = {**os.environ, "NTM_BROWSER": "/nowhere/browser"}
    command = [sys.executable, SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("NTM_BROWSER is '/nowhere/browser'")
    assert done.stderr.count("\n") == 1
