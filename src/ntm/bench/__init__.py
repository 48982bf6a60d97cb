"""Benchmarks of `ntm bench`: speeds as ratios measured in one run.

    from ntm.bench import run_bench
    results = run_bench(["speedup", "threads"])

A speed is reported only if both engines compute the same numbers; see `equivalence`.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.bench.sections import run_bench

__all__ = ["SECTIONS", "run_bench"]

SECTIONS = ("speedup", "threads", "layer")

__getattr__, __dir__ = lazily(__name__, {"ntm.bench.sections": ("run_bench",)})
