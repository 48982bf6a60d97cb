"""What holds for every task of the registry, whatever it is about."""

import inspect
import itertools
from dataclasses import fields

import pytest
import torch

from ntm.tasks import TASKS, Task, check_batch, cost_in_bits, make_task, wrong_bits

every_task = pytest.mark.parametrize("task", [make_task(name) for name in TASKS], ids=list(TASKS))
SMALL = {"copy": 6, "repeat-copy": 3, "associative-recall": 5, "ngrams": 40, "priority-sort": 5}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_five_tasks_are_there() -> None:
    assert set(TASKS) == set(SMALL)


@every_task
def test_batches_keep_their_promises(task: Task) -> None:
    for batch_size in (1, 2, 257):
        batch = task.sample(batch_size, generator(batch_size))
        check_batch(task, batch)
        assert batch.batch_size == batch_size
        assert all(tensor.is_contiguous() for tensor in batch)


@pytest.mark.parametrize("name", sorted(set(TASKS) - {"ngrams"}))  # which predicts as it listens
def test_no_input_is_given_while_the_answer_is_asked_for(name: str) -> None:
    batch = make_task(name).sample(101, generator())
    assert not batch.inputs[batch.mask > 0].any()


@every_task
def test_the_generator_alone_decides(task: Task) -> None:
    torch.manual_seed(1)
    first = task.sample(11, generator(5))
    torch.manual_seed(2)
    again, other = task.sample(11, generator(5)), task.sample(11, generator(6))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.inputs[:2], other.inputs[:2])
    state = torch.get_rng_state()
    task.sample(11, generator(5))
    assert torch.equal(torch.get_rng_state(), state)


@every_task
def test_a_generator_goes_on_to_new_problems(task: Task) -> None:
    source = generator()
    first, second = task.sample(11, source), task.sample(11, source)
    assert not torch.equal(first.inputs[:2], second.inputs[:2])


@every_task
def test_sequences_of_a_batch_differ(task: Task) -> None:
    fixed = task.at(**dict.fromkeys(task.axes, SMALL[task.name]))
    batch = fixed.sample(50, generator())
    problems = {tuple(batch.inputs[:, index].flatten().tolist()) for index in range(50)}
    assert len(problems) == 50


@every_task
def test_an_unbiased_predictor_pays_one_bit_per_scored_output(task: Task) -> None:
    batch = task.sample(53, generator())
    costs = cost_in_bits(torch.zeros_like(batch.targets), batch)
    torch.testing.assert_close(costs, batch.mask.sum(0) * task.output_size)


@every_task
def test_chance_is_the_mean_over_all_fixed_values(task: Task) -> None:
    ranges = [
        range(getattr(task, f"min_{axis}"), getattr(task, f"max_{axis}") + 1)
        for axis in task.axes
        if hasattr(task, f"min_{axis}")
    ]
    axes = [axis for axis in task.axes if hasattr(task, f"min_{axis}")]
    costs = []
    for values in itertools.product(*ranges):
        fixed = task.at(**dict(zip(axes, values, strict=True)))
        batch = fixed.sample(2, generator())
        cost = cost_in_bits(torch.zeros_like(batch.targets), batch)
        assert cost.tolist() == pytest.approx([fixed.chance_bits] * 2, rel=1e-5)
        costs.append(fixed.chance_bits)
    assert sum(costs) / len(costs) == pytest.approx(task.chance_bits)


@every_task
def test_chance_is_the_mean_cost_of_samples(task: Task) -> None:
    batch = task.sample(4000, generator())
    costs = cost_in_bits(torch.zeros_like(batch.targets), batch)
    five_sigma = 5 * float(costs.std()) / 4000**0.5
    assert abs(float(costs.mean()) - task.chance_bits) <= five_sigma + 1e-3


@every_task
def test_fixing_an_axis_fixes_the_length(task: Task) -> None:
    for axis in task.axes:
        others = {other: SMALL[task.name] for other in task.axes if other != axis}
        lengths = []
        for value in (7, 11):
            batch = task.at(**others, **{axis: value}).sample(20, generator())
            assert len(set(batch.lengths.tolist())) == 1
            lengths.append(int(batch.lengths[0]))
        assert lengths[0] < lengths[1]
        assert task.at(**{axis: 7}).input_size == task.input_size


@every_task
def test_pictures_are_aligned_and_count_the_wrong_bits(task: Task) -> None:
    fixed = task.at(**dict.fromkeys(task.axes, SMALL[task.name]))
    batch = fixed.sample(3, generator())
    logits = torch.randn(batch.targets.shape, generator=generator())
    picture = fixed.render(batch, 2, logits)
    wrong = int(wrong_bits(logits, batch)[2])
    assert f", {wrong} wrong bits\n" in picture
    lines = picture.splitlines()[1:]
    first = next(i for i, line in enumerate(lines) if line.startswith("answer"))
    answer = lines[first : first + task.output_size]
    cells = lines[0].rindex(" ") + 1
    assert sum(line[cells:].count("0") + line[cells:].count("1") for line in answer) == wrong
    assert max(len(line) for line in lines) == cells + len(batch.inputs)


@every_task
def test_every_setting_is_documented(task: Task) -> None:
    for setting in fields(task):
        assert setting.metadata["help"], setting.name


@every_task
def test_the_class_draws_itself(task: Task) -> None:
    assert inspect.getdoc(type(task)) != inspect.getdoc(Task)
    assert "#" in (type(task).__doc__ or "")


@pytest.mark.parametrize(
    ("task", "sizes", "chance"),
    [
        (make_task("copy"), (9, 8), 10.5 * 8),
        (make_task("copy", end_marker=True), (9, 9), 11.5 * 9),
        (make_task("copy").at(length=120), (9, 8), 960),
        (make_task("repeat-copy"), (8, 7), (5.5 * 5.5 + 1) * 7),
        (make_task("repeat-copy", bits=8), (10, 9), (5.5 * 5.5 + 1) * 9),
        (make_task("repeat-copy").at(length=20, repeats=3), (8, 7), (20 * 3 + 1) * 7),
        (make_task("associative-recall"), (8, 6), 18),
        (make_task("associative-recall").at(items=15), (8, 6), 18),
        (make_task("ngrams"), (1, 1), 199),
        (make_task("ngrams").at(length=50), (1, 1), 49),
        (make_task("priority-sort"), (10, 8), 128),
    ],
)
def test_sizes_and_chance_by_arithmetic(task: Task, sizes: tuple[int, int], chance: float) -> None:
    assert (task.input_size, task.output_size) == sizes
    assert task.chance_bits == chance


@every_task
def test_the_optimum_is_that_of_sequences_if_it_is_known(task: Task) -> None:
    batch = task.sample(1000, generator(3))
    best = task.optimal_bits(batch)
    assert (best is None) == (task.optimum is None)
    if best is not None and task.optimum is not None:
        assert abs(float(best.mean()) - task.optimum) < 4 * float(best.std()) / 1000**0.5


@every_task
def test_the_trained_range_is_what_is_sampled(task: Task) -> None:
    for axis in task.axes:
        low, high = task.trained_range(axis)
        assert task.at(**{axis: low}).trained_range(axis) == (low, low)
        assert low <= high
