import math
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ntm.tasks import Batch, Copy, NGrams, RepeatCopy, check_batch, cost_in_bits, wrong_bits
from ntm.tasks.checks import check_targets


def copies(batch_size: int = 7, seed: int = 0) -> Batch:
    task = Copy(bits=3, max_length=5, end_marker=True)
    return task.sample(batch_size, torch.Generator().manual_seed(seed))


def some_logits(batch: Batch, seed: int = 0) -> Tensor:
    return torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(seed)) * 3


def slow_cost(logits: Tensor, batch: Batch, index: int) -> float:
    bits = 0.0
    for step in range(int(batch.lengths[index])):
        if batch.mask[step, index]:
            for channel in range(batch.targets.shape[2]):
                p = 1 / (1 + math.exp(-float(logits[step, index, channel])))
                right = p if batch.targets[step, index, channel] else 1 - p
                bits -= math.log2(right)
    return bits


@settings(deadline=None, max_examples=20)
@given(batch_size=st.integers(1, 5), seed=st.integers(0, 1000))
def test_cost_and_wrong_bits_equal_a_loop(batch_size: int, seed: int) -> None:
    batch = copies(batch_size, seed)
    logits = some_logits(batch, seed)
    costs, wrong = cost_in_bits(logits, batch), wrong_bits(logits, batch)
    assert wrong.dtype == torch.int64
    for index in range(batch_size):
        assert float(costs[index]) == pytest.approx(slow_cost(logits, batch, index), rel=1e-4)
        scored = batch.mask[:, index] > 0
        said = (logits[scored, index] > 0).tolist()
        asked = (batch.targets[scored, index] == 1).tolist()
        pairs = [
            (a, b) for s, t in zip(said, asked, strict=True) for a, b in zip(s, t, strict=True)
        ]
        assert int(wrong[index]) == sum(a != b for a, b in pairs)


def test_the_right_answer_costs_nothing_and_its_opposite_is_all_wrong() -> None:
    batch = copies()
    logits = (2 * batch.targets - 1) * 100
    assert cost_in_bits(logits, batch).max() < 1e-30
    assert wrong_bits(logits, batch).tolist() == [0] * 7
    assert torch.equal(wrong_bits(-logits, batch), batch.mask.sum(0).long() * 4)


def test_cost_keeps_the_precision_of_the_logits() -> None:
    batch = copies()
    assert cost_in_bits(some_logits(batch).double(), batch).dtype == torch.float64


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_unscored_outputs_have_neither_cost_nor_gradient(poison: float) -> None:
    batch = copies()
    logits = some_logits(batch)
    unscored = (batch.mask == 0).unsqueeze(-1).expand_as(logits)
    poisoned = logits.masked_fill(unscored, poison).requires_grad_()
    costs = cost_in_bits(poisoned, batch)
    assert torch.equal(costs.detach(), cost_in_bits(logits, batch))
    assert torch.equal(wrong_bits(poisoned, batch), wrong_bits(logits, batch))
    costs.sum().backward()
    assert poisoned.grad is not None
    assert (poisoned.grad[unscored] == 0).all()
    assert poisoned.grad[~unscored].all()


def test_an_answer_that_is_not_a_number_is_wrong_and_costs_nan() -> None:
    batch = copies()
    logits = torch.full_like(batch.targets, math.nan)
    assert torch.equal(wrong_bits(logits, batch), batch.mask.sum(0).long() * 4)
    assert cost_in_bits(logits, batch).isnan().all()


def test_logits_of_another_shape_are_refused() -> None:
    batch = copies()
    for function in (cost_in_bits, wrong_bits):
        with pytest.raises(ValueError, match="give one logit per target"):
            function(torch.zeros(1, 7, 4), batch)


@settings(deadline=None, max_examples=20)
@given(data=st.data(), seed=st.integers(0, 100))
def test_narrow_gives_the_sequences_asked_for_and_no_padding_in_common(
    data: st.DataObject, seed: int
) -> None:
    batch = copies(7, seed)
    start = data.draw(st.integers(0, 6))
    stop = data.draw(st.integers(start + 1, 7))
    part = batch.narrow(start, stop)
    time = int(batch.lengths[start:stop].max())
    assert part.batch_size == stop - start
    assert len(part.inputs) == len(part.targets) == len(part.mask) == time
    assert torch.equal(part.inputs, batch.inputs[:time, start:stop])
    logits = some_logits(batch)
    torch.testing.assert_close(
        cost_in_bits(logits[:time, start:stop], part), cost_in_bits(logits, batch)[start:stop]
    )


