"""torchao: quantised weights. The reference engine runs such a network."""

import pytest
import torch
from tests.ecosystem.tagger import examples, tagger
from torchao.quantization import Int8WeightOnlyConfig, quantize_

CONTROLLERS = pytest.mark.parametrize("controller", ["feedforward", "lstm"])


@CONTROLLERS
def test_a_quantised_network_computes_with_rounded_weights(controller: str) -> None:
    model, plain = tagger(controller, "reference"), tagger(controller, "reference")
    quantize_(model, Int8WeightOnlyConfig())
    with torch.no_grad():
        for layer, other in zip(plain.modules(), model.modules(), strict=True):
            if isinstance(layer, torch.nn.Linear):
                rounded = other.weight.dequantize()
                assert not torch.equal(layer.weight, rounded)
                layer.weight.copy_(rounded)
        x = examples().tensors[0]
        torch.testing.assert_close(model(x), plain(x))


@CONTROLLERS
def test_engine_auto_says_that_it_falls_back(controller: str) -> None:
    model, expected = tagger(controller, "auto"), tagger(controller, "reference")
    for network in (model, expected):
        quantize_(network, Int8WeightOnlyConfig())
    x = examples().tensors[0]
    with torch.no_grad(), pytest.warns(UserWarning, match=r"The native engine does not run this"):
        torch.testing.assert_close(model(x), expected(x))


@CONTROLLERS
def test_the_native_engine_says_why_it_cannot(controller: str) -> None:
    model = tagger(controller, "native")
    quantize_(model, Int8WeightOnlyConfig())
    with pytest.raises(RuntimeError, match=r"cell.controller.*engine='reference'"):
        model(examples().tensors[0])
