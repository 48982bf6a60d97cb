"""Speed of a plain torch loop at batch 1, native against reference, in one run.

    python benchmarks/torch_loop.py [--rounds 15]

Copy with a feedforward controller, one sequence of each length from 1 to 20, one thread. The
engines take turns. Each round compares their best times; the median ratio is printed with the
smallest and the largest.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm import NTM
from ntm.engine import EngineName
from ntm.training import GravesRMSprop

Problem = tuple[Tensor, Tensor, int]
OPTIMISERS: dict[str, Callable[[NTM], torch.optim.Optimizer | None]] = {
    "forward, loss and backward": lambda _net: None,
    "with GravesRMSprop": lambda net: GravesRMSprop(net.parameters()),
    "with torch.optim.RMSprop": lambda net: torch.optim.RMSprop(net.parameters(), lr=1e-4),
}


def problems() -> list[Problem]:
    torch.manual_seed(1)
    return [
        (torch.rand(2 * n + 1, 1, 9).round(), torch.rand(n, 1, 8).round(), n) for n in range(1, 21)
    ]


def loop(net: NTM, data: list[Problem], optimiser: torch.optim.Optimizer | None) -> float:
    """Return the seconds of one pass over the problems."""
    parameters = list(net.parameters())
    start = time.process_time()
    for x, target, length in data:
        logits, _ = net(x)
        loss = binary_cross_entropy_with_logits(logits[length + 1 :], target, reduction="sum")
        if optimiser is None:
            for parameter in parameters:
                parameter.grad = None
        else:
            optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if optimiser is not None:
            optimiser.step()
    return time.process_time() - start


def network(engine: EngineName) -> NTM:
    torch.manual_seed(0)
    return NTM(9, 8, engine=engine)


def measure(name: str, rounds: int) -> None:
    fast, slow, data = network("native"), network("reference"), problems()
    ours, theirs = OPTIMISERS[name](fast), OPTIMISERS[name](slow)
    loop(fast, data, ours)
    ratios, seconds = [], []
    for _ in range(rounds):
        best = min(loop(fast, data, ours) for _ in range(10))
        plain = min(loop(slow, data, theirs) for _ in range(2))
        ratios.append(plain / best)
        seconds.append(best / len(data))
    spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
    print(f"{name}: {median(ratios):.1f} times ({spread}), {1e3 * median(seconds):.3f} ms a step")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    for name in OPTIMISERS:
        measure(name, rounds)


if __name__ == "__main__":
    main()
