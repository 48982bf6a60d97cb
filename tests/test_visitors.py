"""Files that visitors of a repository expect: true, complete, and in step with the project."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from docs import make_badges

ROOT = Path(__file__).parents[1]
SECURITY = (ROOT / "SECURITY.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
ATTACKS = re.findall(r"^\|.*\| `(\S+) ([^`]+)` \|$", SECURITY, re.MULTILINE)


def functions(place: str) -> list[str]:
    """Return the names of the test functions in a file, or in the files of a folder."""
    path = ROOT / place
    files = [path] if path.is_file() else sorted(path.glob("test_*.py"))
    return [
        name
        for file in files
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    ]


def chosen(arguments: str) -> list[list[str]]:
    """Return the tests that a pytest command runs, for each word of its -k."""
    place, *options = shlex.split(arguments)
    words = options[1].split(" or ") if options else [""]
    assert options[:1] in ([], ["-k"])
    return [[name for name in functions(place) if word in name] for word in words]


def test_every_attack_has_a_command_that_runs_tests() -> None:
    rows = re.findall(r"^\| (?!attack|---)", SECURITY.partition("## Attacks")[2], re.MULTILINE)
    assert len(ATTACKS) == len(rows) >= 15
    for program, arguments in ATTACKS:
        if program == "python":
            assert (ROOT / arguments).exists()
        else:
            assert program == "pytest"
            assert all(chosen(arguments)), arguments


def test_a_command_without_tests_is_found() -> None:
    assert chosen("tests/test_visitors.py -k nowhere") == [[]]
    assert chosen("tests/nowhere.py") == [[]]
    assert chosen("tests/test_visitors.py -k paper") == [["test_the_paper_is_cited"]]


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_issue_forms_are_as_github_expects(form: Path) -> None:
    content = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= content.keys()
    names = [field["id"] for field in content["body"]]
    assert len(set(names)) == len(names) >= 2
    for field in content["body"]:
        assert field["type"] == "textarea"
        assert field["attributes"]["label"]
    assert f"*{content['name']}*" in (ROOT / "SUPPORT.md").read_text()


def test_the_badges_are_drawn_from_the_facts() -> None:
    assert make_badges.PICTURE.read_text() == make_badges.picture()
    assert f"![{make_badges.title()}](docs/images/badges.svg)" in (ROOT / "README.md").read_text()
    facts = make_badges.facts()
    assert facts["Python"].startswith(PROJECT["requires-python"].removeprefix(">="))
    (torch,) = [text for text in PROJECT["dependencies"] if text.startswith("torch")]
    assert facts["torch"].startswith(torch.removeprefix("torch>="))
    supported = f"Python {facts['Python']}, torch {facts['torch']}, Linux and macOS"
    assert supported in (ROOT / "SUPPORT.md").read_text()


PERSON = {"family-names", "given-names"}


def test_the_citation_has_what_the_format_requires() -> None:
    """Version 1.2.0 of the Citation File Format; readers such as GitHub refuse other files."""
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert CITATION["license"] == PROJECT["license"]
    assert [author["name"] for author in CITATION["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= reference.keys()
        assert all(author.keys() == PERSON for author in reference["authors"])
    texts = [CITATION["message"], CITATION["title"], *CITATION["keywords"], CITATION["version"]]
    assert all(isinstance(text, str) for text in texts)  # 1.0 without quotes would be a number


def test_the_paper_is_cited() -> None:
    (paper,) = CITATION["references"]
    assert paper["title"] == "Neural Turing Machines"
    assert [author["family-names"] for author in paper["authors"]] == [
        "Graves",
        "Wayne",
        "Danihelka",
    ]
    assert paper["identifiers"] == [{"type": "other", "value": "arXiv:1410.5401"}]
    assert "https://arxiv.org/abs/1410.5401" in (ROOT / "README.md").read_text()
