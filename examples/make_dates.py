"""Write examples for a tutorial: dates in words, and the same dates in digits.

python examples/make_dates.py dates.jsonl --lines 20000
"""

import argparse
import json
import random
from datetime import date, timedelta
from pathlib import Path

FORMS = ("%-d %B %Y", "%B %-d, %Y", "%-d %b %Y", "%d.%m.%Y")


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with options.file.open("w") as file:
        for _ in range(options.lines):
            day = date(1950, 1, 1) + timedelta(days=chance.randrange(100 * 365))
            example = {"input": day.strftime(chance.choice(FORMS)).lower(), "target": str(day)}
            file.write(json.dumps(example) + "\n")


if __name__ == "__main__":
    main()
