"""Tables made from records with known numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.examples import made_up_record

from ntm.common.text import bits_text, percent, spread, wilson_interval
from ntm.paper import experiment_of, experiments, paper_settings
from ntm.report import tables
from ntm.report.groups import grouped
from ntm.report.records import RunRecord
from ntm.report.rendering import as_html, table_as_html
from ntm.terminal.table import Table

OPTIMUM = 131.89


def row(table: Table, number: int = 0) -> dict[str, str]:
    return dict(zip(table.header, table.rows[number], strict=True))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([3.0], "3.00"),
        ([2.0, 2.001], "2.00"),
        ([5.0, 1.0, 2.0], "2.00 (1.00 to 5.00)"),
        ([1.0, 2.0, 4.0, 900.0], "3.00 (1.00 to 900.0)"),
    ],
)
def test_median_and_range(values: list[float], text: str) -> None:
    assert spread(values, bits_text) == text


def test_the_trained_range() -> None:
    curve = [(1000, 4.0), (2000, 0.001), (3000, 5.0)]
    records = [
        made_up_record(seed=0, bits=0.25, latest=5.0, curve=curve, best_at=2000),
        made_up_record(seed=1, bits=0.125, latest=0.125, curve=[(1000, 4.0), (3000, 3.0)]),
        made_up_record(seed=2, bits=80.0, latest=90.0, curve=[(1000, 80.0), (3000, 80.0)]),
    ]
    table = tables.trained_range_table(experiment_of("copy"), grouped(records, "copy"))
    assert row(table) == {
        "network": "NTM, feedforward controller",
        "seeds": "0 to 2",
        "the paper": "0.000",
        "best weights": "0.2500 (0.1250 to 80.00)",
        "solved (95 % interval)": "0 of 3 (0 to 56 %)",
        "latest weights": "5.00 (0.1250 to 90.00)",
        "sequences to below 0.01": "2,000, 1 of 3 seeds",
        "in the paper": "65,000",
        "sequences seen": "3,000",
        "the paper there": "above 10.00",
        "time per run": "30 s",
        "command": "`ntm train copy --model ntm-ff --seed S`",
    }


def test_solved_counts_the_seeds_below_the_goal_however_long_they_take() -> None:
    """Goals may limit the sequences; a slow run has still solved the task."""
    bits = {"copy": (0.009, 0.011, 0.5), "ngrams": (0.9, 0.99, 1.01)}
    for task, costs in bits.items():
        records = [
            made_up_record(task, seed=seed, bits=cost, curve=[(900_000, cost)], best_at=900_000)
            for seed, cost in enumerate(costs)
        ]
        table = tables.trained_range_table(experiment_of(task), grouped(records, task))
        expected = {"copy": "1 of 3 (6 to 79 %)", "ngrams": "2 of 3 (21 to 94 %)"}[task]
        assert row(table)["solved (95 % interval)"] == expected


def test_how_much_was_measured_is_said() -> None:
    records = [made_up_record(), made_up_record(seed=1)]
    assert "over 1,000 fresh sequences" in tables.how_measured(records)
    records[0].evaluation["best"]["cases"][0]["sequences"] = 100
    assert "over 100 to 1,000 fresh sequences" in tables.how_measured(records)


def test_ngrams_are_above_the_optimum_throughout() -> None:
    curve = [(10_000, 140.0), (30_000, OPTIMUM + 0.9), (50_000, 132.0)]
    record = made_up_record("ngrams", "lstm", bits=0.75, curve=curve)
    table = tables.trained_range_table(experiment_of("ngrams"), grouped([record], "ngrams"))
    shown = row(table)
    assert shown["best weights"] == "0.7500"
    assert shown["solved (95 % interval)"] == ""  # a baseline has no goal
    assert shown["the paper"] == "4.06"
    assert shown["sequences to below 1"] == "30,000"
    assert "above the optimum" in table.note


def test_beyond_the_trained_range_with_the_papers_numbers() -> None:
    task = "associative-recall"
    at = {"10": 0.5, "15": 2.0, "20": 9.0}
    table = tables.beyond_table(
        experiment_of(task), grouped([made_up_record(task, bits=0.1, at=at)], task)
    )
    assert table is not None
    items = [f"items {n}" for n in (6, 8, 10, 12, 15, 20)]
    assert table.header[2:] == tuple(items)
    assert table.rows[0][1:] == ("bits, the paper", "0.025", "", "0.139", "", "1.47", "8.00")
    assert table.rows[1][1:] == (
        "bits, here", "0.1000", "0.1000", "0.5000", "0.1000", "2.00", "9.00",
    )  # fmt: skip
    assert set(table.rows[2][2:]) == {"25 %"}


def test_what_the_paper_gives_no_number_for_has_no_row_of_its_own() -> None:
    table = tables.beyond_table(experiment_of("copy"), grouped([made_up_record()], "copy"))
    assert table is not None
    assert [cells[1] for cells in table.rows] == ["bits, here", "without a wrong bit, here"]
    assert (
        tables.beyond_table(experiment_of("ngrams"), grouped([made_up_record("ngrams")], "ngrams"))
        is None
    )


def test_every_run_has_a_row_the_failed_ones_too() -> None:
    records = [made_up_record(seed=seed, bits=bits) for seed, bits in ((0, 0.5), (1, 170.0))]
    records += [made_up_record(model="lstm", bits=60.0)]
    table = tables.runs_table(experiment_of("copy"), grouped(records, "copy"))
    assert [cells[0] for cells in table.rows] == [
        "`copy-ntm-ff-0`", "`copy-ntm-ff-1`", "`copy-lstm-0`",
    ]  # fmt: skip
    assert row(table, 1)["best weights"] == "170.0"
    assert row(table, 1)["length 120"] == "170.0 (25 %)"


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.995, "99.5 %"), (0.0, "0 %")]
)
def test_nothing_is_rounded_up_to_perfect(share: float, text: str) -> None:
    assert percent(share) == text


def finding(value: float, verdict: str) -> dict[str, object]:
    return {
        "name": "reads in order", "claim": "in increasing order", "measures": "moves",
        "value": value, "verdict": verdict,
    }  # fmt: skip


def test_heads_over_seeds() -> None:
    records = [made_up_record("priority-sort", seed=seed) for seed in (0, 1, 2)]
    shown = [(0.95, "holds"), (0.2, "does not hold"), (0.6, "partly")]
    watched = [
        RunRecord(r.name, r.settings, r.curve, r.evaluation, {"findings": [finding(*some)]})
        for r, some in zip(records, shown, strict=True)
    ]
    (group,) = grouped(watched, "priority-sort")
    table = tables.heads_table(group)
    assert table is not None
    assert table.rows == [
        (
            "reads in order", '"in increasing order"', "moves", "0.600 (0.200 to 0.950)",
            "holds in 1 of 3",
        )
    ]  # fmt: skip
    (unwatched,) = grouped(records, "priority-sort")
    assert tables.heads_table(unwatched) is None


def test_settings_of_every_kind_of_network() -> None:
    records = [made_up_record(model=model) for model in ("ntm-lstm", "lstm")]
    table = tables.settings_table(grouped(records, "copy"))
    as_published = replace(records[1], settings=paper_settings("copy", "lstm"))
    plain = tables.settings_table(grouped([as_published], "copy"))
    assert row(plain, 0)["departures from the paper's settings"] == "none"
    assert row(table, 0)["sizes"] == "controller 100, memory 128 x 20, 1 + 1 heads"
    assert "`optimiser.halve_every=" in row(table, 0)["departures from the paper's settings"]
    assert "`training.bucketed=true`" in row(table, 1)["departures from the paper's settings"]
    assert row(table, 1)["sizes"] == "3 layers of 256"
    assert row(table, 1)["parameters, the paper"] == "1,352,969"


def reached(record: RunRecord) -> dict[str, str]:
    """By the goal's task and words, how many seeds reach it."""
    return {
        f"{cells[0]}: {cells[1]}": cells[-1].partition(" (")[0]
        for cells in tables.goals_table([record]).rows
    }


