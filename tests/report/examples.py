"""Runs without training, and records without runs."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ntm.paper import experiment_of, settings_for
from ntm.report.records import LearningCurve, RunRecord
from ntm.runs import Run, Settings, build_model

SMALL = {
    "lstm": {"hidden_size": 3, "layers": 1},
    "ntm-ff": {"controller_size": 5, "memory_locations": 7, "memory_width": 3},
    "ntm-lstm": {"controller_size": 5, "memory_locations": 7, "memory_width": 3},
}


def small_settings(task: str, model: str, seed: int = 0, **training: object) -> Settings:
    changes = {f"model.{name}": str(value) for name, value in SMALL[model].items()}
    if model != "lstm":
        changes |= {"model.read_heads": "1", "model.write_heads": "1"}
        changes |= {"model.controller_layers": "1"}
    typed = {f"training.{name}": str(value) for name, value in training.items()}
    return settings_for(task, model).with_text(changes | typed | {"training.seed": str(seed)})


def untrained_run(folder: Path, task: str, model: str, seed: int = 0) -> Run:
    """A run as training leaves it, without the training: a made-up learning curve."""
    settings = small_settings(task, model, seed)
    run = Run.create(folder, settings)
    network = build_model(settings)
    run.save_weights("best", network, {"sequences": 2000, "validation_bits": 8.5})
    run.save_weights("latest", network, {"sequences": 3000})
    lines = [{"sequences": 1000 * n, "bits": 9.0 / n, "seconds": 2.5 * n} for n in (1, 2, 3)]
    run.metrics.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return run


def made_up_record(
    task: str = "copy",
    model: str = "ntm-ff",
    seed: int = 0,
    *,
    bits: float = 0.5,
    latest: float | None = None,
    perfect: float = 0.25,
    at: dict[str, float] | None = None,
    curve: list[tuple[int, float]] | None = None,
    best_at: int | None = None,
    changes: dict[str, str] | None = None,
) -> RunRecord:
    """A record that says what one wants.

    at: costs beyond the trained range by the value of the first axis, as in {"120": 3.5}.
    curve: (sequences, bits) of the learning curve.
    """
    typed = {"training.seed": str(seed), **(changes or {})}
    points = curve or [(1000, 2 * bits), (2000, bits)]
    x, y = np.array(points, dtype=float).T

    def cases(trained: float) -> list[dict[str, Any]]:
        return [
            _case(dict(axes), (at or {}).get(str(next(iter(axes.values()), "")), trained), perfect)
            | ({"bits_above_optimal": trained} if task == "ngrams" else {})
            for axes in experiment_of(task).cases
        ]

    seen = int(x[-1])
    evaluation = {
        "format": 1,
        "best": {"sequences": best_at or seen, "validation_bits": bits, "cases": cases(bits)},
        "latest": {"sequences": seen, "cases": cases(bits if latest is None else latest)},
    }
    return RunRecord(
        f"{task}-{model}-{seed}",
        settings_for(task, model).with_text(typed),
        LearningCurve(x, y, x / 100),
        evaluation,
        None,
    )


def _case(axes: dict[str, int], bits: float, perfect: float) -> dict[str, Any]:
    return {
        "at": axes,
        "mean_bits": bits,
        "median_bits": bits,
        "perfect": perfect,
        "sequences": 1000,
    }
