"""CITATION.cff follows the schema of the Citation File Format."""

from pathlib import Path

import pytest
from cffconvert import Citation

CITATION = (Path(__file__).parents[2] / "CITATION.cff").read_text()


def test_the_citation_follows_the_schema() -> None:
    Citation(CITATION).validate()


@pytest.mark.parametrize(
    ("right", "wrong"), [("type: software", "type: car"), ("license: MIT", "license: mine")]
)
def test_a_wrong_citation_is_found(right: str, wrong: str) -> None:
    assert right in CITATION
    with pytest.raises(Exception, match=r"car|mine"):
        Citation(CITATION.replace(right, wrong)).validate()


def test_the_citation_becomes_bibtex() -> None:
    assert (
        "title = {ntm: Neural Turing Machines as a PyTorch layer}" in Citation(CITATION).as_bibtex()
    )
