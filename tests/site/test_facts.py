"""The files of the page that Python writes."""

from pathlib import Path

import pytest
from tests.site.facts import PACKAGE, files
from tests.site.shapes import parameter_sizes

from ntm import NTM
from ntm.config import NTMConfig


@pytest.mark.parametrize("file", files(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_that_python_writes_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == files()[file], "run `make facts`"


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_formulas_have_the_shapes_of_a_network(controller: str) -> None:
    layers = 2 if controller == "lstm" else 1
    config = NTMConfig(
        7, 3, controller, 11, layers, memory_locations=13, memory_width=5, read_heads=2,
        write_heads=4, shifts=(-1, 0, 1, 2),
    )  # type: ignore[arg-type]  # fmt: skip
    names = {"c": config, "shiftOutputs": config.shift_outputs}
    formulas = parameter_sizes(controller)
    shapes = {name: tuple(p.shape) for name, p in NTM.from_config(config).state_dict().items()}
    assert list(formulas) == list(shapes)
    for name, formula in formulas.items():
        assert tuple(eval(size, names) for size in formula) == shapes[name], name
