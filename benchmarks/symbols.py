"""Speed of the fused training step with symbols, relative to as many bit outputs.

    python benchmarks/symbols.py

Both steps compute the cost and all gradients of the same network in one call, on one thread. They
take turns, and the ratio is taken round by round: 1 is equal speed, below 1 symbols are slower.
"""

import argparse
from dataclasses import replace

import torch
from torch.nn.functional import one_hot

from ntm.bench.networks import COPY, fresh, random_batch
from ntm.bench.timing import Quartiles, Work, alternate, spread_of_ratios
from ntm.config import NTMConfig
from ntm.engine.fused import NTMGradients
from ntm.tasks import Batch

STEPS = 40


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a slice (default: 0.1)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("network            outputs  batch  speed with symbols / with bits (quartiles)")
    for network in COPY:
        for outputs in (8, 32, 128):
            for batch_size in (1, 16):
                config = replace(network.config, input_size=outputs + 1, output_size=outputs)
                speed = relative_speed(config, batch_size, options.rounds, options.seconds)
                print(
                    f"{network!s:17}  {outputs:7}  {batch_size:5}  {speed.median:.3f} "
                    f"({speed.lower_quartile:.3f} to {speed.upper_quartile:.3f})",
                    flush=True,
                )


def relative_speed(config: NTMConfig, batch_size: int, rounds: int, seconds: float) -> Quartiles:
    """Return the speed with symbols divided by the speed with bits."""
    bits = random_batch(config, (STEPS,) * batch_size)
    drawn = torch.randint(config.output_size, bits.mask.shape)
    symbols = bits._replace(targets=one_hot(drawn, config.output_size).float())
    works = {"bits": _step(config, bits, False), "symbols": _step(config, symbols, True)}
    taken = alternate(works, rounds, seconds)
    return spread_of_ratios(taken["bits"], taken["symbols"])


def _step(config: NTMConfig, batch: Batch, symbols: bool) -> Work:
    gradients = NTMGradients(fresh(config, "native"))
    return lambda _number: gradients(*batch, 0, batch.batch_size, symbols=symbols)


if __name__ == "__main__":
    main()
