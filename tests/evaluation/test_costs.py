import json
import math

import pytest
import torch
from torch import Tensor, nn

from ntm.evaluation import Evaluation, costs, evaluate
from ntm.models.lstm import LSTMBaseline
from ntm.runs.stream import Stream
from ntm.tasks import Copy, NGrams, Task, cost_in_bits


class Constant(nn.Module):
    """Answers every question with the same logit."""

    def __init__(self, outputs: int, logit: float) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.full((outputs,), logit))

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        return self.logits.expand(*x.shape[:2], -1), None


class Optimal(nn.Module):
    """The best possible predictor of n-grams, in a network's clothes."""

    def __init__(self, task: NGrams) -> None:
        super().__init__()
        self.task, self.anything = task, nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        batch = self.task.sample(x.shape[1], torch.Generator())._replace(inputs=x)
        return torch.logit(self.task.optimal_probabilities(batch)), None


def network(task: Task) -> LSTMBaseline:
    torch.manual_seed(3)
    return LSTMBaseline(task.input_size, task.output_size, 5)


def test_an_undecided_network_pays_one_bit_per_bit() -> None:
    task = Copy(bits=3, min_length=4, max_length=4)
    measured = evaluate(Constant(3, 0.0), task, sequences=300)
    assert measured.mean_bits == pytest.approx(12)
    assert measured.median_bits == pytest.approx(12)
    assert measured.sequences == 300


def test_perfect_is_the_fraction_of_sequences_without_a_wrong_bit() -> None:
    # Always saying zero is right for one vector of two bits in four.
    task = Copy(bits=2, min_length=1, max_length=1)
    measured = evaluate(Constant(2, -3.0), task, sequences=4000)
    assert measured.perfect == pytest.approx(0.25, abs=0.03)
    right, wrong = math.log2(1 + math.exp(-3)), math.log2(1 + math.exp(3))
    assert measured.mean_bits == pytest.approx(right + wrong, rel=0.03)
    assert measured.median_bits == pytest.approx(right + wrong, rel=1e-5)


def test_the_batch_size_decides_nothing() -> None:
    task = Copy(bits=3, max_length=4)
    model = network(task)
    expected = evaluate(model, task, sequences=300, batch_size=256)
    for batch_size in (1, 7, 1000):
        measured = evaluate(model, task, sequences=300, batch_size=batch_size)
        assert measured.mean_bits == pytest.approx(expected.mean_bits, rel=1e-6)
        assert measured.perfect == expected.perfect


def test_the_seed_decides_the_sequences() -> None:
    task = Copy(bits=3, max_length=4)
    model = network(task)
    assert evaluate(model, task, 50, seed=1) == evaluate(model, task, 50, seed=1)
    assert evaluate(model, task, 50, seed=1) != evaluate(model, task, 50, seed=2)


def test_costs_are_those_of_each_sequence_alone() -> None:
    task = Copy(bits=3, max_length=6)
    model = network(task)
    batch = task.sample(5, torch.Generator().manual_seed(1))
    bits, wrong = costs(model, batch)
    for index in range(5):
        alone = batch.narrow(index, index + 1)
        logits, _ = model(alone.inputs)
        torch.testing.assert_close(bits[index : index + 1], cost_in_bits(logits, alone).detach())
    assert not bits.requires_grad
    assert wrong.dtype == torch.int64


def test_ngrams_are_compared_with_the_optimum_on_the_same_sequences() -> None:
    task = NGrams(length=30)
    best = evaluate(Optimal(task), task, sequences=60)
    assert best.bits_above_optimal == pytest.approx(0, abs=1e-4)
    undecided = evaluate(Constant(1, 0.0), task, sequences=60)
    assert undecided.mean_bits == pytest.approx(29)
    assert undecided.optimal_bits == best.optimal_bits
    assert undecided.bits_above_optimal == pytest.approx(29 - best.mean_bits, abs=1e-4)


def test_json_holds_what_applies() -> None:
    numbers = Evaluation(mean_bits=1.5, median_bits=1.0, perfect=0.5, sequences=4).to_json()
    assert list(numbers) == ["mean_bits", "median_bits", "perfect", "sequences"]
    json.dumps(numbers)


@pytest.mark.parametrize("name", ["sequences", "batch_size"])
def test_nothing_cannot_be_measured(name: str) -> None:
    task = Copy(bits=3)
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1"):
        evaluate(network(task), task, **{name: 0})


def test_the_sequences_are_the_first_of_a_stream_in_blocks_of_256() -> None:
    task = Copy(bits=3, max_length=4)
    model, stream = network(task), Stream(task, 1, batch_size=256, name="evaluation")
    bits = torch.cat([costs(model, stream.block(number))[0] for number in range(4)]).double()
    for measured, count in ((evaluate(model, task, 300), 300), (evaluate(model, task), 1000)):
        assert measured.sequences == count
        assert measured.mean_bits == pytest.approx(bits[:count].mean().item(), rel=1e-6)
        assert measured.median_bits == pytest.approx(bits[:count].quantile(0.5).item(), rel=1e-6)


class Elsewhere(Constant):
    """A network on another device, which answers here."""

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        assert x.device == lengths.device == self.logits.device
        return torch.zeros(*x.shape[:2], len(self.logits)), None


def test_sequences_go_to_the_device_of_the_network() -> None:
    task = Copy(bits=3, min_length=4, max_length=4)
    assert evaluate(Elsewhere(3, 0.0).to("meta"), task, 10).mean_bits == pytest.approx(12)
