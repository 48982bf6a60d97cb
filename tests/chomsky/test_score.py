"""Scores and the table of scores, with networks whose answers are known."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from ntm.paper import read_experiment
from ntm_chomsky import ALL, EvenPairs, ReverseString
from ntm_chomsky.column import Score, read_scores, write_scores
from ntm_chomsky.score import LENGTHS, mean_accuracy, score
from ntm_chomsky.table import markdown, published_scores

FOLDER = Path(__file__).parents[2] / "chomsky"
SCORE = Score("even-pairs", "ntm-ff", 100, 99.96, 64, 640, 30_000, 12.5)


class FirstAndLast(nn.Module):
    """Right answers for even pairs up to a length: whether the first and last symbol differ."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.longest = longest
        self.register_parameter("unused", nn.Parameter(torch.zeros(1)))

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        ends = x[lengths - 2, torch.arange(len(lengths)), :2].argmax(-1)
        differ = (x[0, :, :2].argmax(-1) != ends).long()
        said = torch.where(lengths - 1 <= self.longest, differ, 1 - differ)
        return nn.functional.one_hot(said, 2).float().expand(len(x), -1, -1), None


def test_a_network_that_is_always_right_scores_100() -> None:
    assert mean_accuracy(score(FirstAndLast(500), EvenPairs())) == 100


def test_the_score_is_the_mean_over_lengths() -> None:
    found = score(FirstAndLast(200), EvenPairs())
    assert list(found) == list(LENGTHS)
    assert all(accuracy == (length <= 200) for length, accuracy in found.items())
    right = sum(length <= 200 for length in LENGTHS)
    assert mean_accuracy(found) == pytest.approx(100 * right / len(LENGTHS))


def test_the_lengths_are_the_benchmarks() -> None:
    assert (LENGTHS[0], LENGTHS[-1], len(LENGTHS)) == (41, 500, 52)
    assert {length % 2 for length in LENGTHS} == {0, 1}
    assert ReverseString().max_length == 40


def test_every_task_has_an_experiment_and_published_scores() -> None:
    for task in ALL:
        experiment = read_experiment(
            FOLDER / "src" / "ntm_chomsky" / "experiments" / f"{task.name}.toml"
        )
        assert experiment.task == task.name
        assert all("task" not in plan.tuned for plan in experiment.networks.values())
    assert list(published_scores()) == [task.name for task in ALL]


def test_scores_are_written_and_read(tmp_path: Path) -> None:
    write_scores([SCORE, replace(SCORE, seed=101)], tmp_path / "scores.csv")
    assert [found.seed for found in read_scores(tmp_path / "scores.csv")] == [100, 101]
    assert read_scores(tmp_path / "scores.csv")[0] == replace(SCORE, seconds=12)


def test_the_table_has_maximum_and_median_and_rounds_down() -> None:
    low = [
        replace(SCORE, seed=seed, accuracy=accuracy) for seed, accuracy in ((101, 40), (102, 70))
    ]
    row = markdown([SCORE, *low]).splitlines()[2]
    ours = "| regular | `even-pairs` | ntm-ff | 99.9 | 70 | 3 | 64 -> 640 | 30,000 | 0.2 |"
    assert row == f"{ours} 100 | 100 | 100 | 96.4 | 100 |"


def test_the_table_says_that_a_baseline_has_no_memory() -> None:
    baseline = replace(SCORE, model="lstm", trained_locations=0, locations=0)
    rows = markdown([baseline, SCORE]).splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == ["lstm", "ntm-ff"]
    assert [row.split(" | ")[6] for row in rows] == ["none", "64 -> 640"]


def test_the_published_table_is_made_from_the_scores() -> None:
    page = (FOLDER.parent / "docs" / "chomsky.md").read_text(encoding="utf-8")
    table = page.partition("<!-- scores -->\n")[2].partition("\n<!-- end of scores -->")[0]
    assert table.strip() == markdown(read_scores(FOLDER / "scores.csv")).strip()
