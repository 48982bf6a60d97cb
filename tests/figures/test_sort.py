"""Figures 16 and 17: vectors with their priorities, and where they are written and read."""

import numpy as np

from ntm.paper.priority_sort.figures import sort_example, sort_memory_use
from ntm.paper.priority_sort.heads import LinearFit
from ntm.tasks import PrioritySort

from .examples import sorting
from .test_memory_use import panels_of, values


def test_the_example_shows_the_problem_and_its_answer() -> None:
    recording = sorting()
    task, batch = recording.task, recording.batch
    assert isinstance(task, PrioritySort)
    figure = sort_example(task, batch)
    parts = panels_of(figure)
    np.testing.assert_array_equal(values(parts["Inputs"]), batch.inputs[:8, 0, :4].T)
    np.testing.assert_array_equal(values(parts["Targets"]), batch.targets[-6:, 0].T)
    left, right = figure.axes[2], figure.axes[3]
    heights = [bar.get_height() for bar in left.patches]
    np.testing.assert_allclose(heights, batch.inputs[:8, 0, 4])
    assert [bar.get_height() for bar in right.patches] == sorted(heights, reverse=True)[:6]
    assert left.get_ylabel() == "priority"
    pale = [bar.get_facecolor() for bar in left.patches if bar.get_height() in sorted(heights)[:2]]
    assert len(set(pale)) == 1
    assert pale[0] not in {bar.get_facecolor() for bar in right.patches}


def test_fit_writes_and_reads_stand_side_by_side() -> None:
    recording = sorting()
    fit = LinearFit(slope=-20.0, intercept=30.0, cut=0, r_squared=0.987)
    figure = sort_memory_use(recording, fit)
    parts = panels_of(figure)
    assert list(parts) == ["Linear function of the priority", "Write weightings", "Read weightings"]
    fitted, written, read = (values(ax) for ax in parts.values())
    # The hand-made program writes exactly where this fit says.
    np.testing.assert_array_equal(fitted, written)
    label = parts["Linear function of the priority"].yaxis.get_major_formatter()
    rows = [int(label(row, None)) for row in range(len(written))]
    trace = recording.trace
    np.testing.assert_array_equal(written, trace.write_weightings[:8, 0, 0][:, rows].T)
    np.testing.assert_array_equal(read, trace.read_weightings[-6:, 0, 0][:, rows].T)
    assert "0.99" in figure.get_suptitle()
    assert [ax.get_xlabel() for ax in parts.values()] == ["input vector", "input vector", "answer"]
