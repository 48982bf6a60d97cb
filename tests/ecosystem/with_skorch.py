"""skorch: NeuralNet with fit, predict, pickle and saved parameters."""

import pickle
from pathlib import Path

import numpy as np
import torch
from skorch import NeuralNet
from tests.ecosystem.tagger import BATCH, RATE, VARIANTS, Tagger, assert_same, examples, tagger
from tests.ecosystem.tagger import train as train_plainly


def network(controller: str, engine: str) -> NeuralNet:
    return NeuralNet(
        Tagger,
        module__controller=controller,
        module__engine=engine,
        criterion=torch.nn.BCEWithLogitsLoss,
        optimizer=torch.optim.Adam,
        lr=RATE,
        batch_size=BATCH,
        max_epochs=1,
        train_split=None,
        verbose=0,
    )


def fitted(controller: str, engine: str) -> NeuralNet:
    x, y = examples().tensors
    torch.manual_seed(1)
    return network(controller, engine).fit(x, y)


@VARIANTS
def test_fit_equals_a_training_by_plain_torch(controller: str, engine: str) -> None:
    assert_same(fitted(controller, engine).module_, train_plainly(tagger(controller, engine)))


@VARIANTS
def test_predictions_survive_pickle_and_saved_parameters(
    controller: str, engine: str, tmp_path: Path
) -> None:
    net, x = fitted(controller, engine), examples().tensors[0]
    expected = net.predict(x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(net)).predict(x), expected)
    net.save_params(f_params=tmp_path / "weights.safetensors", use_safetensors=True)
    other = network(controller, engine).initialize()
    other.load_params(f_params=tmp_path / "weights.safetensors", use_safetensors=True)
    np.testing.assert_array_equal(other.predict(x), expected)
