"""Symbol targets: cost, mistakes, pictures, training, evaluation; loops are the references."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.spelling import Spell
from torch import Tensor

from ntm.evaluation import evaluate
from ntm.paper import settings_for
from ntm.runs import Stream
from ntm.studio import traced
from ntm.studio.documents import decoded, trace_document
from ntm.studio.terminal import as_text
from ntm.tasks import Batch, SymbolBatch, check_batch, cost_in_bits, wrong_bits
from ntm.tasks.checks import check_targets
from ntm.training import train


def words(count: int = 7, seed: int = 0, **settings: int) -> Batch:
    return Spell(**settings).sample(count, torch.Generator().manual_seed(seed))


def some_logits(batch: Batch, seed: int = 0) -> Tensor:
    return torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(seed)) * 3


def slow_answer(logits: Tensor, batch: Batch, index: int) -> tuple[float, int]:
    """Return the cost in bits and the wrong symbols of one sequence, by a loop."""
    bits, wrong = 0.0, 0
    for step in range(len(batch.mask)):
        if batch.mask[step, index]:
            values = logits[step, index].tolist()
            right = batch.targets[step, index].tolist().index(1)
            bits -= math.log2(math.exp(values[right]) / sum(map(math.exp, values)))
            wrong += max(values) > values[right]
    return bits, wrong


@given(count=st.integers(1, 5), seed=st.integers(0, 1000), letters=st.integers(1, 9))
def test_cost_and_mistakes_equal_a_loop(count: int, seed: int, letters: int) -> None:
    batch = words(count, seed, letters=letters)
    logits = some_logits(batch, seed)
    costs, wrong = cost_in_bits(logits, batch), wrong_bits(logits, batch)
    for index in range(count):
        bits, mistakes = slow_answer(logits, batch, index)
        assert float(costs[index]) == pytest.approx(bits, rel=1e-4, abs=1e-5)
        assert int(wrong[index]) == mistakes


def test_equal_probabilities_cost_chance() -> None:
    batch = words(2000)
    cost = cost_in_bits(torch.zeros_like(batch.targets), batch).mean().item()
    assert cost == pytest.approx(Spell().chance_bits, rel=0.05)
    assert Spell().chance_bits == pytest.approx(2.5 * math.log2(5))


def test_nan_is_wrong_and_unscored_steps_count_for_nothing() -> None:
    batch = words()
    right = 50 * batch.targets
    assert wrong_bits(right, batch).sum() == 0
    unscored = right.masked_fill((batch.mask == 0).unsqueeze(-1), torch.nan)
    assert cost_in_bits(unscored, batch).max() < 1e-6
    assert torch.equal(wrong_bits(right * torch.nan, batch), batch.mask.sum(0).long())


def test_batches_keep_their_kind() -> None:
    stream = Stream(Spell(), seed=1, batch_size=4, bucketed=True)
    for batch in (words(), words().narrow(0, 2), words().to("cpu"), stream.block(0)):
        assert isinstance(batch, SymbolBatch)
        assert batch._replace(mask=batch.mask).output_kind == "symbols"
    assert "SymbolBatch(" in repr(words())


def test_targets_without_a_symbol_or_with_two_are_refused() -> None:
    batch = words()
    check_batch(Spell(), batch)
    for damaged in (batch.targets * 0, batch.targets.clone().fill_(1)):
        wrong = batch._replace(targets=damaged * batch.mask.unsqueeze(-1))
        for check in (check_batch, check_targets):
            with pytest.raises(ValueError, match="exactly one target is 1 at every scored step"):
                check(Spell(), wrong)


def test_a_picture_has_one_row_of_symbols() -> None:
    batch = words(1, min_length=3, max_length=3)
    said = batch.targets.clone()
    said[-1] = said[-1].roll(1, dims=-1)
    answer = "".join("abcde"[i] for i in batch.targets[4:, 0].argmax(-1).tolist())
    wrong = "abcde"[int(said[-1, 0].argmax())]
    assert Spell().render(batch, 0, said).splitlines() == [
        "spell: 7 steps, 3 scored, 1 wrong symbol",
        f"input   symbol  {answer[::-1]}?\N{MIDDLE DOT}\N{MIDDLE DOT}\N{MIDDLE DOT}",
        f"target  symbol      {answer}",
        f"answer  symbol      {answer[:2]}{wrong}",
        "        wrong         ^",
    ]


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm", "lstm"])
def test_training_evaluation_and_traces(model: str) -> None:
    small = {"controller_size": 20, "memory_locations": 16, "memory_width": 8}
    sizes = {"hidden_size": 20, "layers": 1} if model == "lstm" else small
    settings = settings_for(Spell(letters=3, max_length=2), model).with_(
        model=sizes,
        training={"sequences": 6000, "batch_size": 8, "starts": 1, "validate_every": 3000},
        optimiser={"learning_rate": 3e-3},
    )
    result = train(settings)
    task = settings.task
    measured = evaluate(result.model, task, sequences=200)
    assert measured.mean_bits < 0.5 * task.chance_bits
    assert measured.accuracy is not None
    assert measured.perfect <= measured.accuracy <= 1
    assert measured.accuracy > 0.6
    trace = traced(result.model, task.sample(1, torch.Generator().manual_seed(5)), task)
    assert trace.probabilities.sum(axis=2) == pytest.approx(1)
    document = trace_document(trace)
    assert document["kinds"] == {"inputs": "symbols", "outputs": "symbols"}
    assert decoded(document["outputs"]).sum(axis=1) == pytest.approx(1)
    assert "wrong symbol" in as_text(trace)
