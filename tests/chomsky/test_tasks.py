"""The tasks beside slow answers, written from the definitions of the paper."""

import math
import random
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.chomsky import slow_answers

import ntm_chomsky
from ntm.paper import registry
from ntm.tasks import Batch, check_batch, cost_in_bits
from ntm_chomsky import ALL, StringTask
from ntm_chomsky.context_free import expression

FOLDER = Path(__file__).parents[2] / "chomsky"

TASKS = {task.name: task for task in ALL}
NAMES = tuple(TASKS)


def texts(task: StringTask, batch: Batch) -> list[tuple[str, str]]:
    """The problems of a batch as texts: (input, answer)."""
    return [
        (
            spelled(batch.inputs[:, i, :-1], task.symbols),
            spelled(batch.targets[:, i], task.answers),
        )
        for i in range(batch.batch_size)
    ]


def spelled(channels: torch.Tensor, alphabet: str) -> str:
    steps, symbols = channels.nonzero(as_tuple=True)
    assert len(set(steps.tolist())) == len(steps), "one symbol at a time"
    return "".join(alphabet[symbol] for symbol in symbols.tolist())


def sample(task: StringTask, count: int, seed: int = 1) -> Batch:
    return task.sample(count, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 13, 40, 101])
def test_answers_are_the_definitions(name: str, length: int) -> None:
    task = TASKS[name]().at(length=length)
    batch = sample(task, 64)
    check_batch(task, batch)
    for question, answer in texts(task, batch):
        shorter = name == "modular-arithmetic" and length % 2 == 0
        assert len(question) == length - shorter
        assert answer == getattr(slow_answers, name.replace("-", "_"))(question), question


@pytest.mark.parametrize("name", NAMES)
def test_batches_of_mixed_lengths_keep_the_promises(name: str) -> None:
    task = TASKS[name]()
    batch = sample(task, 300)
    check_batch(task, batch)
    asked = [len(question) for question, _ in texts(task, batch)]
    assert min(asked) == 1
    assert max(asked) in (39, 40)
    scored = float(batch.mask.sum(dim=0).mean())
    assert scored == pytest.approx(task.mean_scored_steps, rel=0.12)


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_channel_is_on_while_the_answer_is_due(name: str) -> None:
    batch = sample(TASKS[name](), 50)
    assert torch.equal(batch.inputs[..., -1], batch.mask)
    assert torch.equal(batch.targets.sum(dim=-1), batch.mask)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_symbols(name: str) -> None:
    task = TASKS[name]()
    guess = task.mean_scored_steps * math.log2(len(task.answers))
    assert task.chance_bits == pytest.approx(guess)
    batch = sample(task, 20)
    right = batch.targets * 100
    assert float(cost_in_bits(right, batch).max()) < 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_equal_generators_give_equal_problems(name: str) -> None:
    first, again, other = (sample(TASKS[name](), 20, seed) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert first.inputs.shape != other.inputs.shape or not torch.equal(first.inputs, other.inputs)


@pytest.mark.parametrize("name", NAMES)
def test_all_symbols_and_answers_occur(name: str) -> None:
    task = TASKS[name]()
    questions, answers = map("".join, zip(*texts(task, sample(task, 500)), strict=True))
    assert set(questions) == set(task.symbols)
    assert set(answers) == set(task.answers)


@given(length=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_an_expression_has_the_length_that_was_asked_for(length: int, seed: int) -> None:
    text, value = expression(length, "+-*", random.Random(seed))
    assert len(text) == length
    assert slow_answers.modular_arithmetic_brackets(text) == str(value)


def test_stacks_of_every_size_are_drawn() -> None:
    task = TASKS["stack-manipulation"]().at(length=5)
    sizes = [len(q.rstrip("vab")) for q, _ in texts(task, sample(task, 400))]
    assert {sizes.count(size) // 60 for size in (1, 2, 3, 4)} == {1}


def test_every_task_has_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    # Entry points register experiments, which other tests must not see.
    monkeypatch.setattr(registry, "_EXPERIMENTS", dict(registry._EXPERIMENTS))
    facts = tomllib.loads((FOLDER / "pyproject.toml").read_text())
    points = facts["project"]["entry-points"]["ntm.tasks"]
    assert list(points) == list(NAMES)
    for name, value in points.items():
        assert EntryPoint(name, value, "ntm.tasks").load() is TASKS[name]
    assert set(ntm_chomsky.__all__) >= {task.__name__ for task in ALL}
