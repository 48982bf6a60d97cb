"""JavaScript files that Python writes, so that a fact has one owner.

`make facts` writes the files, and a test checks that they are up to date.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from textwrap import fill, indent
from typing import Any, Literal, get_args

from pydantic import TypeAdapter
from tests.site.shapes import SIZES, parameter_sizes

from ntm.config import ControllerKind, Initialisation, NTMConfig, ShiftMode
from ntm.description import NTM_ARRAYS, HeadKind, Role
from ntm.models import MODELS
from ntm.models.optimiser import SETTINGS
from ntm.runs.sections import OptimiserSettings, TrainingSettings
from ntm.runs.stream import SMALLEST_BLOCK
from ntm.start import CONSTANT_START
from ntm.studio import documents, schemas
from ntm.studio.problems import drawable, schema
from ntm.tasks import TASKS
from ntm.tasks.problems import PartKind

PACKAGE = Path(__file__).parents[2] / "src" / "ntm"
_OWNER = "written by `make facts` from the Python package."
# The axes of a trace as JavaScript.
_AXES = {
    "output": "c.output_size",
    "unit": "c.controller_size",
    "read head": "c.read_heads",
    "write head": "c.write_heads",
    "shift": "c.shifts.length",
    "location": "c.memory_locations",
    "width": "c.memory_width",
}
_AXES_OF_TASKS = sorted({axis for task in TASKS.values() for axis in task.axes})
_WORDS = {
    "Axis": Literal[tuple(_AXES_OF_TASKS)],
    "HeadKind": HeadKind,
    "PartKind": PartKind,
    "Role": Role,
    "RunState": schemas.RunState,
}
_NETWORKS = (NTMConfig, Initialisation, OptimiserSettings, TrainingSettings)
_PAGE = (
    *(schemas.SizeRange, schemas.FormPart, schemas.ProblemForm, schemas.Limits),
    *(schemas.NetworkListed, schemas.RunListed, schemas.RunsAnswer, schemas.FolderAnswer),
    *(schemas.Curve, schemas.RunName, schemas.Deleted),
    *(schema(TASKS[name]()) for name in drawable()),
)
_SECOND = ".layers.1."
_NUMBERS = ("integer", "number")


def files() -> dict[Path, str]:
    """Return the content of every file."""
    return {
        PACKAGE / "engine/web/facts.js": _engine(),
        PACKAGE / "studio/static/facts.js": _studio(),
        PACKAGE / "engine/web/python.d.ts": _declarations({}, _NETWORKS),
        PACKAGE / "studio/static/python.d.ts": _declarations(_WORDS, _PAGE),
        PACKAGE / "site/static/python.d.ts": _declarations({}, map(TASKS.get, drawable())),
    }


_ENGINE = """\
/** Facts about networks, {owner} */

/** @import {{ NTMConfig }} from "./python.d.ts" */
/** @typedef {{[string, number[]][]}} Shapes names and shapes, in order */

/** The sizes of a config; each is at least 1. */
export const SIZES = /** @type {{const}} */ ({sizes});
export const CONTROLLERS = {controllers};
export const SHIFT_MODES = {shift_modes};
/** The command line's model for each controller. */
export const MODELS = {models};

/** The defaults of the optimiser, which are the paper's. */
export const PAPER = Object.freeze({optimiser});
/** The settings of an update after the learning rate, in the engine's order. */
export const RMSPROP = /** @type {{const}} */ ({rmsprop});

/** Number of sequences in the smallest block of training data. */
export const SMALLEST_BLOCK = {block};
/** Value of a constant start memory. */
export const CONSTANT_START = {start};

/**
 * The shapes of a controller's layers above the first.
 * @param {{NTMConfig}} c
 * @param {{(layer: number) => Shapes}} shapesOf
 */
function layersAbove(c, shapesOf) {{
  return Array.from({{ length: c.controller_layers - 1 }}, (_, i) => shapesOf(i + 1)).flat();
}}

/**
 * Names and shapes of all parameters by controller, in the order of Python's `state_dict`.
 * @type {{Record<NTMConfig["controller"], (c: NTMConfig, shiftOutputs: number) => Shapes>}}
 */
export const PARAMETERS = {{
{parameters}
}};

/**
 * Names of all arrays of a trace, and their shapes after time and batch, in the engine's order.
 * @type {{(c: NTMConfig) => Shapes}}
 */
export const traceArrays = (c) => [
{arrays}
];
"""

_STUDIO = """\
/** Facts about traces and runs, {owner} */

/** @import {{ ArrayDocument }} from "./types.d.ts" */

/** The format of a trace document. */
export const TRACE_FORMAT = {format};
/**
 * Description of the arrays of an NTM's heads; see ntm.description.
 * @type {{ArrayDocument[]}}
 */
