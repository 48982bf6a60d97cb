"""How fast it is, as ratios measured in one run: what `ntm bench` does.

    from ntm.bench import run_bench
    results = run_bench(["speedup", "threads"])

Nothing is reported unless both engines compute the same numbers; see `equivalence`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.bench.results import BenchResults
    from ntm.bench.sections import BenchEffort

SECTIONS = ("speedup", "sgemm", "growth", "threads", "overhead")


def run_bench(
    sections: Sequence[str] = SECTIONS,
    effort: "BenchEffort | None" = None,
    note: Callable[[str], None] | None = None,
) -> "BenchResults":
    """Measure the named sections, in the order of `SECTIONS`.

    effort: how much to measure; None is a whole benchmark, `ntm.bench.sections.QUICK` a short one.
    note: called with what is being measured; optional.

    A RunError says why there is nothing to report: no native engine, or one that is wrong.
    """
    from ntm.bench.results import measure
    from ntm.bench.sections import BenchEffort

    return measure(sections, effort or BenchEffort(), note or (lambda _text: None))
