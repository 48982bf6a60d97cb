"""Data that Python writes, as TypeScript: the compiler compares it with the declared types.

python -m tests.site.typed_data build/types/data.ts
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from ntm import NTM
from ntm.site.catalogue import catalogue
from ntm.studio import guide, trace_document, traced
from ntm.tasks import Copy, NGrams, Task

_TYPES = """\
import type { Catalogue } from "../../src/ntm/site/static/types.d.ts";
import type { Guide, TraceDocument } from "../../src/ntm/studio/static/types.d.ts";
"""


def source() -> str:
    """Return a module with a value of every type."""
    values: list[tuple[str, Any]] = [
        ("Catalogue", catalogue()),
        ("Guide", guide.to_json()),
        *(("TraceDocument", document(task)) for task in (Copy(), NGrams())),
    ]
    lines = [
        f"export const value{number}: {kind} = {json.dumps(value)};\n"
        for number, (kind, value) in enumerate(values)
    ]
    return _TYPES + "".join(lines)


def document(task: Task) -> dict[str, Any]:
    """Return a trace document; a document of n-grams also has the best possible predictions."""
    net = NTM(task.input_size, task.output_size, memory_locations=5, engine="reference")
    return trace_document(traced(net, task.sample(1, torch.Generator()), task, "a title"))


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source(), encoding="utf-8")