@pytest.mark.parametrize(("start", "stop"), [(0, 8), (3, 3), (5, 2), (-1, 2)])
def test_narrow_refuses_sequences_that_are_not_there(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="asked of a batch of 7"):
        copies().narrow(start, stop)


def test_a_batch_moves_to_a_device_whole() -> None:
    assert all(tensor.device.type == "meta" for tensor in copies().to("meta"))


def test_at_fixes_an_axis_and_keeps_everything_else() -> None:
    task = Copy(bits=3, end_marker=True)
    assert task.at(length=120) == Copy(bits=3, end_marker=True, min_length=120, max_length=120)
    assert task.at() == task


def test_at_refuses_an_axis_that_the_task_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"copy task has no axis 'repeats'; it has length\."):
        Copy().at(repeats=3)
    with pytest.raises(ValueError, match=r"no axis 'items'; it has length and repeats\."):
        RepeatCopy().at(items=3)


def test_at_refuses_a_value_that_is_no_count() -> None:
    with pytest.raises(ValueError, match="length must be an integer of at least 1, got 0"):
        Copy().at(length=0)
    with pytest.raises(ValueError, match="length must be an integer of at least 1, got '12'"):
        Copy().at(length="12")  # type: ignore[arg-type]


def test_settings_are_checked_in_sentences() -> None:
    with pytest.raises(ValueError, match="bits must be an integer from 1 to 4096, got 0"):
        Copy(bits=0)
    with pytest.raises(ValueError, match=r"bits must be an integer from 1 to 4096, got 8\.0"):
        Copy(bits=8.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bits must be an integer from 1 to 4096, got True"):
        Copy(bits=True)
    with pytest.raises(ValueError, match="end_marker must be true or false, got 1"):
        Copy(end_marker=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="min_length is 30 and max_length is 20, an empty range"):
        Copy(min_length=30)


def test_a_batch_has_at_least_one_sequence() -> None:
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, got 0"):
        NGrams().sample(0, torch.Generator())


def test_tasks_are_values() -> None:
    assert Copy() == Copy(max_length=20)
    assert hash(Copy()) == hash(Copy())
    with pytest.raises(FrozenInstanceError):
        Copy().bits = 3  # type: ignore[misc]


def broken(field: str, position: tuple[int | slice, ...], value: float) -> Batch:
    batch = Copy(bits=3, max_length=5).sample(7, torch.Generator().manual_seed(0))
    changed = getattr(batch, field).clone()
    changed[position] = value
    return batch._replace(**{field: changed})


@pytest.mark.parametrize(
    ("batch", "promise"),
    [
        (broken("mask", (1, 0), 0.5), "mask is 0 or 1"),
        (broken("targets", (0, 0, 0), 1.0), "targets are zero where not scored"),
        (broken("targets", (0, 0, 0), 0.5), "targets are 0 or 1"),
        (broken("lengths", (0,), 99), "the longest sequence fills the time axis"),
        (broken("lengths", (slice(1, None),), 1), "inputs are zero beyond each length"),
    ],
)
def test_check_batch_names_the_promise_that_is_broken(batch: Batch, promise: str) -> None:
    with pytest.raises(ValueError, match=f"copy is invalid; it must be true that {promise}"):
        check_batch(Copy(bits=3, max_length=5), batch)


def test_check_batch_finds_scored_padding_and_unscored_sequences() -> None:
    task = Copy(bits=3, max_length=5)
    batch = task.sample(7, torch.Generator().manual_seed(0))
    shortest = int(batch.lengths.argmin())
    assert batch.lengths[shortest] < len(batch.mask)
    with pytest.raises(ValueError, match="no step beyond a length is scored"):
        check_batch(task, broken("mask", (-1, shortest), 1.0))
    silent = batch._replace(
        mask=batch.mask.index_fill(1, torch.tensor([2]), 0.0),
        targets=batch.targets.index_fill(1, torch.tensor([2]), 0.0),
    )
    with pytest.raises(ValueError, match="every sequence has a scored step"):
        check_batch(task, silent)


def test_check_batch_finds_wrong_shapes_and_types() -> None:
    task = Copy(bits=3, max_length=5)
    batch = task.sample(7, torch.Generator().manual_seed(0))
    check_batch(task, batch)
    with pytest.raises(ValueError, match=r"has inputs of shape .* they must be \(\d+, 7, 4\)"):
        check_batch(task, batch._replace(inputs=batch.inputs[..., :2]))
    with pytest.raises(ValueError, match=r"has lengths .* and torch\.int64"):
        check_batch(task, batch._replace(lengths=batch.lengths.int()))


def test_render_draws_problem_target_and_answer_aligned() -> None:
    one, zero = "\N{FULL BLOCK}", "\N{MIDDLE DOT}"
    task = Copy(bits=2)
    # Two sequences; the second, of one vector, is drawn without its padding.
    inputs = torch.zeros(5, 2, 3)
    inputs[0, 1, 0] = 1
    inputs[1, 1, 2] = 1
    targets = torch.zeros(5, 2, 2)
    targets[2, 1, 0] = 1
    mask = torch.zeros(5, 2)
    mask[2, 1] = 1
    batch = Batch(inputs, targets, mask, torch.tensor([5, 3]))
    problem = [
        f"input   bit 1  {one}{zero}{zero}",
        f"        bit 2  {zero}{zero}{zero}",
        f"        end    {zero}{one}{zero}",
        f"target  bit 1    {one}",
        f"        bit 2    {zero}",
    ]
    assert task.render(batch, 1).split("\n") == ["copy: 3 steps, 1 scored", *problem]
    logits = torch.ones(5, 2, 2)
    assert task.render(batch, 1, logits).split("\n") == [
        "copy: 3 steps, 1 scored, 1 wrong bit",
        *problem,
        f"answer  bit 1    {one}",
        "        bit 2    1",
        "        wrong    ^",
    ]
    assert "no wrong bits" in task.render(batch, 1, logits * torch.tensor([1.0, -1.0]))


def test_render_refuses_a_sequence_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="asked of a batch of 7"):
        Copy(bits=3, end_marker=True).render(copies(), 7)


