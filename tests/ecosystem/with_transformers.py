"""transformers: the Trainer, its checkpoints and its saved models."""

from pathlib import Path

from safetensors.torch import load_file
from tests.ecosystem.examples import assert_example_runs
from tests.ecosystem.tagger import BATCH, RATE, VARIANTS, Tagger, assert_same, cost, examples
from tests.ecosystem.tagger import tagger as make
from torch import Tensor, nn
from transformers import Trainer, TrainingArguments


class WithCost(nn.Module):
    """A model as the Trainer expects it: it returns its cost by name."""

    def __init__(self, tagger: Tagger) -> None:
        super().__init__()
        self.tagger = tagger

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.tagger(x)
        return {"loss": cost(logits, labels), "logits": logits}


def trainer(model: WithCost, folder: Path) -> Trainer:
    settings = TrainingArguments(
        output_dir=str(folder),
        learning_rate=RATE,
        per_device_train_batch_size=BATCH,
        max_steps=6,
        save_steps=3,
        use_cpu=True,
        disable_tqdm=True,
        report_to=[],
    )
    data = [{"x": x, "labels": y} for x, y in examples()]
    return Trainer(model=model, args=settings, train_dataset=data)


@VARIANTS
def test_a_resumed_training_equals_an_uninterrupted_one(
    controller: str, engine: str, tmp_path: Path
) -> None:
    whole, resumed = WithCost(make(controller, engine)), WithCost(make(controller, engine, seed=9))
    trainer(whole, tmp_path).train()
    trainer(resumed, tmp_path).train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert_same(resumed, whole)


@VARIANTS
def test_a_saved_model_loads_and_predicts(controller: str, engine: str, tmp_path: Path) -> None:
    model = WithCost(make(controller, engine))
    trained = trainer(model, tmp_path)
    trained.train()
    trained.save_model(str(tmp_path / "saved"))
    other = WithCost(make(controller, engine, seed=9))
    other.load_state_dict(load_file(tmp_path / "saved" / "model.safetensors"))
    assert_same(other, model)
    found = trainer(other, tmp_path).predict(trained.train_dataset).predictions
    assert (found == trained.predict(trained.train_dataset).predictions).all()


def test_the_example_trains_and_saves_a_network(tmp_path: Path) -> None:
    assert_example_runs("with_transformers.py", tmp_path)
