"""The network of a run, from its settings."""

import torch

from ntm.common.text import first_line
from ntm.models.family import Family, Model
from ntm.runs.errors import RunError
from ntm.runs.settings import Settings
from ntm.runs.stream import block_seed


def build_model(settings: Settings, start: int = 0) -> Model:
    """The network of a run with its initial weights, which the seed decides, on its device.

    start: which of the initialisations that belong to the seed.
    """
    training, family = settings.training, settings.family
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(block_seed("weights", training.seed, start))
        try:
            model = family.build(settings.model, settings.initialisation, training.engine)
        except (RuntimeError, MemoryError) as error:  # torch has no memory for it
            told = f"A network {family.name} of these sizes cannot be made"
            raise RunError(f"{told}: {first_line(error)}.") from error
    bound_backward(model, settings, 0)
    return _placed(model, family, training.device)


def build_here(settings: Settings) -> Model:
    """The network of a run that may have been trained on another machine."""
    try:
        return build_model(settings)
    except RunError:
        return build_model(settings.with_(training={"device": "cpu", "engine": "auto"}))


def full_size(model: Model, settings: Settings) -> Model:
    """The network with all its memory locations, of which it may train with fewer."""
    if settings.trained_model == settings.model:
        return model
    return settings.family.enlarged(model, settings.model.memory_locations)


def bound_backward(model: Model, settings: Settings, sequences: int) -> None:
    """Set the bound on a model's backward pass that holds after so many sequences."""
    limit = settings.optimiser.backward_clip_after(sequences)
    # The loss is the mean over the batch, which divides each sequence's gradients by its size.
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