def test_render_refuses_logits_of_another_shape() -> None:
    task = Copy(bits=3)
    batch = task.sample(2, torch.Generator().manual_seed(1))
    with pytest.raises(ValueError, match="give one logit per target"):
        task.render(batch, 0, torch.zeros(len(batch.inputs) + 1, 2, 3))


def test_check_batch_minds_the_step_right_after_the_end() -> None:
    task = Copy(bits=3, min_length=1, max_length=4)
    batch = task.sample(20, torch.Generator().manual_seed(1))
    shortest = int(batch.lengths.argmin())
    batch.inputs[batch.lengths[shortest], shortest, 0] = 1
    with pytest.raises(ValueError, match="inputs are zero beyond each length"):
        check_batch(task, batch)


def test_an_undecided_logit_says_zero() -> None:
    batch = Copy(bits=3, min_length=2, max_length=2).sample(4, torch.Generator().manual_seed(1))
    scored = batch.targets * batch.mask.unsqueeze(-1)
    assert torch.equal(
        wrong_bits(torch.zeros_like(batch.targets), batch), scored.sum((0, 2)).long()
    )
    assert scored.any()


def test_render_takes_the_answer_of_the_sequence_alone() -> None:
    task = Copy(bits=3, min_length=2, max_length=2)
    batch = task.sample(3, torch.Generator().manual_seed(1))
    logits = torch.where(batch.targets > 0, 9.0, -9.0)
    logits[:, 1:] *= -1
    assert "no wrong bits" in task.render(batch, 0, logits)
    assert "6 wrong bits" in task.render(batch, 1, logits)


@dataclass(frozen=True, kw_only=True)
class Unbounded(Copy):
    name: ClassVar[str] = "unbounded"
    axes: ClassVar[tuple[str, ...]] = ("length", "depth", "breadth")
    depth: int = 3

    def fields_at(self, axis: str, value: int) -> dict[str, int]:
        return {"bits": value} if axis == "breadth" else super().fields_at(axis, value)


def test_the_smallest_size_is_what_a_field_declares_and_one_otherwise() -> None:
    task = Unbounded(min_length=4)
    assert {axis: task.smallest(axis) for axis in task.axes} == dict.fromkeys(task.axes, 1)
    with pytest.raises(ValueError, match="unbounded task has no axis 'width'; it has length and"):
        task.smallest("width")


@pytest.mark.parametrize("target", [0.5, 2.0, -1.0, math.nan, math.inf])
def test_scored_targets_are_bits(target: float) -> None:
    batch = copies()
    check_targets(Copy(), batch)
    batch.targets[batch.mask == 0] = target
    check_targets(Copy(), batch)
    step, sequence = (batch.mask > 0).nonzero()[-1].tolist()
    batch.targets[step, sequence, 2] = target
    with pytest.raises(ValueError, match=f"The targets of copy must be 0 or 1 .* got {target:g}"):
        check_targets(Copy(), batch)
