"""Files damaged at random: every reader gives a right answer or refuses in a sentence.

NTM_DAMAGED_FILES says how many each reader is given; the default is small enough for every run of
the tests. NTM_DAMAGED_SEED chooses others. `docs/testing.md` has the counts that were tried.
"""

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fuzz.readers import READERS, Reader

FILES = int(os.environ.get("NTM_DAMAGED_FILES", "200"))
SEED = int(os.environ.get("NTM_DAMAGED_SEED", "0"))

LONGEST = 60  # seconds, after which a reader counts as hanging


class Hanging(BaseException):
    pass


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hanging

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_a_damaged_file_is_refused_in_a_sentence_or_read_aright(
    reader: Reader, tmp_path: Path
) -> None:
    file = reader.make(tmp_path)
    whole, chance = file.read_bytes(), random.Random(SEED)
    outcomes: Counter[str] = Counter()
    for _ in range(FILES):
        content = chance.choice(reader.damages)(whole, chance)
        file.write_bytes(content)
        signal.alarm(LONGEST)
        try:
            reader.read(file)
            outcomes["read"] += 1
        except reader.refusals as error:
            outcomes["refused" if str(error).endswith(".") else f"no sentence: {error}"] += 1
        except BaseException:
            (tmp_path / "culprit").write_bytes(content)
            raise
        finally:
            signal.alarm(0)
    assert outcomes.keys() <= {"read", "refused"}, outcomes
    assert outcomes["refused"] > FILES // 10
    print(f"{FILES:,} damaged files: {dict(outcomes)}")


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_a_whole_file_is_read(reader: Reader, tmp_path: Path) -> None:
    reader.read(reader.make(tmp_path))
