"""A trace as text: the problem, the answer, and the location of every head."""

from ntm.studio.documents import answered, channel_names
from ntm.tasks import drawing
from ntm.tasks.drawing import Row
from ntm.trace import Array, Trace

# A head whose largest weight is below this is drawn as spread out.
_IN_A_PLACE = 0.5


def as_text(trace: Trace) -> str:
    """Draw a trace of one sequence as text.

    Time runs to the right. The row of a head shows the location with the largest weight as a bar:
    the bar grows from each location to the next, and starts again after eight locations. A dot
    means that the head spreads over many locations.
    """
    inputs, outputs = channel_names(trace)
    rows = drawing.channels("input", inputs, trace.inputs[:, 0].T.tolist())
    logits = trace.outputs[:, 0].T.tolist()
    if trace.targets is None or trace.mask is None:
        said = [[float(logit > 0) for logit in channel] for channel in logits]
        rows += drawing.channels("output", outputs, said)
    else:
        targets, scored = trace.targets[:, 0].T.tolist(), trace.mask[:, 0].tolist()
        rows += drawing.answers(outputs, targets, scored, logits)
    for kind, weightings in (("write", trace.write_weightings), ("read", trace.read_weightings)):
        rows += [
            Row(kind, f"head {head + 1}", _walk(weightings[:, 0, head]))
            for head in range(weightings.shape[2])
        ]
    return f"{_heading(trace)}\n\n{drawing.fold(rows)}"


def _walk(weighting: Array) -> str:
    """Return the location of a head at every step, from its weighting (steps, locations)."""
    places, weights = weighting.argmax(axis=1).tolist(), weighting.max(axis=1).tolist()
    bars = [drawing.BARS[place % len(drawing.BARS)] for place in places]
    cells = zip(bars, weights, strict=True)
    return "".join(bar if weight >= _IN_A_PLACE else drawing.ZERO for bar, weight in cells)


def _heading(trace: Trace) -> str:
    cost, wrong = answered(trace)
    title = str(trace.about.get("title") or "trace")
    if wrong is None:
        return title
    bits = "not finite" if cost is None else f"{cost:.4f} bits"
    return f"{title}: {wrong or 'no'} wrong bit{'' if wrong == 1 else 's'}, cost {bits}"
