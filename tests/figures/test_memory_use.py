"""Figures 6, 9 and 12, and what a notebook shows: the right numbers at the right places."""

import sys

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from tests.hand_made import with_more_heads

from ntm import NTM, figures
from ntm.evaluation.recording import Recording
from ntm.figures.panels import attended_locations
from ntm.paper.associative_recall.figures import recall_memory_use

from .examples import copying, recalling, repeating

TITLES = ["Inputs", "Outputs", "Adds", "Reads", "Write weightings", "Read weightings"]


def panels_of(figure: Figure) -> dict[str, Axes]:
    return {ax.get_title("left"): ax for ax in figure.axes if ax.get_title("left")}


def values(ax: Axes) -> np.ndarray:
    """What an image shows, (rows, steps), NaN where it is blank."""
    return np.ma.filled(ax.images[0].get_array().astype(float), np.nan)


def boxes(ax: Axes, colour: str) -> list[tuple[int, int, int, int]]:
    """First and last step, first and last row of every frame of a colour."""
    found = []
    for patch in ax.patches:
        if isinstance(patch, Rectangle) and same_color(patch.get_edgecolor(), colour):
            x, y = patch.get_xy()
            width, height = patch.get_width(), patch.get_height()
            found.append(
                tuple(round(v) for v in (x + 0.5, x + width - 0.5, y + 0.5, y + height - 0.5))
            )
    return found


@pytest.mark.parametrize(
    ("make", "draw"),
    [
        (copying, figures.task_memory_use),
        (repeating, figures.task_memory_use),
        (recalling, recall_memory_use),
    ],
)
def test_the_six_panels_show_the_trace(make, draw) -> None:  # type: ignore[no-untyped-def]
    recording: Recording = make()
    trace, parts = recording.trace, panels_of(draw(recording))
    assert list(parts) == TITLES
    np.testing.assert_array_equal(values(parts["Inputs"]), trace.inputs[:, 0].T)
    np.testing.assert_array_equal(values(parts["Adds"]), trace.adds[:, 0, 0].T)
    np.testing.assert_array_equal(values(parts["Reads"]), trace.reads[:, 0, 0].T)
    expected = np.where(recording.scored[:, 0], trace.probabilities[:, 0].T, np.nan)
    np.testing.assert_array_equal(values(parts["Outputs"]), expected)


def test_weightings_are_those_of_the_numbered_locations() -> None:
    recording = copying()  # written from location 7 on; read from location 27 before the answer
    parts = panels_of(figures.task_memory_use(recording))
    for kind in ("write", "read"):
        ax = parts[f"{kind.capitalize()} weightings"]
        shown, weightings = values(ax), getattr(recording.trace, f"{kind}_weightings")[:, 0, 0]
        label = ax.yaxis.get_major_formatter()
        for row in range(len(shown)):
            location = int(label(row, None))
            np.testing.assert_array_equal(shown[row], weightings[:, location])
        assert ax.images[0].get_clim() == (0, 1)
    shown = [int(label(row, None)) for row in range(len(shown))]
    assert shown == list(range(7 - 2, 7 + 6 + 2 + 1))


def test_axes_and_channels_are_named() -> None:
    parts = panels_of(figures.task_memory_use(repeating()))
    assert [tick.get_text() for tick in parts["Inputs"].get_yticklabels()] == [
        "delimiter",
        "repeats",
    ]
    assert [parts[name].get_ylabel() for name in TITLES[::2]] == ["channel", "value", "location"]
    assert [parts[name].get_xlabel() for name in TITLES[4:]] == ["time step", "time step"]


def test_the_answer_is_set_apart() -> None:
    recording = copying()
    for ax in panels_of(figures.task_memory_use(recording)).values():
        (line,) = ax.lines
        assert line.get_xdata()[0] == recording.answer_start[0] - 0.5


