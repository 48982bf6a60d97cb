"""ignite: its trainer and its checkpoints."""

from pathlib import Path

import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from tests.ecosystem.tagger import RATE, VARIANTS, assert_same, cost, loader, tagger, train


@VARIANTS
def test_a_training_equals_one_by_plain_torch_and_its_checkpoint_loads(
    controller: str, engine: str, tmp_path: Path
) -> None:
    model = tagger(controller, engine)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    trainer = create_supervised_trainer(model, optimiser, cost)
    saved = Checkpoint({"model": model, "optimiser": optimiser}, DiskSaver(str(tmp_path)))
    trainer.add_event_handler(Events.EPOCH_COMPLETED, saved)
    trainer.run(loader(), max_epochs=1)
    assert_same(model, train(tagger(controller, engine)))
    other = tagger(controller, engine, seed=9)
    kept = {"model": other, "optimiser": torch.optim.Adam(other.parameters(), lr=RATE)}
    Checkpoint.load_objects(kept, torch.load(tmp_path / saved.last_checkpoint))
    assert_same(other, model)
