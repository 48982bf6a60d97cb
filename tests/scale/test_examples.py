"""The examples, in a tiny form."""

import subprocess
import sys
from pathlib import Path

SEARCH = Path(__file__).parents[2] / "examples" / "search_optuna.py"


def test_the_search_finds_the_best_of_its_trials_and_goes_on(tmp_path: Path) -> None:
    sizes = ["--trials", "2", "--seeds", "1", "--sequences", "20", "--out", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(SEARCH), *sizes], capture_output=True, text=True, check=True
    )
    assert "bits per sequence" in done.stdout
    assert "--set optimiser.learning_rate=" in done.stdout
    names = {folder.name for folder in tmp_path.iterdir() if folder.is_dir()}
    assert names == {"trial-0-seed-1", "trial-1-seed-1"}
    assert (tmp_path / "study.db").exists()
