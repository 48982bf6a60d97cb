"""The published results: every table follows from the data beside it."""

from pathlib import Path

import pytest

from ntm.report.layout import Results
from ntm.report.page import readme

RESULTS = Results(Path(__file__).parents[2] / "results")


def test_the_tables_are_those_of_the_data() -> None:
    assert RESULTS.readme.read_text() == readme(RESULTS)


def test_every_run_is_complete() -> None:
    folders = sorted(file.parent.name for file in RESULTS.data.glob("*/config.json"))
    assert [record.name for record in RESULTS.records()] == folders
    for record in RESULTS.records():
        assert len(record.curve.sequences) > 0
        assert (record.analysis is None) == (record.model == "lstm")


def test_costs_are_of_a_thousand_sequences_or_more() -> None:
    for record in RESULTS.records():
        for weights in ("best", "latest"):
            for case in record.evaluation.get(weights, {}).get("cases", []):
                assert case["sequences"] >= 1000, record.name


def test_seeds_are_consecutive() -> None:
    seeds: dict[tuple[str, str], list[int]] = {}
    for record in RESULTS.records():
        seeds.setdefault((record.task, record.model), []).append(record.seed)
    for network, found in seeds.items():
        unique = sorted(set(found))
        assert unique == list(range(unique[0], unique[0] + len(unique))), network


@pytest.mark.parametrize("kind", ["safetensors", "png"])
def test_nothing_large_is_published(kind: str) -> None:
    assert list(RESULTS.path.rglob(f"*.{kind}")) == []
    assert all(path.stat().st_size < 500_000 for path in RESULTS.path.rglob("*.*"))
