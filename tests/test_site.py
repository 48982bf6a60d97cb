"""The documents as a site: it builds, links lead somewhere, the page on the paper is complete."""

import html
import importlib
import inspect
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from docs import arguments, hooks

from ntm.commands.main import make_parser
from ntm.paper.gallery import figures_of

ROOT = Path(__file__).parents[1]
OTHERS = sorted(ROOT.glob("*.md"))
PAGES = [*OTHERS, ROOT / "results" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAPER = (ROOT / "docs" / "paper.md").read_text()


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub and mkdocs write them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text).lower().replace(" ", "-") for text in headings}


def broken_links(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    broken = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](#a-heading) [b](#b) [c](nowhere.md) [d](page.md#e) [f](.)\n")
    assert broken_links(page) == ["#b", "nowhere.md", "page.md#e"]


def pages_of(site: Path) -> list[Path]:
    """Return the documents of a built site, without the embedded page and error pages."""
    return [
        page
        for page in sorted(site.rglob("*.html"))
        if page.relative_to(site).parts[0] not in {"try", "404.html"}
    ]


def dead_ends(page: Path) -> list[str]:
    """Return broken links and images of a built page. mkdocs itself checks only Markdown."""
    named = re.findall(r'<[^>]*\s(?:src|href)="([^"#?]+)', page.read_text())
    local = [link for link in dict.fromkeys(named) if not re.match(r"[a-z]+:|//", link)]
    targets = {link: page.parent / html.unescape(unquote(link)) for link in local}
    return [
        link
        for link, target in targets.items()
        if not (target.is_file() or (target / "index.html").exists())
    ]


def test_dead_ends_are_found(tmp_path: Path) -> None:
    (tmp_path / "studio").mkdir()
    (tmp_path / "there.png").touch()
    page = tmp_path / "studio" / "index.html"
    page.write_text(
        '<img alt="a" src="there.png"><img src="../there.png"><a href="../studio/#top">up</a>'
        '<a href="https://example.org/x">away</a><a href="../other/">other</a>'
    )
    assert dead_ends(page) == ["there.png", "../other/"]


def page(site: Path, name: str) -> str:
    return (site / name / "index.html").read_text()


def test_lists_of_names_become_sections_of_arguments() -> None:
    text = "Run.\n\nx, y: sizes of\n    the thing (1).\n**z: more.\n\nReturns the sum."
    assert arguments.rewritten(text, ["z", "y", "x"], {"w": "no argument"}) == (
        "Run.\n\nArgs:\n    **z: more.\n    y: sizes of the thing (1)."
        "\n    x: sizes of the thing (1).\n\n**Returns:** the sum."
    )
    assert arguments.rewritten("Run.\n\na: one.\nb: two.", ["a"], {}) == (
        "Run.\n\n- `a`: one.\n- `b`: two."
    )
    plain = "The outputs are logits: train.\n\n    net = NTM(9, 8)"
    assert arguments.rewritten(plain, ["net"], {}) == plain


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "index.html").read_text()
    assert "See it work" in first
    assert '<iframe src="try/index.html"' in first
    assert (tmp_path / "try" / "index.html").exists()
    dead = {str(page.relative_to(tmp_path)): dead_ends(page) for page in pages_of(tmp_path)}
    assert {page: links for page, links in dead.items() if links} == {}
    assert '<iframe src="../../try/index.html?embed=tape"' in page(tmp_path, "tutorials/copy")
    assert '<iframe src="../try/index.html?embed=tape"' in page(tmp_path, "paper")
    assert '<iframe src="../try/index.html"' in page(tmp_path, "studio")
    reference = page(tmp_path, "api/ntm")
    assert "(time, batch, input_size)" in reference
    assert re.search(
        r"<b><code>memory_locations</code></b>.*?N, the number of memory locations",
        reference,
        re.DOTALL,
    )
    assert "--memory-locations" in (tmp_path / "commands" / "index.html").read_text()
    assert (tmp_path / "results" / "figures" / "figure-03-copy-learning-curves.svg").exists()
    assert (tmp_path / "examples" / "minimal.py").exists()


def test_notebooks_open_in_colab_if_the_repository_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = (ROOT / "docs" / "tutorials" / "notebooks.md").read_text()
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert "colab.research" not in hooks.with_colab(written)
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/ntm")
    links = re.findall(
        r"\(https://colab\.research\.google\.com/github/(\S+)\)", hooks.with_colab(written)
    )
    files = [
        f"docs/notebooks/{file.name}" for file in (ROOT / "docs" / "notebooks").glob("*.ipynb")
    ]
    assert sorted(links) == sorted(f"someone/ntm/blob/main/{file}" for file in files)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table of a section of the paper's page."""
    section = PAPER.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def resolved(name: str) -> Any:
    """Return the object that a dotted name stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise AssertionError(f"There is nothing called {name}.")


def test_every_name_on_the_papers_page_exists() -> None:
    names = re.findall(r"`(ntm(?:\.\w+)+)`", PAPER)
    assert len(names) > 30
    assert all(resolved(name) is not None for name in names)
    files = re.findall(r"`((?:src|tests)/[^`]+)`", PAPER)
    assert all(list(ROOT.glob(file)) for file in files)


def test_every_equation_has_the_function_whose_docstring_has_its_number() -> None:
    listed = rows("Equations")
    assert [int(row[0]) for row in listed] == list(range(1, 11))
    for number, _, function, _ in listed[1:-1]:  # the first is a constraint, the last a task's
        said = inspect.getdoc(resolved(function.strip("`"))) or ""
        assert re.match(rf"Equations? {number}\b", said), (number, said)


def test_every_figure_and_table_is_on_the_papers_page() -> None:
    assert [int(row[0]) for row in rows("Figures")] == [f.number for _, f in figures_of()]
    assert [int(row[0]) for row in rows("Tables")] == [1, 2, 3]


def test_every_claim_has_a_command_or_a_name() -> None:
    parser = make_parser()
    claims = rows("Claims")
    assert {row[0].partition(".")[2] for row in claims} >= {"1", "2", "3", "4", "5", "6"}
    for _, claim, shown in claims:
        commands = re.findall(r"`(?:ntm |pytest )([^`]+)`", shown)
        assert commands or re.search(r"`ntm\.", shown), claim
        for command in commands:
            if not command.startswith("tests/"):
                parser.parse_args(shlex.split(command))
