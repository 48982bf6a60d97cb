"""peft: LoRA on the output layer. The reference engine runs such a network."""

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from tests.ecosystem.tagger import Tagger, assert_same, examples, tagger, train

CONTROLLERS = pytest.mark.parametrize("controller", ["feedforward", "lstm"])
ADAPTER = LoraConfig(r=2, target_modules=["net.cell.output"])


def adapted(model: Tagger) -> PeftModel:
    torch.manual_seed(3)
    return get_peft_model(model, ADAPTER)


@CONTROLLERS
def test_an_adapter_learns_alone_is_saved_and_merged(controller: str, tmp_path: Path) -> None:
    x = examples().tensors[0]
    model = adapted(tagger(controller, "reference"))
    train(model)
    expected = model(x)
    model.save_pretrained(str(tmp_path))
    again = PeftModel.from_pretrained(tagger(controller, "reference"), str(tmp_path))
    torch.testing.assert_close(again(x), expected, rtol=0, atol=0)
    again.disable_adapter_layers()
    start = tagger(controller, "reference")
    torch.testing.assert_close(again(x), start(x), rtol=0, atol=0)
    merged = model.merge_and_unload()
    merged.net.engine = "native"  # it is an NTM as any other now
    torch.testing.assert_close(merged(x), expected)


@CONTROLLERS
def test_engine_auto_says_that_it_falls_back(controller: str) -> None:
    model = adapted(tagger(controller, "auto"))
    x = examples().tensors[0]
    with pytest.warns(
        UserWarning, match=r"The native engine does not run this network.*cell.output"
    ):
        found = model(x)
    torch.testing.assert_close(found, adapted(tagger(controller, "reference"))(x))


@CONTROLLERS
def test_the_native_engine_says_why_it_cannot(controller: str) -> None:
    model = adapted(tagger(controller, "native"))
    with pytest.raises(RuntimeError, match=r"cell.output.*engine='reference'"):
        model(examples().tensors[0])


@CONTROLLERS
def test_an_adapter_of_one_engine_is_that_of_the_other(controller: str) -> None:
    models = [adapted(tagger(controller, engine)) for engine in ("native", "reference")]
    assert_same(*models)
