"""Start-up times: imports, and `ntm train copy` up to its first lines.

    python benchmarks/overhead.py

Every measurement is a new process, and the measurements take turns over several rounds. The time
runs from the start of the process to its end, or to the arrival of the line.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from ntm.bench.timing import Quartiles


def seconds_of(*arguments: str) -> float:
    """Return the seconds from the start to the end of a Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def seconds_to_line(holding: str) -> float:
    """Return the seconds from the start of `ntm train copy` to the first line with this text."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ntm", "train", "copy", "--run", f"{folder}/run"]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if holding in line:
                    break
            taken = time.perf_counter() - start
            process.terminate()
            process.communicate()
    return taken


WORK: dict[str, Callable[[], float]] = {
    "python": lambda: seconds_of("-c", "pass"),
    "import torch": lambda: seconds_of("-c", "import torch"),
    "import ntm": lambda: seconds_of("-c", "import ntm"),
    "from ntm import NTM": lambda: seconds_of("-c", "from ntm import NTM"),
    "ntm --help": lambda: seconds_of("-m", "ntm", "--help"),
    "ntm train copy, to its first line": lambda: seconds_to_line("Training ntm-ff on copy"),
    "ntm train copy, to its first progress": lambda: seconds_to_line("sequences/s"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds to measure (default: 5)")
    rounds = parser.parse_args().rounds
    for work in WORK.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in WORK}
    for _ in range(rounds):
        for name, work in WORK.items():
            seconds[name].append(work())
    print(f"{'':40}{'seconds':>10}   quartiles")
    for name, taken in seconds.items():
        spread = Quartiles.of(taken)
        quartiles = f"{spread.lower_quartile:.2f} to {spread.upper_quartile:.2f}"
        print(f"{name:40}{spread.median:>10.2f}   {quartiles}")


if __name__ == "__main__":
    main()
