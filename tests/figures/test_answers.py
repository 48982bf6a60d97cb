"""Figures 4, 5 and 8: targets above outputs, and marks under what is wrong."""

import numpy as np
import torch
from matplotlib.axes import Axes
from tests.hand_made import sample

from ntm import figures
from ntm.figures import Answer
from ntm.tasks import Copy

from .examples import answers


def pictures(axes: list[Axes]) -> list[np.ndarray]:
    return [np.asarray(ax.images[0].get_array()) for ax in axes if ax.images]


def test_an_answer_is_the_scored_steps_as_probabilities() -> None:
    batch = sample(Copy(bits=3, min_length=4, max_length=4), 2)
    logits = torch.randn(batch.targets.shape)
    answer = Answer.of("four", batch, logits)
    np.testing.assert_array_equal(answer.targets, batch.targets[5:, 0])
    np.testing.assert_allclose(answer.outputs, torch.sigmoid(logits[5:, 0]))


def test_wrong_steps_have_a_bit_on_the_wrong_side() -> None:
    targets = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    outputs = np.array([[0.4, 0.6], [0.6, 0.6], [0.9, 0.2]])
    assert list(Answer("", targets, outputs).wrong) == [1, 2]


def test_targets_stand_above_outputs_and_marks_below() -> None:
    made = answers(4, 8, 30)
    figure = figures.draw_answers("LSTM: copies", [made[:-1], made[-1:]])
    assert figure.get_suptitle() == "LSTM: copies"
    assert len(figure.axes) == 9
    for number, answer in enumerate(made):
        above, below, marks = figure.axes[3 * number : 3 * number + 3]
        assert above.get_title("left") == f"length {len(answer.targets)}"
        assert above.get_position().y0 > below.get_position().y1 > marks.get_position().y1
        drawn = pictures([above, below])
        np.testing.assert_array_equal(drawn[0], answer.targets.T)
        np.testing.assert_array_equal(drawn[1], answer.outputs.T)
        (segments,) = marks.collections
        assert [path.vertices[0, 0] for path in segments.get_paths()] == [len(answer.targets) // 2]
        assert marks.get_xlim() == above.get_xlim() == (-0.5, len(answer.targets) - 0.5)


def test_the_longest_copy_has_a_line_of_its_own() -> None:
    figure = figures.draw_answers("NTM", [answers(4, 8), answers(30)])
    tops = [figure.axes[number].get_position() for number in (0, 3, 6)]
    assert tops[0].y0 == tops[1].y0 > tops[2].y0
    assert tops[1].width > 1.9 * tops[0].width
    assert len(figures.draw_answers("NTM", [answers(4)]).axes) == 3


def test_repeats_stand_one_below_the_other() -> None:
    figure = figures.draw_answers("Repeats", [[answer] for answer in answers(30, 30)])
    assert figure.get_suptitle() == "Repeats"
    assert len(pictures(figure.axes)) == 4
    assert figure.axes[0].get_position().y0 > figure.axes[3].get_position().y1
    assert {ax.get_ylabel() for ax in figure.axes} >= {"targets", "outputs"}
    assert figure.legends[0].get_texts()[0].get_text() == "vector with a wrong bit"
