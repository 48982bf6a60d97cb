import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ntm

SCRIPT = Path(__file__).parents[2] / "benchmarks/pytorch_ntm.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_pytorch_ntm", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_of_the_same_name_is_imported_from_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    files = {
        "ntm/__init__.py": "",
        "ntm/aio.py": "from .part import theirs",
        "ntm/part.py": "theirs = True",
        "tasks/__init__.py": "",
        "tasks/copytask.py": "from ntm.aio import theirs",
        "train.py": "from tasks.copytask import theirs",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert script().their_train(tmp_path).theirs
    assert sys.modules["ntm"] is ntm
    assert not {"ntm.aio", "tasks", "train"} & sys.modules.keys()


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a checkout of pytorch-ntm"):
        script().their_train(tmp_path)
