"""Write examples for a tutorial: binary sums, lowest digit first, such as 110+01 -> 101.

python examples/make_sums.py sums.jsonl --longest 8
python examples/make_sums.py longer.jsonl --shortest 16 --longest 16 --lines 500
"""

import argparse
import json
import random
from pathlib import Path


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--shortest", type=int, default=1, help="fewest digits of a number")
    parser.add_argument("--longest", type=int, default=8, help="most digits of a number")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with options.file.open("w") as file:
        for _ in range(options.lines):
            digits = chance.randint(options.shortest, options.longest)
            a, b = (chance.getrandbits(digits) for _ in range(2))
            example = {"input": f"{lowest_first(a, digits)}+{lowest_first(b, digits)}"}
            file.write(json.dumps(example | {"target": lowest_first(a + b, digits + 1)}) + "\n")


def lowest_first(number: int, digits: int) -> str:
    """Return the binary digits of a number, the lowest first."""
    return f"{number:0{digits}b}"[::-1]


if __name__ == "__main__":
    main()
