"""A policy with memory in a partially observable environment: actor and critic on a T-maze.

    pip install gymnasium
    python examples/with_gymnasium.py                  # with memory
    python examples/with_gymnasium.py --memoryless     # resets at every step

The agent sees a signal, left or right, in the first cell of a corridor and nowhere else. At the
junction, some cells later, it has to turn to the side of the signal:

    signal . . . . . junction      an episode ends at the junction, with the reward 1 or -1

Without memory, half of the turns are wrong. The controller is feedforward, so the signal has to be
in the external memory.

The policy acts one step per call and gets a new episode's flag as a reset. The update runs the same
steps again in one call, with the same resets.
"""

import argparse
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor
from torch.distributions import Categorical

from ntm import NTM, State

FORWARD, ACTIONS = 0, 3  # forward, left, right
SIGNALS, JUNCTION, CORRIDOR, SEEN = 2, 2, 3, 4  # channels of an observation
ENVIRONMENTS, STEPS = 32, 32  # of a rollout
DISCOUNT, SMOOTHING = 0.97, 0.95


class TMaze(gymnasium.Env[np.ndarray, int]):
    """A corridor of random length with a signal at its start and a junction at its end."""

    action_space = gymnasium.spaces.Discrete(ACTIONS)
    observation_space = gymnasium.spaces.Box(0, 1, (SEEN,), np.float32)

    def __init__(self, shortest: int = 4, longest: int = 8) -> None:
        self.shortest, self.longest = shortest, longest

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed, options=options)
        self.signal = int(self.np_random.integers(SIGNALS))
        self.junction = int(self.np_random.integers(self.shortest, self.longest + 1))
        self.place = self.time = 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Walk or turn. Bumping into a wall costs a little; so does every step beyond the need."""
        self.time += 1
        at_junction = self.place == self.junction
        turned = at_junction and action != FORWARD
        bumped = (action != FORWARD) != at_junction
        self.place += not at_junction and action == FORWARD
        reward = (1.0 if action - 1 == self.signal else -1.0) if turned else -0.1 * bumped
        return self._seen(), reward, turned, self.time >= 3 * self.longest, {}

    def _seen(self) -> np.ndarray:
        seen = np.zeros(SEEN, np.float32)
        channel = self.signal if self.place == 0 else CORRIDOR
        seen[JUNCTION if self.place == self.junction else channel] = 1
        return seen


class Rollout(NamedTuple):
    """Steps of all environments: (time, batch), and (time, batch, channels) for `seen`."""

    seen: Tensor
    resets: Tensor
    """1 at the first step of an episode, and at every step for a policy without memory."""
    actions: Tensor
    rewards: Tensor
    ends: Tensor
    start: State
    """State before the first step."""


class Player:
    """Environments, and the policy's state in each of them."""

    def __init__(self, net: NTM, memoryless: bool, seed: int) -> None:
        self.net, self.memoryless = net, memoryless
        self.mazes = gymnasium.make_vec(
            "TMaze-v0",
            ENVIRONMENTS,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        )
        self.seen = torch.from_numpy(self.mazes.reset(seed=seed)[0])
        self.fresh = torch.ones(ENVIRONMENTS)
        self.state = net.initial_state(ENVIRONMENTS)

    @torch.no_grad()
    def play(self, steps: int, greedy: bool = False) -> Rollout:
        """Take some steps in all environments, one step per call of the network."""
        kept, start = [], self.state.detach()
        for _ in range(steps):
            seen, resets = self.seen, torch.ones_like(self.fresh) if self.memoryless else self.fresh
            logits, self.state = self.net(seen[None], self.state, resets=resets[None])
            preferences = logits[0, :, :ACTIONS]
            action = preferences.argmax(-1) if greedy else Categorical(logits=preferences).sample()
            found, reward, ended, cut, _ = self.mazes.step(action.numpy())
            self.seen = torch.from_numpy(found)
            self.fresh = torch.from_numpy(ended | cut).float()
            kept.append((seen, resets, action, torch.from_numpy(reward).float(), self.fresh))
        return Rollout(*map(torch.stack, zip(*kept, strict=True)), start)


def advantages(rollout: Rollout, values: Tensor) -> Tensor:
    """Return generalised advantage estimates, (time, batch).

    values: (time + 1, batch), the critic's at every step and after the last.
    """
    alive = 1 - rollout.ends
    errors = rollout.rewards + DISCOUNT * alive * values[1:] - values[:-1]
    kept, later = [], torch.zeros_like(errors[0])
    for step in reversed(range(len(errors))):
        later = errors[step] + DISCOUNT * SMOOTHING * alive[step] * later
        kept.append(later)
    return torch.stack(kept[::-1])


def cost(net: NTM, rollout: Rollout, after: Tensor) -> Tensor:
    """Return the cost of actor and critic; one call runs all episodes of a rollout.

    after: the critic's values after the last step, (batch,).
    """
    outputs, _ = net(rollout.seen, rollout.start, resets=rollout.resets)
    policy, values = Categorical(logits=outputs[..., :ACTIONS]), outputs[..., ACTIONS]
    gains = advantages(rollout, torch.cat([values.detach(), after[None]]))
    returns = gains + values.detach()
    gains = (gains - gains.mean()) / (gains.std() + 1e-6)
    actor = -(policy.log_prob(rollout.actions) * gains).mean()
    return actor + 0.5 * (values - returns).square().mean() - 0.01 * policy.entropy().mean()


def success(rollout: Rollout) -> float:
    """Return the share of finished episodes with the right turn."""
    return float((rollout.rewards[rollout.ends > 0] == 1).float().mean())


def main() -> None:
    """Train the policy, then measure how often it turns to the right side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--updates", type=int, default=250, help="updates (default: 250)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default: 1)")
    parser.add_argument("--memoryless", action="store_true", help="reset the state at every step")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    gymnasium.register("TMaze-v0", entry_point=TMaze)
    net = NTM(SEEN, ACTIONS + 1, controller_size=32, memory_locations=8, memory_width=8)
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    player = Player(net, options.memoryless, options.seed)
    for update in range(1, options.updates + 1):
        rollout = player.play(STEPS)
        with torch.no_grad():
            after = net(player.seen[None], player.state, resets=player.fresh[None])[0][
                0, :, ACTIONS
            ]
        optimiser.zero_grad()
        cost(net, rollout, after).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        if update % 50 == 0:
            print(f"{update:5} updates: {success(rollout):4.0%} right turns", flush=True)
    measured = Player(net, options.memoryless, options.seed + 1000).play(300, greedy=True)
    episodes = int(measured.ends.sum())
    print(f"{success(measured):.1%} right turns in {episodes} new episodes, always the best action")


if __name__ == "__main__":
    main()