def test_the_chosen_heads_are_shown() -> None:
    recording = with_more_heads(copying(), write_heads=3, read_heads=2, seed=1)
    alone, chosen = copying().trace, panels_of(figures.task_memory_use(recording, 2, 1))
    np.testing.assert_array_equal(values(chosen["Adds"]), alone.adds[:, 0, 0].T)
    np.testing.assert_array_equal(values(chosen["Reads"]), alone.reads[:, 0, 0].T)
    other = panels_of(figures.task_memory_use(recording, 0, 0))
    np.testing.assert_array_equal(values(other["Adds"]), recording.trace.adds[:, 0, 0].T)


def test_the_boxes_of_recall_frame_what_the_caption_says() -> None:
    # Four items of three vectors of four bits; found by the very steps of the hand-made program.
    recording = recalling()
    figure = recall_memory_use(recording)
    parts = panels_of(figure)
    green, red, black = (
        handle.get_color()
        for handle in figure.legends[0].legend_handles  # type: ignore[union-attr]
    )
    (queried, again), (answer,) = boxes(parts["Inputs"], green), boxes(parts["Inputs"], red)
    shown = values(parts["Inputs"])
    assert again == (17, 19, 0, 3)
    np.testing.assert_array_equal(
        shown[:4, queried[0] : queried[1] + 1], shown[:4, again[0] : again[1] + 1]
    )
    assert answer == (queried[0] + 4, queried[1] + 4, 0, 3)
    (said,) = boxes(parts["Outputs"], red)
    assert said == (21, 23, 0, 3)
    np.testing.assert_array_equal(
        recording.batch.targets[21:24, 0].T.numpy(), shown[:4, answer[0] : answer[1] + 1]
    )
    assert boxes(parts["Adds"], black) == [(answer[0] - 1, answer[0] - 1, 0, 11)]
    for name, steps in (("Write weightings", answer[:2]), ("Read weightings", said[:2])):
        ((first, last, top, bottom),) = boxes(parts[name], red)
        assert (first, last) == steps
        framed = values(parts[name])[top : bottom + 1, first : last + 1]
        np.testing.assert_array_equal(framed, np.eye(3))


def test_locations_that_matter_are_found_around_the_ring() -> None:
    weightings = np.zeros((2, 30))
    weightings[0, [28, 1]] = 1
    np.testing.assert_array_equal(attended_locations(weightings), [26, 27, 28, 29, 0, 1, 2, 3])
    np.testing.assert_array_equal(
        attended_locations(weightings, start=20, margin=0)[[0, -1]], [28, 1]
    )
    np.testing.assert_array_equal(
        attended_locations(weightings, start=0, margin=0), np.arange(1, 29)
    )
    np.testing.assert_array_equal(attended_locations(np.zeros((2, 5))), np.arange(5))
    np.testing.assert_array_equal(attended_locations(np.ones((2, 5)), start=3), [3, 4, 0, 1, 2])


@pytest.fixture
def net() -> NTM:
    torch.manual_seed(1)
    return NTM(3, 2, controller_size=5, memory_locations=7, memory_width=4, heads=2)


def test_a_notebook_shows_a_trace_as_a_picture(net: NTM) -> None:
    trace = net.trace(torch.rand(6, 3, 3), lengths=[2, 6, 0])
    picture = trace._repr_png_()
    assert picture == figures.png(figures.memory_use(trace.sequence(1)))
    assert picture.startswith(b"\x89PNG")


def test_a_trace_of_nothing_is_shown_as_text(net: NTM) -> None:
    assert net.trace(torch.rand(6, 2, 3), lengths=[0, 0])._repr_png_() is None


def test_without_matplotlib_a_trace_is_shown_as_text(
    net: NTM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ntm.figures", None)
    assert net.trace(torch.rand(2, 1, 3))._repr_png_() is None


def test_of_several_heads_the_sharpest_are_shown() -> None:
    recording = with_more_heads(copying(), write_heads=3, read_heads=2, seed=1)
    trace = recording.trace
    for name in ("write_weightings", "read_weightings"):
        weightings = getattr(trace, name)
        weightings[:, :, :-1] /= weightings[:, :, :-1].sum(axis=-1, keepdims=True)
    figure = figures.memory_use(trace)
    assert figure.get_suptitle() == "Write head 3 of 3, read head 2 of 2"
    np.testing.assert_array_equal(values(panels_of(figure)["Adds"]), trace.adds[:, 0, 2].T)
