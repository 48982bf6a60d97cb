"""gymnasium: the example of a policy with memory, and its environment."""

import importlib.util
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from tests.ecosystem.examples import FOLDER

from ntm import NTM

FILE = FOLDER / "with_gymnasium.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("with_gymnasium", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gymnasium.register("TMaze-v0", entry_point=module.TMaze)
    return module


def test_the_environment_keeps_the_rules_of_gymnasium(example: ModuleType) -> None:
    check_env(example.TMaze(), skip_render_check=True)


def test_the_signal_is_seen_once_and_decides_the_reward(example: ModuleType) -> None:
    for seed in range(20):
        maze = example.TMaze()
        seen, _ = maze.reset(seed=seed)
        signal = int(seen[: example.SIGNALS].argmax())
        while not seen[example.JUNCTION]:
            seen, reward, *ends, _ = maze.step(example.FORWARD)
            assert not seen[: example.SIGNALS].any()
            assert (reward, *ends) == (0, False, False)
        turn = seed % example.SIGNALS
        _, reward, ended, _, _ = maze.step(1 + turn)
        assert ended
        assert reward == (1 if turn == signal else -1)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("memoryless", [False, True])
def test_one_call_with_resets_equals_the_steps_that_were_taken(
    example: ModuleType, memoryless: bool, engine: Any
) -> None:
    torch.manual_seed(1)
    sizes: Any = {"controller_size": 8, "memory_locations": 8, "memory_width": 5}
    net = NTM(example.SEEN, example.ACTIONS + 1, **sizes, engine=engine)
    player = example.Player(net, memoryless, seed=1)
    player.play(5)
    rollout = player.play(40)
    assert 0 < rollout.ends.sum() < rollout.ends.numel()
    assert memoryless or not torch.equal(rollout.resets, torch.ones_like(rollout.resets))
    _, state = net(rollout.seen, rollout.start, resets=rollout.resets)
    torch.testing.assert_close(tuple(state), tuple(player.state))


def test_the_example_trains() -> None:
    done = subprocess.run(
        [sys.executable, str(FILE), "--updates", "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+\.\d% right turns in \d+ new episodes", done.stdout, re.MULTILINE)