def test_goals_are_about_what_was_measured() -> None:
    for experiment in experiments():
        assert experiment.goals
        assert all(goal.at in experiment.cases for goal in experiment.goals)


@pytest.mark.parametrize(
    ("record", "by"),
    [
        (made_up_record(bits=0.009, curve=[(20_000, 0.5)]), "1 of 1"),
        (made_up_record(bits=0.01, curve=[(20_000, 0.5)]), "0 of 1"),
        # Trained for longer: the curve tells whether it was there in time.
        (made_up_record(bits=0.001, curve=[(20_000, 0.009), (40_000, 0.001)]), "1 of 1"),
        (made_up_record(bits=0.001, curve=[(20_000, 0.02), (40_000, 0.001)]), "0 of 1"),
    ],
)
def test_the_goal_for_copy(record: RunRecord, by: str) -> None:
    assert reached(record)["Copy, trained range: below 0.01 bits within 20,000 sequences"] == by


@pytest.mark.parametrize(("perfect", "by"), [(0.99, "1 of 1"), (0.989, "0 of 1")])
def test_the_goal_for_long_copies(perfect: float, by: str) -> None:
    shown = reached(made_up_record(perfect=perfect))
    assert shown["Copy, length 120: 99 % or more without a wrong bit"] == by


@pytest.mark.parametrize(("bits", "by"), [(1.47, "1 of 1"), (1.48, "0 of 1")])
def test_the_goal_for_recall_of_more_items(bits: float, by: str) -> None:
    shown = reached(made_up_record("associative-recall", at={"15": bits}))
    assert shown["Associative recall, items 15: at most the paper's 1.47 bits"] == by


