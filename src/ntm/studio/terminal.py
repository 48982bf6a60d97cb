"""A trace as text: the problem, the answer, and where every head was."""

from ntm.studio.documents import answered, channel_names
from ntm.tasks import drawing
from ntm.tasks.drawing import Row
from ntm.trace import Array, Trace

# A head that puts less of its weight than this on any one location is in no place.
_IN_A_PLACE = 0.5


def as_text(trace: Trace) -> str:
    """A trace of one sequence as a picture of text.

    Time runs to the right. The row of a head shows the location it uses most, as a bar that grows
    from each location to the next and starts again after eight; a dot where it spreads over many.
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
    """Where a head was at every step, (steps, locations)."""
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
