"""One file with everything in it, which asks nobody for anything."""

import base64
import hashlib
import html
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from tests.site.node import NODE

from ntm import NTM
from ntm.studio import show, trace_document, traced
from ntm.studio.sharing import STYLE, VIEWER, as_html, joined_modules, static_folder
from ntm.tasks import Copy

TASK = Copy(bits=8)


class Page(HTMLParser):
    """The elements of a page: their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._within = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._within = "" if tag == self._within else self._within

    def handle_data(self, data: str) -> None:
        if self._within:
            self.texts[self._within][-1] += data


def run_script(text: str) -> str:
    """What node says when it runs a script."""
    words = [NODE, "--input-type=module", "--eval", text]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def document(length: int = 3, title: str = "a title") -> dict[str, object]:
    batch = TASK.at(length=length).sample(1, torch.Generator())
    return trace_document(traced(NTM(TASK.input_size, TASK.output_size), batch, TASK, title))


def test_the_policy_allows_exactly_what_is_in_the_file() -> None:
    page = Page(as_html(document()))
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    (style,), (_, script) = page.texts["style"], page.texts["script"]
    for kind, text in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy


def test_nothing_in_the_file_is_fetched_from_anywhere() -> None:
    text = as_html(document())
    page = Page(text)
    for tag, attributes in page.elements:
        assert not attributes.keys() & {"src", "href", "srcset", "style", "onload"}, tag
    addresses = set(re.findall(r"https?://[^\s\"'`)]*", text))
    assert all(address.startswith("http://www.w3.org/") for address in addresses)  # names of XML
    script = page.texts["script"][1]
    assert not re.search(
        r"^\s*(import|export)\b|\bimport\(|\bfetch\(|XMLHttp", script, re.MULTILINE
    )
    assert not re.search(r"@import|url\((?!['\"]?data:)", page.texts["style"][0])


def test_the_document_in_the_file_is_whole() -> None:
    shared = document()
    data = Page(as_html(shared)).texts["script"][0]
    assert json.loads(data) == json.loads(json.dumps(shared))


@pytest.mark.parametrize(
    "title", ["</title><script>alert(1)</script>", "<!--<script>", '"><img src=x>', "</script>"]
)
def test_no_title_breaks_out_of_the_file(title: str) -> None:
    page = Page(as_html(document(title=title)))
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "img" not in page.texts
    assert json.loads(page.texts["script"][0])["title"] == title


def test_a_copy_of_120_vectors_is_a_file_of_a_few_megabytes() -> None:
    assert len(as_html(document(120))) < 6_000_000


def test_the_viewers_modules_can_be_one_script() -> None:
    joined = joined_modules(static_folder(), VIEWER)
    assert "function mountViewer(" in joined
    assert "</script" not in joined.lower()
    assert "<!--" not in joined
    assert "</style" not in (static_folder() / STYLE).read_text().lower()


def test_modules_come_after_those_they_need_and_each_once(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(
        'import { b } from "./b.js";\nimport {\n  c,\n} from "./c.js";\nexport const a = b() + c;\n'
    )
    (tmp_path / "b.js").write_text(
        'import { c } from "./c.js";\n\nexport function b() { return 10 * c; }\n'
        "export async function d() {}\nexport class E {}\n"
    )
    (tmp_path / "c.js").write_text("export const c = 1; // export this\n")
    joined = joined_modules(tmp_path, "a.js")
    order = [joined.index(f"const ${name} = ") for name in ("c", "b", "a")]
    assert order == sorted(order)
    assert joined.count("// export this") == 1
    assert run_script(f"{joined}\nconsole.log($a.a, Object.keys($b).join());") == "11 b,d,E"


def test_modules_may_have_names_in_common_and_rename_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(
        'import { size as other } from "./my-own.js";\n'
        "const hidden = 1;\nexport const size = hidden + other;\n"
    )
    (tmp_path / "my-own.js").write_text("const hidden = 40;\nexport const size = hidden + 1;\n")
    joined = joined_modules(tmp_path, "a.js")
    assert run_script(f"{joined}\nconsole.log($a.size);") == "42"


def test_modules_that_need_one_another_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = 1;\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = 1;\n')
    with pytest.raises(ValueError, match=r"a\.js cannot be joined .*b\.js imports it too"):
        joined_modules(tmp_path, "a.js")


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        'import * as b from "./b.js";',
        'import b from "./b.js";',
        'import { b } from "https://example.com/b.js";',
        "export let a = 1;",
        "export { a };",
        'export * from "./b.js";',
    ],
)
def test_a_module_that_cannot_be_joined_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.js").write_text(f"const a = 1;\n{line}\n")
    (tmp_path / "b.js").write_text("const b = 1;\n")
    with pytest.raises(ValueError, match=r"a\.js cannot be joined"):
        joined_modules(tmp_path, "a.js")


def test_a_notebook_shows_the_same_page_in_a_frame_of_its_own(tmp_path: Path) -> None:
    net, batch = NTM(TASK.input_size, TASK.output_size), TASK.sample(1, torch.Generator())
    view = show(net, batch, TASK, height=500)
    (frame,) = Page(view._repr_html_()).elements
    assert frame[0] == "iframe"
    assert frame[1]["srcdoc"] == view.html()
    assert frame[1]["sandbox"] == "allow-scripts"
    assert "height: 500px" in (frame[1]["style"] or "")
    view.save(tmp_path / "trace.html")
    assert (tmp_path / "trace.html").read_text() == view.html()
    assert html.escape("copy") in view._repr_html_()
    assert show(traced(net, batch, TASK), height=500) == view
    with pytest.raises(ValueError, match="Give the network a problem"):
        show(net)
