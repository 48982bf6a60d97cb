"""Build the network of a run from its settings."""

import torch

from ntm.common.text import first_line
from ntm.models.family import Family, Model
from ntm.runs.errors import RunError
from ntm.runs.settings import Settings
from ntm.runs.stream import block_seed


def build_model(settings: Settings, start: int = 0) -> Model:
    """Build the network of a run on its device, with initial weights that depend on the seed.

    start: number of the start; each start of a seed has other initial weights (0).
    """
    training, family = settings.training, settings.family
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(block_seed("weights", training.seed, start))
        try:
            model = family.build(settings.model, settings.initialisation, training.engine)
        except (RuntimeError, MemoryError) as error:  # torch cannot allocate the memory
            told = f"A network {family.name} of these sizes cannot be made"
            raise RunError(f"{told}: {first_line(error)}.") from error
    bound_backward(model, settings, 0)
    return _placed(model, family, training.device)


def build_here(settings: Settings) -> Model:
    """Build the network of a run; fall back to the CPU if its device or engine is missing here."""
    try:
        return build_model(settings)
    except RunError:
        return build_model(settings.with_(training={"device": "cpu", "engine": "auto"}))


def full_size(model: Model, settings: Settings) -> Model:
    """Return the network with all its memory locations; training may use fewer."""
    if settings.trained_model == settings.model:
        return model
    return settings.family.resized(model, settings.model.memory_locations)


def bound_backward(model: Model, settings: Settings, sequences: int) -> None:
    """Set the backward clip of a model to its value after this many sequences."""
    limit = settings.optimiser.backward_clip_after(sequences)
    # The loss is the mean over the batch: each sequence's gradient is divided by the batch size.
    per_sequence = None if limit is None else limit / settings.training.batch_size
    settings.family.bound_backward(model, per_sequence)


def _placed(model: Model, family: Family, device: str) -> Model:
    try:
        model = model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise RunError(f"training.device={device} cannot be used: {first_line(error)}.") from error
    try:
        family.runs_on(model)
    except RuntimeError as error:
        raise RunError(str(error)) from error
    return model