def test_goals_count_seeds() -> None:
    records = [made_up_record("priority-sort", seed=s, bits=b) for s, b in ((0, 9.0), (1, 50.0))]
    (cells,) = tables.goals_table(records).rows
    assert cells[1:] == (
        "below 15 bits", "NTM, feedforward controller", "29.50 (9.00 to 50.00)",
        "1 of 2 (9 to 91 %)",
    )  # fmt: skip


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_has_every_share_that_the_count_does_not_contradict(
    counted: tuple[int, int],
) -> None:
    reached, count = counted
    low, high = wilson_interval(reached, count)
    assert 0 <= low <= reached / count + 1e-9
    assert reached / count - 1e-9 <= high <= 1
    # A share contradicts the count if the count is more than 1.96 standard deviations away.
    for share in np.linspace(0.001, 0.999, 37):
        away = abs(reached / count - share) / np.sqrt(share * (1 - share) / count)
        assert (low < share < high) == (away < 1.959964)


def test_a_table_as_markdown_and_as_html() -> None:
    table = Table("Title", ("name", "bits", "command"), [("a|b", "1 (0 to 2)", "`x < y`")])
    assert table.as_markdown().splitlines() == [
        "**Title**",
        "",
        "| name | bits | command |",
        "| --- | ---: | --- |",
        "| a\\|b | 1 (0 to 2) | `x < y` |",
    ]
    page = table_as_html(table)
    assert "<code>x &lt; y</code>" in page
    assert '<td class="number">1 <span class="range">(0 to 2)</span></td>' in page
    assert as_html('<b> & "') == "&lt;b&gt; &amp; &quot;"


def test_a_table_as_aligned_text() -> None:
    table = Table("Title", ("name", "bits"), [("a", "1,000"), ("longer", "2")], note="A note.")
    assert table.as_text().splitlines() == [
        "Title",
        "name     bits",
        "a       1,000",
        "longer      2",
        "A note.",
    ]
    assert Table("", (), [("a", "b"), ("cc", "d")], texts=2).as_text() == "a   b\ncc  d"