export const NTM_ARRAYS = [
{arrays}
];
/** States of a run. */
export const RUN_STATES = {states};
/** Defaults and limits of the form that starts a run. */
export const RUN_FORM = {form};
"""


def _engine() -> str:
    kinds = get_args(ControllerKind)
    axes = {"outputs": ("output",)} | {array.name: array.axes for array in NTM_ARRAYS}
    arrays = ((name, [_AXES[axis] for axis in listed]) for name, listed in axes.items())
    ntms = (family for family in MODELS.values() if family.config is NTMConfig)
    return _ENGINE.format(
        owner=_OWNER,
        sizes=_listed(SIZES),
        controllers=json.dumps(kinds),
        shift_modes=json.dumps(get_args(ShiftMode)),
        models=_record({family.fixed["controller"]: family.name for family in ntms}),
        optimiser=_record(asdict(OptimiserSettings())),
        rmsprop=json.dumps(SETTINGS),
        block=SMALLEST_BLOCK,
        start=CONSTANT_START,
        parameters="\n".join(
            f"  {kind}: (c, shiftOutputs) => [\n{_rows(kind)}\n  ]," for kind in kinds
        ),
        arrays="\n".join(f"  {_row(name, sizes)}," for name, sizes in arrays),
    )


def _rows(controller: str) -> str:
    """The parameters of a network with such a controller; all layers above the first are alike."""
    lines = []
    for is_above, rows in groupby(parameter_sizes(controller).items(), lambda r: _SECOND in r[0]):
        if is_above:
            lines.append("    ...layersAbove(c, (layer) => [")
            lines += [f"      {_row(name, sizes)}," for name, sizes in rows]
            lines.append("    ]),")
        else:
            lines += [f"    {_row(name, sizes)}," for name, sizes in rows]
    return "\n".join(lines)


def _row(name: str, sizes: list[str]) -> str:
    name = f"`{name.replace('.1.', '.${layer}.')}`" if _SECOND in name else json.dumps(name)
    return f"[{name}, [{', '.join(sizes)}]]"


def _studio() -> str:
    request = schemas.RunRequest.model_json_schema()["properties"]
    form = {
        name: {"value": request[name]["default"], **_bounds(request[name])}
        for name in ("seed", "sequences")
    }
    pattern = request["name"]["anyOf"][0]["pattern"].strip("^$")
    # A page reads patterns in a mode in which a dash is escaped.
    form["name"] = {
        "pattern": pattern.replace("_-]", "_\\-]"),
        "maxlength": 1 + int(re.findall(r"{0,(\d+)}", pattern)[0]),
    }
    return _STUDIO.format(
        owner=_OWNER,
        format=documents.FORMAT,
        arrays="\n".join(
            f"  {_literal(documents.described(array))}," for array in NTM_ARRAYS if array.head
        ),
        states=json.dumps(get_args(schemas.RunState)),
        form=_record(form),
    )


def _bounds(schema: dict[str, Any]) -> dict[str, int]:
    return {"min": schema["minimum"], "max": schema["maximum"]}


def _declarations(words: Mapping[str, Any], records: Iterable[type]) -> str:
    types = [
        f"\nexport type {name} = {_type(TypeAdapter(kind).json_schema())};\n"
        for name, kind in words.items()
    ]
    return f"/** Types of data, {_OWNER} */\n{''.join(types)}{''.join(map(_interface, records))}"


def _interface(kind: type) -> str:
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    lines = [f"  {name}: {_type(part)};" for name, part in schema["properties"].items()]
    return "\n".join([f"\nexport interface {kind.__name__} {{", *lines, "}\n"])


def _type(schema: dict[str, Any]) -> str:
    """A JSON schema as a type."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if schema["type"] == "array":
        item = _type(schema["items"])
        item = f"({item})" if " | " in item else item
        pair = schema.get("minItems") == schema.get("maxItems") == 2
        return f"[{item}, {item}]" if pair else f"{item}[]"
    if schema["type"] == "object":
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return "number" if schema["type"] in _NUMBERS else str(schema["type"])


def _listed(names: Iterable[str]) -> str:
    """A list, one line for every few names."""
    lines = fill(json.dumps(list(names))[1:-1], 90, break_on_hyphens=False)
    return f"[\n{indent(lines, '  ')},\n]"


def _record(values: Mapping[str, Any]) -> str:
    lines = "".join(f"  {name}: {_literal(value)},\n" for name, value in values.items())
    return f"{{\n{lines}}}"


def _literal(value: Any) -> str:
    if not isinstance(value, Mapping):
        return json.dumps(value)
    return f"{{ {', '.join(f'{name}: {_literal(part)}' for name, part in value.items())} }}"


if __name__ == "__main__":
    for file, content in files().items():
        file.write_text(content, encoding="utf-8")
