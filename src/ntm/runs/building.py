"""The network of a run, from its settings."""

import torch

from ntm import engine
from ntm.layer import NTM
from ntm.models.family import Model, model_of
from ntm.runs.errors import RunError
from ntm.runs.settings import Settings
from ntm.runs.stream import block_seed


def build_model(settings: Settings) -> Model:
    """The network of a run with its initial weights, which the seed decides, on its device."""
    training = settings.training
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(block_seed("weights", training.seed, 0))
        model = model_of(settings.model, training.engine)
    if isinstance(model, NTM) and settings.optimiser.backward_clip:
        # The loss is the mean over the batch: each sequence's own gradients are that much smaller.
        model.backward_clip = settings.optimiser.backward_clip / training.batch_size
    return _placed(model, training.device)


def _placed(model: Model, device: str) -> Model:
    try:
        model = model.to(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise RunError(f"training.device={device} cannot be used: {reason}") from error
    if isinstance(model, NTM):
        try:
            engine.choose(model.engine, torch.device(device), torch.float32)
        except RuntimeError as error:
            raise RunError(str(error)) from error
    return model
