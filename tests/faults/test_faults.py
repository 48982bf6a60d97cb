"""Faults, tried for real. `docs/testing.md` says how to try more, and what came of it.

NTM_KILLS and NTM_WALK_STEP choose the counts: 1,000 kills, and every call instead of some.
"""

import json
import os
from pathlib import Path

from tests.faults.forked import warm

KILLS = int(os.environ.get("NTM_KILLS", "12"))
STEP = int(os.environ.get("NTM_WALK_STEP", "11"))
SEED = int(os.environ.get("NTM_KILL_SEED", "0"))


def test_killed_or_out_of_disk_at_any_call_nothing_is_lost(tmp_path: Path) -> None:
    tried = json.loads(warm(tmp_path, "walk", STEP))
    assert tried["killed"] == tried["disk full"]
    assert tried["killed"] >= 100 // STEP
    print(tried)


def test_killed_at_random_moments_nothing_is_lost(tmp_path: Path) -> None:
    counted = json.loads(warm(tmp_path, "kills", KILLS, SEED))
    assert sum(counted["kills"].values()) >= KILLS
    print(counted)


def test_odd_surroundings(tmp_path: Path) -> None:
    assert len(json.loads(warm(tmp_path, "conditions"))) == 9
