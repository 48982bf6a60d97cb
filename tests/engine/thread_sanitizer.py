"""The kernels on two threads, in a build that reports every data race.

    make sanitize-threads

The cases and the comparison come from aarch64.py; a race ends the program with an error. The test
takes minutes and is not part of `make test`.
"""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.engine.aarch64 import (
    PORTABLE,
    portable,
    test_outputs_traces_and_gradients_are_the_references,
    test_the_gradients_of_an_lstm_are_autograds,
    test_training_steps_are_the_references,
)
from tests.engine.test_simd import SHARED_FLAGS, SOURCES

__all__ = [
    "portable",
    "test_outputs_traces_and_gradients_are_the_references",
    "test_the_gradients_of_an_lstm_are_autograds",
    "test_training_steps_are_the_references",
]

RACE = """
#include <thread>
int main() {
  int sum = 0;
  std::thread other([&] { ++sum; });
  ++sum;
  other.join();
  return sum;
}
"""


def compiled(sources: Iterable[Path], program: Path) -> list[str]:
    flags = ["-O1", "-g", "-pthread", "-fsanitize=thread", *SHARED_FLAGS, "-DNTM_TARGET=baseline"]
    command = [os.environ.get("CXX", "c++"), *flags, f"-I{SOURCES}", *map(str, sources)]
    subprocess.run([*command, "-o", program], check=True)
    return ["env", "TSAN_OPTIONS=halt_on_error=1 exitcode=66", str(program)]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return compiled(PORTABLE, tmp_path_factory.mktemp("threads") / "portable")


def test_a_race_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "race.cpp").write_text(RACE)
    race = compiled([tmp_path / "race.cpp"], tmp_path / "race")
    assert subprocess.run(race, check=False, capture_output=True).returncode == 66
