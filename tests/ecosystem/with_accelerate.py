"""accelerate: prepare, save_state and load_state."""

from pathlib import Path

import torch
from accelerate import Accelerator
from tests.ecosystem.tagger import RATE, VARIANTS, Tagger, assert_same, cost, loader, tagger, train


class Training:
    """A model, an optimiser and batches, as accelerate prepares them."""

    def __init__(self, model: Tagger) -> None:
        self.accelerator = Accelerator(cpu=True)
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
        self.model, self.optimiser, self.batches = self.accelerator.prepare(
            model, optimiser, loader()
        )

    def update(self, first: int, last: int) -> None:
        for x, y in list(self.batches)[first:last]:
            self.optimiser.zero_grad()
            self.accelerator.backward(cost(self.model(x), y))
            self.optimiser.step()


@VARIANTS
def test_a_resumed_training_equals_one_by_plain_torch(
    controller: str, engine: str, tmp_path: Path
) -> None:
    first = Training(tagger(controller, engine))
    first.update(0, 3)
    first.accelerator.save_state(str(tmp_path))
    second = Training(tagger(controller, engine, seed=9))
    second.accelerator.load_state(str(tmp_path))
    second.update(3, 6)
    assert_same(second.accelerator.unwrap_model(second.model), train(tagger(controller, engine)))
