import math
import unicodedata
from collections.abc import Callable

import pytest

from ntm.tasks import pictures
from ntm.tasks.pictures import BARS, ONE, ZERO, Row


def test_binary_channels_are_blocks_and_dots() -> None:
    assert pictures.values([1.0, 0.0, 1.0]) == ONE + ZERO + ONE


def test_real_channels_are_bars_from_the_lowest_to_the_highest() -> None:
    assert pictures.values([-0.5, 0.0, 0.01, 0.5]) == BARS[0] + ZERO + BARS[4] + BARS[7]


def test_bars_grow_with_the_value_and_stay_in_range() -> None:
    heights = [pictures.bar(value / 10, 0.0, 1.0) for value in range(-3, 14)]
    assert heights == sorted(heights)
    assert {heights[0], heights[-1]} == {BARS[0], BARS[-1]}
    assert pictures.bar(math.nan, 0.0, 1.0) == "?"


def test_targets_are_blank_where_not_scored() -> None:
    assert pictures.target([0, 0, 1], [0, 1, 1]) == " " + ZERO + ONE


def test_answers_show_wrong_bits_as_the_digit_that_was_said() -> None:
    logits = [3.0, 2.0, -1.0, 1.0, -1.0, math.nan]
    bits = [0, 1, 0, 0, 1, 1]
    scored = [0, 1, 1, 1, 1, 1]
    assert pictures.answer(logits, bits, scored) == " " + ONE + ZERO + "10?"


def test_carets_stand_under_wrong_steps_only() -> None:
    assert pictures.carets([ONE + ZERO + "1 ", "0" + ZERO + ONE + " "]) == "^ ^ "


def test_fold_aligns_rows_and_continues_in_panels() -> None:
    rows = [Row("input", "a", "abcdefg"), Row("input", "long", "1234567"), Row("x", "b", "ABCDEFG")]
    assert pictures.fold(rows, columns=4).split("\n") == [
        "input  a     abcd",
        "       long  1234",
        "x      b     ABCD",
        "",
        "input  a     efg",
        "       long  567",
        "x      b     EFG",
    ]


def test_channels_of_one_value_are_binary_too() -> None:
    assert pictures.values([0.0, 0.0]) == ZERO * 2
    assert pictures.values([1.0, 1.0]) == ONE * 2
    assert pictures.values([1.0, 2.0]) == BARS[6] + BARS[7]


def test_bars_are_the_eight_heights_of_a_block() -> None:
    assert [unicodedata.name(character) for character in BARS] == [
        *(f"LOWER {part} BLOCK" for part in ("ONE EIGHTH", "ONE QUARTER", "THREE EIGHTHS")),
        *(f"LOWER {part} BLOCK" for part in ("HALF", "FIVE EIGHTHS", "THREE QUARTERS")),
        *("LOWER SEVEN EIGHTHS BLOCK", "FULL BLOCK"),
    ]


def test_a_hundred_steps_fit_into_a_panel() -> None:
    assert pictures.fold([Row("x", "a", "1" * 101)]) == f"x  a  {'1' * 100}\n\nx  a  1"


@pytest.mark.parametrize(
    "call",
    [
        lambda: pictures.target([0, 1], [1]),
        lambda: pictures.answer([0, 1], [1, 1], [1]),
        lambda: pictures.carets(["10", "1"]),
        lambda: pictures.channels("input", ["a"], [[0.0], [1.0]]),
        lambda: pictures.answers(["a"], [[0.0], [1.0]], [1], None),
        lambda: pictures.answers(["a"], [[0.0]], [1], [[0.0], [1.0]]),
    ],
)
def test_what_does_not_belong_together_is_not_drawn(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)"):
        call()
