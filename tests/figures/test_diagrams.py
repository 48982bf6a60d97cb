"""Figures 1 and 2 speak the code's language."""

import torch
from matplotlib.figure import Figure
from matplotlib.text import Text

from ntm import addressing, memory
from ntm.addressing import Addressing, Focus
from ntm.config import NTMConfig
from ntm.figures import addressing_flow, architecture
from ntm.figures.diagrams import worked_example


def words(figure: Figure) -> set[str]:
    texts = [text.get_text() for text in figure.findobj(Text)]
    return {word.strip(",") for text in texts for word in text.split()}


def test_the_machine_is_drawn_in_the_names_of_the_code() -> None:
    drawn = words(architecture())
    assert drawn >= {"controller", "memory", "input", "output", "reads", *Focus._fields}
    assert drawn >= {memory.read.__name__, memory.erase.__name__, memory.add.__name__}


def test_sizes_are_those_of_the_config() -> None:
    config = NTMConfig(
        9, 8, controller="lstm", controller_size=37, controller_layers=2, memory_locations=53,
        memory_width=11, read_heads=5, write_heads=7,
    )  # fmt: skip
    texts = {text.get_text() for text in architecture(config).findobj(Text)}
    assert texts >= {"lstm, 2 x 37 units", "53 locations of 11 values", "5", "7"}


def test_the_flow_names_every_link_and_every_weighting() -> None:
    drawn = words(addressing_flow())
    chain = (addressing.focus_by_content, addressing.interpolate, addressing.rotate)
    assert drawn >= {link.__name__ for link in (*chain, addressing.sharpen)}
    assert drawn >= {*Focus._fields, *Addressing._fields, "memory", "previous"}


def test_the_bars_are_what_the_code_computes() -> None:
    example, figure = worked_example(), addressing_flow()
    heights = [
        [bar.get_height() for bar in inset.patches]
        for inset in figure.axes[0].child_axes
        if inset.patches
    ]
    for weighting in (*example.result, example.previous, example.focus.shift):
        assert weighting.flatten().tolist() in heights
    assert int(example.result.content.argmax()) == 8
    assert int(example.result.weighting.argmax()) == 9
    torch.testing.assert_close(example.result.weighting.sum(), torch.tensor(1.0))
