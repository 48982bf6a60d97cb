"""The gate must open for the engine as it is, and stay shut for one that is wrong anywhere."""

from typing import Any

import pytest
import torch
from torch import Tensor

from ntm.bench.equivalence import require_close, require_equivalence, values_after_step
from ntm.bench.networks import BenchEffort, PaperNTM, fresh, optimiser_of, random_batch
from ntm.commands.main import main
from ntm.engine import native
from ntm.models import family_of
from ntm.models.step import TorchStep
from ntm.runs import RunError

COPY = PaperNTM("copy", "ntm-ff")


def compared(network: PaperNTM) -> dict[str, dict[str, Tensor]]:
    """What the gate compares: the fast engine's values, plain float32's and the truth."""
    batch = random_batch(network.config, (4, 3))
    fast, plain = fresh(network.config, "native"), fresh(network.config, "reference")
    exact = fresh(network.config, "reference").double()
    doubled = batch._replace(inputs=batch.inputs.double())
    return {
        "fast": values_after_step(fast, family_of(fast).step(fast, optimiser_of(fast)), batch),
        "plain": values_after_step(plain, TorchStep(plain, optimiser_of(plain)), batch),
        "exact": values_after_step(exact, TorchStep(exact, optimiser_of(exact)), doubled),
    }


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm"])
@pytest.mark.parametrize("task", ["copy", "priority-sort"])
def test_the_gate_opens_for_the_engine_as_it_is(task: str, model: str) -> None:
    require_equivalence(PaperNTM(task, model))


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm"])
def test_any_value_that_is_off_by_a_percent_shuts_the_gate(model: str) -> None:
    network = PaperNTM("copy", model)
    values = compared(network)
    require_close(str(network), **values)
    names = [name for name, value in values["fast"].items() if value.abs().sum() > 0]
    assert len(names) > 20
    for name in names:
        wrong = values["fast"] | {name: values["fast"][name] * 1.01}
        with pytest.raises(RunError, match=f"the {name} of copy {model} is off by"):
            require_close(str(network), wrong, values["plain"], values["exact"])


def test_a_value_that_is_not_a_number_shuts_the_gate() -> None:
    values = compared(COPY)
    logits = values["fast"]["logits"].clone()
    logits[1, 0, 2] = torch.nan
    with pytest.raises(RunError, match="the logits of copy ntm-ff is off by nan"):
        require_close(
            str(COPY), values["fast"] | {"logits": logits}, values["plain"], values["exact"]
        )


def test_nothing_is_reported_of_an_engine_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = native.function

    class Wrong:
        """The extension's gradients, with the gradient of one bias left out."""

        def __init__(self, dweights: Any, *others: Any) -> None:
            self.lost = torch.zeros(COPY.config.controller_size)
            dweights = [dweights[0], self.lost, *dweights[2:]]
            self.inner = right("Gradients", torch.float32)(dweights, *others)

        def compute(self, *arguments: Any) -> float:
            return float(self.inner.compute(*arguments))

    def wrong(name: str, dtype: torch.dtype) -> Any:
        return Wrong if name == "Gradients" else right(name, dtype)

    monkeypatch.setattr(native, "function", wrong)
    monkeypatch.setattr("ntm.bench.networks.QUICK", BenchEffort(rounds=1, threads=((COPY, 1),)))
    assert main(["bench", "--quick", "--only", "threads", "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    progress, sentence = printed.err.splitlines()
    assert progress == "ntm bench: do the engines agree? copy ntm-ff"
    assert sentence.startswith(
        "ntm: The engines disagree, so no speed is reported: the gradient of "
        "cell.controller.layers.0.bias of copy ntm-ff is off by"
    )
