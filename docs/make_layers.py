"""Draw the layers of the package: docs/images/layers.svg, from the contract in pyproject.toml.

python docs/make_layers.py

A layer is a package, several packages that do not import each other, or the files at the top of
src/ntm, which are section 3 of the paper. The sentence in each box is the first sentence of the
package's docstring.
"""

import ast
import html
import textwrap
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "layers.svg"
WIDTH, MARGIN, LINE, PADDING, GAP = 800, 10, 18, 8, 6
NAMES = 150
SECTION_3 = "Section 3 of the paper, one file per part, from the smallest to the whole step."


class Layer(NamedTuple):
    """One box of the picture."""

    names: tuple[str, ...]
    sentences: tuple[str, ...]


def contract() -> list[str]:
    """Return the layers of import-linter's contract, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (layers,) = settings["tool"]["importlinter"]["contracts"]
    return [layer for layer in layers["layers"] if layer != "__main__"]


def layers() -> list[Layer]:
    """Return the boxes of the picture; neighbouring files of section 3 share one box."""
    found: list[Layer] = []
    for line in contract():
        names = tuple(name.strip() for name in line.split("|"))
        if all((ROOT / "src" / "ntm" / name).is_dir() for name in names):
            found.append(Layer(names, tuple(map(sentence, names))))
        elif found and found[-1].sentences == (SECTION_3,):
            found[-1] = Layer(found[-1].names + names, (SECTION_3,))
        else:
            found.append(Layer(names, (SECTION_3,)))
    return found


def sentence(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    source = (ROOT / "src" / "ntm" / package / "__init__.py").read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return docstring.partition("\n\n")[0].replace("\n", " ").replace("`", "")


def picture() -> str:
    """Return the picture as SVG."""
    boxes, top = [], MARGIN
    for layer in layers():
        texts = [part for told in layer.sentences for part in textwrap.wrap(told, 96)]
        names = textwrap.wrap(", ".join(layer.names), 20)
        height = LINE * max(len(texts), len(names)) + 2 * PADDING
        boxes.append(
            f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{height}"/>'
        )
        boxes += _lines(names, MARGIN + PADDING, top, "name")
        boxes += _lines(texts, MARGIN + NAMES, top, "text")
        top += height + GAP
    return _HEAD.format(width=WIDTH, height=top - GAP + MARGIN) + "\n".join(boxes) + "\n</svg>\n"


def _lines(texts: list[str], x: int, top: int, kind: str) -> list[str]:
    return [
        f'<text class="{kind}" x="{x}" y="{top + PADDING + LINE * number + 13}">'
        f"{html.escape(text)}</text>"
        for number, text in enumerate(texts)
    ]


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="The layers of the package; each imports only from the layers below it">
<style>
rect {{ fill: #eef3f8; stroke: #0072b2; rx: 6px }}
text {{ font: 13px sans-serif; fill: #1a1a1a }}
.name {{ font-weight: bold; fill: #00507d }}
</style>
"""


if __name__ == "__main__":
    PICTURE.write_text(picture())
