"""How fast it is, as ratios measured in one run: what `ntm bench` does.

    from ntm.bench import run_bench
    results = run_bench(["speedup", "threads"])

Nothing is reported unless both engines compute the same numbers; see `equivalence`.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.bench.results import run_bench

__all__ = ["SECTIONS", "run_bench"]

SECTIONS = ("speedup", "sgemm", "growth", "threads", "overhead")

__getattr__, __dir__ = lazily(__name__, {"ntm.bench.results": ("run_bench",)})
