"""Rendering of pages from templates in the folder `templates` of a package."""

import html
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from ntm.terminal.table import Table


def rendered(template: str, *, package: str = "ntm.report", **values: Any) -> str:
    """Return a template filled in with the values; in HTML templates, text is escaped."""
    return _environment(package).get_template(template).render(values)


def as_html(text: str) -> Markup:
    """Convert text to safe HTML: backticks mark code, and a range "(1 to 5)" gets its own line."""
    coded = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return Markup(re.sub(r" (\([^()]* to [^()]*\))", r' <span class="range">\1</span>', coded))


def table_as_html(table: Table) -> Markup:
    """Return a table as an HTML element `figure`."""
    return Markup(rendered("table.html", table=table))


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"as_html": as_html, "as_table": table_as_html}
    return environment
