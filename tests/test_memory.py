from collections.abc import Callable
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ntm.memory import add, erase, read, write

from . import slow_reference as slow
from .slow_reference import assert_agrees, distributions, reals, some_examples

BATCH, HEADS, N, M = 2, 3, 7, 5

memories = reals(BATCH, N, M)
weightings = distributions(BATCH, HEADS, N)
erasures = reals(BATCH, HEADS, M, low=0, high=1)
additions = reals(BATCH, HEADS, M)


def one_hot(*locations: int) -> Tensor:
    """A weighting of one sequence and a head per location, all of it at that location."""
    return torch.nn.functional.one_hot(torch.tensor([locations]), N).double()


@some_examples
@given(memories, weightings)
def test_read_is_equation_2(memory: Tensor, weighting: Tensor) -> None:
    rows, weights = memory.tolist(), weighting.tolist()
    expected = [[slow.read(rows[b], w) for w in weights[b]] for b in range(BATCH)]
    assert_agrees(read(memory, weighting), expected)


@some_examples
@given(memories, weightings)
def test_a_read_lies_between_the_rows(memory: Tensor, weighting: Tensor) -> None:
    reads = read(memory, weighting)
    lowest, highest = memory.amin(1, keepdim=True), memory.amax(1, keepdim=True)
    assert (reads >= lowest - 1e-12).all()
    assert (reads <= highest + 1e-12).all()


def head_after_head(
    equation: Callable[..., Any], memory: Tensor, weighting: Tensor, vectors: Tensor
) -> list[Any]:
    """Every sequence's memory after each head in turn."""
    expected = memory.tolist()
    for b in range(BATCH):
        for w, vector in zip(weighting[b].tolist(), vectors[b].tolist(), strict=True):
            expected[b] = equation(expected[b], w, vector)
    return expected


@some_examples
@given(memories, weightings, erasures, additions)
def test_erase_and_add_are_equations_3_and_4_head_after_head(
    memory: Tensor, weighting: Tensor, erasing: Tensor, adding: Tensor
) -> None:
    erased = head_after_head(slow.erase, memory, weighting, erasing)
    assert_agrees(erase(memory, weighting, erasing), erased)
    added = head_after_head(slow.add, memory, weighting, adding)
    assert_agrees(add(memory, weighting, adding), added)


@some_examples
@given(memories, weightings, erasures, additions)
def test_all_heads_erase_before_any_head_adds(
    memory: Tensor, weighting: Tensor, erase_vectors: Tensor, add_vectors: Tensor
) -> None:
    written = write(memory, weighting, erase_vectors, add_vectors)
    erased = erase(memory, weighting, erase_vectors)
    torch.testing.assert_close(written, add(erased, weighting, add_vectors))


@some_examples
@given(reals(1, N, M), st.integers(0, N - 1), reals(1, 1, M, low=0, high=1))
def test_claim_erase_one_at_weight_one_resets_to_zero(
    memory: Tensor, location: int, erase_vector: Tensor
) -> None:
    erase_vector[0, 0, 1], erase_vector[0, 0, 2] = 1, 0
    erased = erase(memory, one_hot(location), erase_vector)
    assert (erased[0, location, 1] == 0).all()
    assert torch.equal(erased[0, location, 2], memory[0, location, 2])
    elsewhere = torch.arange(N) != location
    assert torch.equal(erased[0, elsewhere], memory[0, elsewhere])


@some_examples
@given(memories, weightings, erasures, additions, st.permutations(range(HEADS)))
def test_claim_the_order_of_write_heads_is_irrelevant(
    memory: Tensor, weighting: Tensor, erase_vectors: Tensor, add_vectors: Tensor, order: list[int]
) -> None:
    one_order = write(memory, weighting, erase_vectors, add_vectors)
    heads = (weighting[:, order], erase_vectors[:, order], add_vectors[:, order])
    torch.testing.assert_close(write(memory, *heads), one_order)


@some_examples
@given(reals(1, N, M), st.lists(st.integers(0, N - 1), min_size=3, max_size=3, unique=True))
def test_what_a_sharp_head_writes_another_reads(memory: Tensor, locations: list[int]) -> None:
    values = torch.arange(3.0 * M, dtype=torch.float64).reshape(1, 3, M)
    sharp = one_hot(*locations)
    written = write(memory, sharp, torch.ones(1, 3, M, dtype=torch.float64), values)
    torch.testing.assert_close(read(written, sharp), values)
