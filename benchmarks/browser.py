"""Browser for tests, screenshots and benchmarks: any Chrome, Chromium or Edge.

    python benchmarks/browser.py           # find a browser, or let Playwright install its own
    python benchmarks/browser.py --find    # only find a browser

Prints the browser that starts. If the variable NTM_BROWSER names a command or a file, no other
browser is tried.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
)
APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge")  # of macOS
OWN = None  # Playwright's own browser, in a folder of the user
# By the ID in /etc/os-release. Ubuntu's package chromium only installs a snap.
PACKAGES = {
    "debian": "chromium (apt-get install chromium)",
    "fedora": "chromium (dnf install chromium)",
    "arch": "chromium (pacman -S chromium)",
    "ubuntu": "google-chrome-stable (from https://www.google.com/chrome)",
    "Darwin": "Google Chrome (brew install --cask google-chrome)",
}


class NoBrowserError(Exception):
    """Raised if no browser starts; the message says what to install."""


@contextmanager
def open_browser(*arguments: str) -> Iterator[Browser]:
    """Yield the first browser that starts, with these arguments added to its command."""
    with sync_playwright() as playwright:
        browser, _ = started(playwright, *arguments)
        yield browser
        browser.close()


def started(playwright: Playwright, *arguments: str) -> tuple[Browser, str]:
    """Start the first candidate that works; return the browser and its name."""
    for file in candidates():
        try:
            # Playwright adds --no-sandbox, which root needs to start a browser.
            browser = playwright.chromium.launch(executable_path=file, args=list(arguments))
        except Error:  # for example Ubuntu's chromium-browser without its snap
            continue
        return browser, file or "Playwright's own browser"
    raise NoBrowserError(complaint())


def candidates() -> list[str | None]:
    """Return the files of browsers that may be installed, and Playwright's own at the end."""
    if named := os.environ.get("NTM_BROWSER"):
        return [shutil.which(named) or named]
    commands = [found for name in COMMANDS if (found := shutil.which(name))]
    folders = (Path("/Applications"), Path.home() / "Applications")
    files = [folder / f"{a}.app/Contents/MacOS/{a}" for folder in folders for a in APPLICATIONS]
    return [*commands, *(str(file) for file in files if file.exists()), OWN]


def complaint() -> str:
    """Return the sentence that says what to install."""
    if named := os.environ.get("NTM_BROWSER"):
        return f"NTM_BROWSER is {named!r}, which does not start as a browser: name another or none."
    return (
        f"The tests of the studio need Chrome, Chromium or Edge, and none starts here: install "
        f"{package()}, or name one in NTM_BROWSER."
    )


def package() -> str:
    """Return the name of the package with a browser for this system."""
    if platform.system() != "Linux":
        return PACKAGES.get(platform.system(), "Google Chrome")
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return PACKAGES["debian"]
    names = [system["ID"], *system.get("ID_LIKE", "").split()]
    return next((PACKAGES[name] for name in names if name in PACKAGES), "chromium")


def first() -> str:
    """Return the name of the first browser that starts."""
    with sync_playwright() as playwright:
        browser, name = started(playwright)
        browser.close()
    return name


def install() -> None:
    """Let Playwright download its own browser and, as root, the libraries it needs."""
    print("Installing a browser by Playwright ...", file=sys.stderr)
    steps = ["install-deps", "install"] if os.geteuid() == 0 else ["install"]
    for step in steps:  # starting the browser will show any failure
        command = [sys.executable, "-m", "playwright", step, "chromium"]
        subprocess.run(command, check=False, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--find", action="store_true", help="install nothing")
    only_find = parser.parse_args().find or os.environ.get("NTM_BROWSER")
    try:
        name = first()
    except NoBrowserError:
        if only_find:
            raise
        install()
        name = first()
    print(name)


if __name__ == "__main__":
    try:
        main()
    except NoBrowserError as missing:
        sys.exit(str(missing))
