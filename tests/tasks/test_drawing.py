import math

from ntm.tasks import drawing
from ntm.tasks.drawing import BARS, ONE, ZERO, Row


def test_binary_channels_are_blocks_and_dots() -> None:
    assert drawing.values([1.0, 0.0, 1.0]) == ONE + ZERO + ONE


def test_real_channels_are_bars_from_the_lowest_to_the_highest() -> None:
    assert drawing.values([-0.5, 0.0, 0.01, 0.5]) == BARS[0] + ZERO + BARS[4] + BARS[7]


def test_bars_grow_with_the_value_and_stay_in_range() -> None:
    heights = [drawing.bar(value / 10, 0.0, 1.0) for value in range(-3, 14)]
    assert heights == sorted(heights)
    assert {heights[0], heights[-1]} == {BARS[0], BARS[-1]}
    assert drawing.bar(math.nan, 0.0, 1.0) == "?"


def test_targets_are_blank_where_not_scored() -> None:
    assert drawing.target([0, 0, 1], [0, 1, 1]) == " " + ZERO + ONE


def test_answers_show_wrong_bits_as_the_digit_that_was_said() -> None:
    logits = [3.0, 2.0, -1.0, 1.0, -1.0, math.nan]
    bits = [0, 1, 0, 0, 1, 1]
    scored = [0, 1, 1, 1, 1, 1]
    assert drawing.answer(logits, bits, scored) == " " + ONE + ZERO + "10?"


def test_carets_stand_under_wrong_steps_only() -> None:
    assert drawing.carets([ONE + ZERO + "1 ", "0" + ZERO + ONE + " "]) == "^ ^ "


def test_fold_aligns_rows_and_continues_in_panels() -> None:
    rows = [Row("input", "a", "abcdefg"), Row("input", "long", "1234567"), Row("x", "b", "ABCDEFG")]
    assert drawing.fold(rows, columns=4).split("\n") == [
        "input  a     abcd",
        "       long  1234",
        "x      b     ABCD",
        "",
        "input  a     efg",
        "       long  567",
        "x      b     EFG",
    ]
