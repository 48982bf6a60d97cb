"""The published results: every table follows from the data beside it."""

import re
from pathlib import Path

import pytest

from ntm.report import tables
from ntm.report.groups import by_experiment
from ntm.report.page import readme
from ntm.report.records import Results

PROJECT = Path(__file__).parents[2]
RESULTS = Results(PROJECT / "results")


def test_the_tables_are_those_of_the_data() -> None:
    assert RESULTS.readme.read_text() == readme(RESULTS)


def test_the_front_page_says_how_many_seeds_solve_each_task() -> None:
    said = re.findall(r"\d+ of \d+ \(\d+ to \d+ %\)", (PROJECT / "README.md").read_text())
    found = [
        tables.solved(experiment, group)
        for experiment, groups in by_experiment(RESULTS.records())
        for group in groups
    ]
    assert said == [text for text in found if text]


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
    """No seed is left out: neither before 200 nor, where a network has more seeds, from 200 on."""
    seeds: dict[tuple[str, str], list[int]] = {}
    for record in RESULTS.records():
        seeds.setdefault((record.task, record.model), []).append(record.seed)
    for network, found in seeds.items():
        early = sorted({seed for seed in found if seed < 200})
        late = sorted({seed for seed in found if seed >= 200})
        assert early == list(range(min(early, default=0), max(early, default=-1) + 1)), network
        assert late == list(range(200, 200 + len(late))), network


@pytest.mark.parametrize("kind", ["safetensors", "png"])
def test_nothing_large_is_published(kind: str) -> None:
    assert list(RESULTS.path.rglob(f"*.{kind}")) == []
    assert all(path.stat().st_size < 500_000 for path in RESULTS.path.rglob("*.*"))
