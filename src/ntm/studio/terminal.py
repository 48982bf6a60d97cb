"""A trace as text: the problem, the answer, and the location of every head."""

from ntm.description import HeadKind
from ntm.studio.documents import answered, channel_names
from ntm.tasks import pictures
from ntm.tasks.base import mistakes
from ntm.tasks.pictures import Row
from ntm.trace import Array, Trace

# A head whose largest weight is below this is drawn as spread out.
_IN_A_PLACE = 0.5


def as_text(trace: Trace) -> str:
    """Draw a trace of one sequence as text.

    Time runs to the right. The height of a bar in the row of a head is the location with the
    largest weight, modulo 8: a bar that is one step taller means the next location. A dot means
    that the head spreads over many locations.
    """
    inputs, outputs = channel_names(trace)
    draw_inputs = pictures.INPUTS[trace.input_kind]
    rows = draw_inputs("input", inputs, trace.inputs[:, 0].T.tolist())
    rows += _answer(trace, outputs)
    kinds: tuple[HeadKind, ...] = ("write", "read")
    for kind in kinds:
        weightings = trace.weightings(kind)
        rows += [
            Row(kind, f"head {head + 1}", _walk(weightings[:, 0, head]))
            for head in range(weightings.shape[2])
        ]
    return f"{_heading(trace)}\n\n{pictures.fold(rows)}"


def _answer(trace: Trace, names: list[str]) -> list[Row]:
    """Return the rows of the outputs, with rows of the targets if the trace has targets."""
    kind, logits = trace.output_kind, trace.outputs[:, 0].T.tolist()
    if trace.targets is None or trace.mask is None:
        probabilities = trace.probabilities[:, 0].T
        said = probabilities if kind == "symbols" else (probabilities > 0.5)
        rows = pictures.INPUTS[kind]("output", names, said.astype(float).tolist())
        return rows if trace.mask is None else [_where(row, trace.mask[:, 0]) for row in rows]
    targets, scored = trace.targets[:, 0].T.tolist(), trace.mask[:, 0].tolist()
    return pictures.ANSWERS[kind](names, targets, scored, logits)


def _where(row: Row, mask: Array) -> Row:
    """Return a row with blanks at the steps that are not part of an answer."""
    cells = zip(row.cells, mask, strict=True)
    return row._replace(cells=[cell if counts else pictures.BLANK for cell, counts in cells])


def _walk(weighting: Array) -> str:
    """Return one character per step for the location of a head; weighting: (steps, locations)."""
    places, weights = weighting.argmax(axis=1).tolist(), weighting.max(axis=1).tolist()
    bars = [pictures.BARS[place % len(pictures.BARS)] for place in places]
    cells = zip(bars, weights, strict=True)
    return "".join(bar if weight >= _IN_A_PLACE else pictures.ZERO for bar, weight in cells)


def _heading(trace: Trace) -> str:
    cost, wrong = answered(trace)
    title = str(trace.about.get("title") or "trace")
    if wrong is None:
        return title
    bits = "not finite" if cost is None else f"{cost:.4f} bits"
    return f"{title}: {mistakes(wrong, trace.output_kind)}, cost {bits}"
