"""Figures 14 and 15: predictions as strips, and marks where contexts recur."""

import numpy as np

from ntm.paper.ngrams.figures import ngram_inference, ngram_memory_use, recurring_contexts

from .examples import counting, predictions
from .test_memory_use import panels_of, values


def test_each_predictor_has_a_strip() -> None:
    bits, made = predictions()
    figure = ngram_inference(bits, made)
    strips = [ax for ax in figure.axes if ax.images]
    assert [ax.get_ylabel() for ax in strips] == ["bits", "optimal", "NTM"]
    for ax, expected in zip(strips, (bits, *made.values()), strict=True):
        np.testing.assert_array_equal(values(ax), expected[None])
        assert ax.images[0].get_clim() == (0, 1)
    assert strips[-1].get_xlabel() == "bit"


def test_arrows_point_at_the_largest_mistakes() -> None:
    bits, made = predictions()
    figure = ngram_inference(bits, made)
    (arrows,) = figure.axes[2].collections
    assert sorted(arrows.get_offsets()[:, 0]) == [20, 40]
    assert not figure.axes[1].collections


def test_the_optimal_predictor_may_stand_alone() -> None:
    bits, made = predictions()
    figure = ngram_inference(bits, {"optimal": made["optimal"]})
    assert not any(ax.collections for ax in figure.axes if ax.images)


def test_the_panels_show_the_trace() -> None:
    recording = counting()
    trace, parts = recording.trace, panels_of(ngram_memory_use(recording))
    assert list(parts) == ["Bits", "Predictions", "Adds", "Write weightings", "Read weightings"]
    np.testing.assert_array_equal(values(parts["Bits"]), trace.inputs[:, 0].T)
    np.testing.assert_array_equal(values(parts["Predictions"]), trace.probabilities[:, 0].T)
    np.testing.assert_array_equal(values(parts["Adds"]), trace.adds[:, 0, 0].T)
    assert values(parts["Read weightings"]).sum(axis=0).min() == 1


def test_contexts_are_marked_where_they_are_read_and_then_written() -> None:
    recording = counting()
    figure = ngram_memory_use(recording)
    parts, bits = panels_of(figure), recording.trace.inputs[:, 0, 0].astype(int)
    text = "".join(map(str, bits))
    for number, entry in enumerate(figure.legends[0].get_texts()):
        context = entry.get_text().split()[1].rstrip(":")
        seen = [t for t in range(2, len(text)) if text[t - 2 : t + 1] == context]
        assert len(seen) >= 4
        rings = parts["Read weightings"].collections[2 * number].get_offsets()
        assert list(rings[:, 0]) == seen
        # The hand-made program has one location for each context.
        assert len(set(rings[:, 1])) == 1
        later = parts["Write weightings"].collections[2 * number].get_offsets()
        assert list(later[:, 0]) == [t + 1 for t in seen if t + 1 < len(text)]


def test_contexts_that_recur_far_apart_are_preferred() -> None:
    context = np.array([-1, 5, 5, 5, 2, 1, 1, 3, 2, 1, 4, 3, 2, 9, 9, 3])
    assert recurring_contexts(context, visits=3) == [2, 3]
    assert recurring_contexts(np.array([1, 2, 3])) == []
