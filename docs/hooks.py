"""Additions of `mkdocs build` to the pages of this folder.

The first page is README.md with the browser edition. Files of the project that pages link to are
copied. The pages on commands and on Python names are generated from the package.
"""

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ntm.commands import COMMANDS
from ntm.commands.parser import make_parser

ROOT = Path(__file__).parents[1]
BROUGHT = (
    *("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md"),
    *("CITATION.cff", "LICENSE", "benchmarks/*", "examples/*", "chomsky/*"),
    *("results/README.md", "results/figures/*.svg"),
)
PUBLIC = (
    *("ntm", "ntm.pretrained", "ntm.engine", "ntm.models", "ntm.tasks", "ntm.runs", "ntm.training"),
    *("ntm.evaluation", "ntm.figures", "ntm.paper", "ntm.studio", "ntm.scale"),
)
# No lists of pages and headings at the sides: the commands and the browser edition need the space.
WIDE = "---\nhide: [navigation, toc]\n---\n"
BROWSER_EDITION = "try"
FRAME = """
<iframe src="{page}{view}" title="A Neural Turing Machine in this page"
 loading="lazy" style="width: 100%; height: {height}; border: 1px solid #8888"></iframe>

<a href="{page}">Open it in a separate page</a>
"""
# A comment in a page asks for the browser edition there: the whole page, or the tape alone.
ASKED = re.compile(r"<!-- browser edition: (page|tape) -->")
VIEWS = {"page": ("", "44rem"), "tape": ("?embed=tape", "46rem")}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the files outside this folder."""
    for pattern in BROUGHT:
        for path in filter(Path.is_file, ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    made = {"index.md": first_page(), "commands.md": commands_page()}
    made |= {f"api/{name.rpartition('.')[2]}.md": reference(name) for name in PUBLIC}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Show the browser edition, and rewrite links as if all files were in this folder."""
    name = page.file.src_uri
    markdown = with_colab(markdown)
    markdown = ASKED.sub(lambda asked: frame(asked[1], page.url), markdown)
    if (ROOT / name).is_file() or name == "index.md":
        return re.sub(r"\]\(((?:\.\./)*)docs/", r"](\1", markdown)
    outside = "../" * (name.count("/") + 1)
    moved = markdown.replace(f"]({outside}", f"]({outside.removesuffix('../')}")
    return re.sub(r"\]\(((?:\.\./)*)README\.md", r"](\1index.md", moved)


def on_post_build(config: MkDocsConfig) -> None:
    """Put the browser edition beside the pages."""
    if has_browser_edition():
        out = Path(config.site_dir, BROWSER_EDITION)
        command = [sys.executable, "-m", "ntm", "site", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def first_page() -> str:
    """Return README.md with the browser edition before its first section."""
    readme = (ROOT / "README.md").read_text()
    start, heading, rest = readme.partition("\n## ")
    return WIDE + start + "\n<!-- browser edition: page -->\n" + heading + rest


def with_colab(markdown: str) -> str:
    """Return a page with links that open notebooks in Colab, where the repository is known."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")  # set in the workflow that publishes
    link = rf"[Open in Colab](https://colab.research.google.com/github/{repository}/blob/main/\1)"
    return re.sub(r"<!-- colab: (\S+) -->", link if repository else "", markdown)


def frame(view: str, url: str) -> str:
    """Return the browser edition as part of a page.

    view: "page", or "tape" for the tape alone.
    url: address of the page, below the first page.
    """
    if not has_browser_edition():
        return ""
    query, height = VIEWS[view]
    page = "../" * url.count("/") + f"{BROWSER_EDITION}/index.html"
    return FRAME.format(page=page, view=query, height=height)


def has_browser_edition() -> bool:
    """Whether the package has the command that makes the browser edition."""
    return "site" in COMMANDS


def commands_page() -> str:
    """Return a page with the help of every command."""
    parser = make_parser()
    pages = [("ntm", parser.format_help())]
    pages += [(f"ntm {name}", each.format_help()) for name, each in parser.commands.items()]
    helps = "\n".join(f"## {name}\n\n```text\n{text}```\n" for name, text in pages)
    return f"# Commands\n\nOutput of `ntm --help` and `ntm COMMAND --help`.\n\n{helps}"


def reference(name: str) -> str:
    """Return a page with the docstrings of a package and its public classes and functions."""
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    values = [getattr(module, each) for each in public]
    homes = [
        f"{value.__module__}.{value.__qualname__}"
        for value in values
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith(name)
    ]
    return f"# {name}\n\n{module.__doc__}\n\n" + "\n\n".join(
        f"::: {home}" for home in dict.fromkeys(homes)
    )
