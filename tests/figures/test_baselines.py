"""Every figure looks as it did when somebody last looked at it.

Compared without its words, which every release of matplotlib renders in its own way (other tests
read them), and a little blurred, since releases also differ by a fraction of a pixel. With
NTM_RENEW_BASELINES=1 in the environment this file draws the baselines anew; look at them.
"""

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.ticker import NullFormatter

from ntm import figures

from .examples import FIGURES

BASELINES = Path(__file__).parent / "baselines"
DPI = 45
# Root mean square over colours from 0 to 1. Between matplotlib 3.9 and 3.11 it is at most 0.04; a
# panel that is mirrored, or in other colours, makes 0.12.
TOLERANCE, BLUR = 0.06, 5


def pixels(content: bytes) -> np.ndarray:
    """The colours of a PNG, each the mean of a square around it."""
    sharp = imread(BytesIO(content), format="png")[:, :, :3]
    squares = np.lib.stride_tricks.sliding_window_view(sharp, (BLUR, BLUR), axis=(0, 1))
    return squares.mean(axis=(-2, -1))


def difference(first: np.ndarray, second: np.ndarray) -> float:
    assert first.shape == second.shape
    return float(np.sqrt(np.square(first - second).mean()))


def wordless(figure: Figure) -> bytes:
    """A figure as a small PNG without any text, which would also decide where the rest is."""
    for legend in figure.legends:
        legend.remove()
    for ax in figure.findobj(Axes):
        ax.xaxis.set_major_formatter(NullFormatter())
        ax.yaxis.set_major_formatter(NullFormatter())
    for text in figure.findobj(Text):
        text.set_text("")
        text.set_in_layout(False)
    return figures.png(figure, dpi=DPI)


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_looks_like_its_baseline(name: str, tmp_path: Path) -> None:
    drawn, baseline = wordless(FIGURES[name]()), BASELINES / f"{name}.png"
    if os.environ.get("NTM_RENEW_BASELINES"):
        baseline.write_bytes(drawn)
    found = difference(pixels(drawn), pixels(baseline.read_bytes()))
    if found > TOLERANCE:
        (tmp_path / baseline.name).write_bytes(drawn)
    assert found <= TOLERANCE, f"{tmp_path / baseline.name} differs from {baseline}"


def test_every_baseline_belongs_to_a_figure() -> None:
    assert {file.stem for file in BASELINES.iterdir()} == set(FIGURES)


def test_a_changed_figure_is_noticed() -> None:
    drawn = FIGURES["copy-memory-use"]()
    drawn.axes[4].images[0].set_data(drawn.axes[4].images[0].get_array()[:, ::-1])
    expected = pixels((BASELINES / "copy-memory-use.png").read_bytes())
    assert difference(pixels(wordless(drawn)), expected) > TOLERANCE


def test_equal_figures_are_equal_files(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        figures.save(FIGURES["sort-example"](), tmp_path / folder / "figure")
    for kind in ("png", "svg"):
        first, second = (tmp_path / folder / f"figure.{kind}" for folder in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


def test_saving_makes_the_folder_and_names_the_files(tmp_path: Path) -> None:
    figure = Figure(figsize=(1, 1))
    files = figures.save(figure, tmp_path / "new" / "v1.2", formats=("png", "svg"))
    assert files == [tmp_path / "new" / "v1.2.png", tmp_path / "new" / "v1.2.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[1].read_bytes()
