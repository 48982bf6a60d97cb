"""The demo shows a network that copies, on a slow machine too."""

from pathlib import Path

import pytest

from ntm.paper import demo


def test_a_machine_too_slow_to_train_sees_the_packaged_network_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "SECONDS", 0.01)
    assert demo.demonstrate(tmp_path) == 0
    shown = capsys.readouterr().out
    assert "The demo continues with the packaged copy-lstm" in shown
    at_the_longest = next(line for line in shown.splitlines() if line.startswith("   120"))
    assert at_the_longest.endswith("100%")
    assert "30 scored, no wrong bits" in shown
    assert (tmp_path / "copy.png").exists()
