"""One rank of several that train together; what each of them ends with goes to a folder.

    torchrun --nproc-per-node 2 parallel_worker.py train FOLDER
    torchrun --nproc-per-node 2 parallel_worker.py command FOLDER train copy ...

The first trains all of CASES, and then runs that cannot end well. The second is the ntm command in
a process whose number is in FOLDER/RANK.pid.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from safetensors.torch import save_file

from ntm.commands.main import main
from ntm.runs import RunError, Settings, block_generator
from ntm.tasks import Batch, Copy, register
from ntm.training import paper_settings, train

BATCH = 4
UPDATES = 12
CASES = {
    "lstm": ("lstm", "auto"),
    "native": ("ntm-ff", "native"),
    "native-lstm": ("ntm-lstm", "native"),
    "reference": ("ntm-ff", "reference"),
    "mixture": ("ntm-ff", "native"),
}
MIXTURE = f"share=0.4,until={BATCH * 9},length=2"


def settings_of(case: str, **training: object) -> Settings:
    model, engine = CASES[case]
    sizes = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
    if model == "lstm":
        sizes = {"hidden_size": 5, "layers": 2}
    chosen = {
        "engine": engine,
        "batch_size": BATCH,
        "sequences": BATCH * UPDATES,
        "report_every": 2 * BATCH,
        "validate_every": 4 * BATCH,
        "validation_sequences": 3,
        "average_share": 0.3,
        "mixture": MIXTURE if case == "mixture" else "",
    } | training
    typed = {f"model.{key}": value for key, value in sizes.items()}
    typed |= {f"training.{key}": value for key, value in chosen.items()}
    typed |= {"task.bits": 3, "task.max_length": 5, "optimiser.learning_rate": 1e-3}
    typed["optimiser.backward_clip"] = 0.1  # small enough to act: it depends on the batch size
    settings = paper_settings("copy", model)
    return settings.with_text({name: str(value) for name, value in typed.items()})


@dataclass(frozen=True, kw_only=True)
class Poisoned(Copy):
    """Copy, in whose second block the last sequence of every batch is not a number."""

    name: ClassVar[str] = "poisoned"

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        batch = super().draw(batch_size, generator)
        if generator.initial_seed() == block_generator("training", 1, 1).initial_seed():
            batch.inputs[:, BATCH - 1 :: BATCH] = torch.nan
        return batch


def refusal(settings: Settings, folder: Path) -> str:
    """What a run that must end in an error says."""
    try:
        train(settings, folder)
    except (RunError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "none"


def train_everything(folder: Path, rank: str) -> None:
    for case in CASES:
        result = train(settings_of(case), folder / case)
        save_file(result.model.state_dict(), folder / f"{case}-{rank}.safetensors")
    register(Poisoned)
    poisoned = settings_of("native", sequences=400).to_json()
    poisoned["task"]["name"] = "poisoned"
    errors = {
        "uneven": refusal(settings_of("lstm", batch_size=3), folder / "uneven"),
        "taken": refusal(settings_of("lstm"), folder / "lstm"),
        "poisoned": refusal(Settings.from_json(poisoned), folder / "poisoned"),
        "device": refusal(settings_of("lstm", device="meta"), folder / "device"),
    }
    (folder / f"errors-{rank}.json").write_text(json.dumps(errors))


if __name__ == "__main__":
    action, place, *arguments = sys.argv[1:]
    number = os.environ["RANK"]
    if action == "train":
        train_everything(Path(place), number)
    else:
        (Path(place) / f"{number}.pid").write_text(str(os.getpid()))
        sys.exit(main(arguments))
