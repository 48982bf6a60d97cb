"""Draw the badges of README.md: docs/images/badges.svg, from the facts in the repository.

python docs/make_badges.py

The tests run with the oldest and the newest version of each badge. No badge comes from another
server.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "badges.svg"
HEIGHT, LETTER, PADDING, GAP = 20, 6.6, 6, 6
_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img">
<title>{title}</title>
<style>text {{ font: 11px Verdana, DejaVu Sans, sans-serif; fill: #fff; }}</style>
"""
_BADGE = """<rect x="{x:.1f}" width="{name:.1f}" height="{height}" fill="#444"/>
<rect x="{middle:.1f}" width="{value:.1f}" height="{height}" fill="#1a6fb0"/>
<text x="{x_name:.1f}" y="14">{name_text}</text>
<text x="{x_value:.1f}" y="14">{value_text}</text>
"""


def facts() -> dict[str, str]:
    """Return what the badges say, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    kinds = project["classifiers"]
    pythons = [kind.split()[-1] for kind in kinds if re.search(r"Python :: 3\.\d+$", kind)]
    systems = sorted(kind.split()[-1] for kind in kinds if kind.startswith("Operating System"))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (torches,) = re.findall(r'torch: \["([\d.]+)", "([\d.]+)"\]', workflow)
    oldest, newest = (version.rpartition(".")[0] for version in torches)
    return {
        "Python": f"{pythons[0]} to {pythons[-1]}",
        "torch": f"{oldest} to {newest}",
        "runs on": ", ".join(systems).replace("MacOS", "macOS"),
        "licence": project["license"],
    }


def title() -> str:
    """Return the facts in one line, for readers who do not see the picture."""
    return "; ".join(f"{name} {value}" for name, value in facts().items())


def picture() -> str:
    """Return the badges as SVG, side by side."""
    badges, x = [], 0.0
    for name, value in facts().items():
        widths = [LETTER * len(text) + 2 * PADDING for text in (name, value)]
        places = {"x": x, "middle": x + widths[0], "name": widths[0], "value": widths[1]}
        texts = {"x_name": x + PADDING, "x_value": x + widths[0] + PADDING}
        words = {"name_text": name, "value_text": value, "height": HEIGHT}
        badges.append(_BADGE.format(**places, **texts, **words))
        x += sum(widths) + GAP
    return _HEAD.format(width=x - GAP, height=HEIGHT, title=title()) + "".join(badges) + "</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture())
