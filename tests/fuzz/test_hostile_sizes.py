"""Files that claim to be enormous are refused before memory is taken for them."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.fuzz.readers import READERS

LIMIT = 600_000_000  # bytes that a reader may take on top of torch and its libraries

READ = """
import json, resource, sys
from pathlib import Path
from tests.fuzz.readers import READERS
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {limit},) * 2)
for name, file in json.loads(sys.argv[1]):
    try:
        READERS[name].read(Path(file))
        print("read")
    except READERS[name].refusals as error:
        print(error)
"""


def huge_header(file: Path) -> None:
    """Weights whose header says 10^15 values, and a file that ends after a few."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["start.memory"] |= {"shape": [10**15], "data_offsets": [0, 4 * 10**15]}
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])


def huge_config(section: str, **values: int) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        config = json.loads(file.read_bytes())
        config[section] |= values
        file.write_text(json.dumps(config))

    return change


def with_inputs(file: Path, shape: tuple[int, ...], parts: int) -> None:
    """A trace whose inputs have a header with that shape and so many megabytes of zeros."""
    packed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            if member != "inputs.npy":
                new.writestr(member, old.read(member))
        with new.open("inputs.npy", "w") as array:
            described = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(array, described)
            for _ in range(parts):
                array.write(bytes(2**20))
    file.write_bytes(packed.getvalue())


def huge_shape(file: Path) -> None:
    """An array of a megabyte whose header says 10^10 values."""
    with_inputs(file, (10**10, 1, 3), 1)


def bomb(file: Path) -> None:
    """More than a gigabyte of zeros, which a megabyte holds."""
    with_inputs(file, (1030 * 2**18, 1, 1), 1030)


def many_runs(file: Path) -> None:
    values = ", ".join(f"1e-{n}" for n in range(1, 100))
    names = ("learning_rate", "momentum", "decay", "epsilon", "clip")
    table = "".join(f"{name} = [{values}]\n" for name in names)
    file.write_text(f'tasks = ["copy"]\n[optimiser]\n{table}')


HOSTILE = [
    ("weights", huge_header, "does not hold the weights"),
    ("pretrained weights", huge_header, "not a safetensors file, or it is damaged"),
    ("network", huge_config("model", memory_locations=10**15), "far larger network"),
    ("pretrained", huge_config("config", controller_size=10**9), "far larger network"),
    ("config", huge_config("task", bits=10**15), "bits must be an integer from 1 to 4096"),
    ("sweep", many_runs, "It describes 9,509,900,499 runs"),
    ("trace", huge_shape, "size that does not match its shape"),
    ("trace", bomb, "more than at_most=1,073,741,824"),
]


def test_an_enormous_claim_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    files = []
    for number, (name, damage, _) in enumerate(HOSTILE):
        (tmp_path / str(number)).mkdir()
        file = READERS[name].make(tmp_path / str(number))
        damage(file)
        files.append((name, str(file)))
    command = [sys.executable, "-c", READ.format(limit=LIMIT), json.dumps(files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for (_, _, sentence), answer in zip(HOSTILE, done.stdout.splitlines(), strict=True):
        assert sentence in answer


def test_settings_that_no_memory_holds_are_refused_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ntm", "train", "copy", "--run", str(tmp_path / "run")]
    command += ["--set", "model.memory_locations=1000000000000000"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "of these sizes cannot be made" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()
