"""Tests of trained networks far beyond the paper: longer copies and recalls, larger memories.

    python benchmarks/beyond.py

Prints tables in Markdown. The networks come with the package. In training they never saw these
lengths, numbers of items or memory sizes.
"""

from ntm import NTM, pretrained
from ntm.evaluation import evaluate
from ntm.tasks import Copy

LENGTHS = ((120, 128), (120, 256), (200, 512), (500, 1024), (1000, 1024), (1000, 2048))
ITEMS = (6, 10, 15, 20, 25, 30)
BITS = (50, 100, 200, 400)
LOCATIONS = (128, 256, 512)
COPIES, RECALLS, SOURCES, SEED = 40, 200, 200, 3


def main() -> None:
    row("network", "length", "locations", "without a wrong bit", "mean bits")
    row(*["---"] * 5)
    for name in ("copy-ff", "copy-lstm"):
        for length, locations in LENGTHS:
            task = Copy().at(length=length)  # fair bits, as in the paper
            found = evaluate(with_memory(name, locations), task, COPIES, SEED, batch_size=20)
            perfect, bits = f"{found.perfect:.1%}", f"{found.mean_bits:.2f}"
            row(name, f"{length:,}", f"{locations:,}", perfect, bits)
    print()
    row("locations", *(f"{items} items" for items in ITEMS))
    row(*["---"] * (1 + len(ITEMS)))
    for locations in LOCATIONS:
        row(str(locations), *(recalled(locations, items) for items in ITEMS))
    print()
    row("network", "locations", *(f"{bits} bits" for bits in BITS))
    row(*["---"] * (2 + len(BITS)))
    for name in ("ngrams-ff", "ngrams-lstm"):
        for locations in LOCATIONS:
            row(name, str(locations), *(in_excess(name, locations, bits) for bits in BITS))


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def recalled(locations: int, items: int) -> str:
    name = "associative-recall-ff"
    task = pretrained.settings(name).task.at(items=items)
    found = evaluate(with_memory(name, locations), task, RECALLS, SEED)
    return f"{found.mean_bits:.2f} ({found.perfect:.1%})"


def in_excess(name: str, locations: int, bits: int) -> str:
    task = pretrained.settings(name).task.at(length=bits)
    found = evaluate(with_memory(name, locations), task, SOURCES, SEED)
    return f"{found.bits_above_optimal:.2f}"


def with_memory(name: str, locations: int) -> NTM:
    return NTM.from_pretrained(name).resized(locations)


if __name__ == "__main__":
    main()
