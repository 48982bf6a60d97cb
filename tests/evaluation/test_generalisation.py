import pytest
import torch

from ntm.evaluation import enlarged, evaluate, generalise, resized
from ntm.layer import NTM
from ntm.models.lstm import LSTMBaseline
from ntm.tasks import AssociativeRecall, Copy, RepeatCopy, Task


def machine(task: Task) -> NTM:
    torch.manual_seed(3)
    return NTM(
        task.input_size, task.output_size, controller_size=5, memory_locations=7, memory_width=3
    )


@pytest.mark.parametrize(
    ("task", "axis"),
    [
        (Copy(bits=2), "length"),
        (RepeatCopy(bits=2), "repeats"),
        (RepeatCopy(bits=2), "length"),
        (AssociativeRecall(bits=2), "items"),
    ],
)
def test_every_value_is_evaluated_on_the_task_fixed_there(task: Task, axis: str) -> None:
    model = machine(task)
    measured = generalise(model, task, axis, [2, 5], sequences=20, seed=7)
    assert list(measured) == [2, 5]
    for value, evaluation in measured.items():
        assert evaluation == evaluate(model, task.at(**{axis: value}), sequences=20, seed=7)


def test_the_memory_can_be_enlarged_first() -> None:
    task = Copy(bits=2)
    model = machine(task)
    measured = generalise(model, task, "length", [4], memory_locations=19, sequences=20)
    assert measured[4] == evaluate(model.resized(19), task.at(length=4), sequences=20)
    assert resized(model, 19).config.memory_locations == 19  # type: ignore[union-attr]
    assert resized(model, None) is model


def test_an_lstm_has_no_memory_to_enlarge() -> None:
    with pytest.raises(ValueError, match="LSTM has no memory"):
        resized(LSTMBaseline(3, 2, 5), 19)


def test_an_unknown_axis_is_refused() -> None:
    task = Copy(bits=2)
    with pytest.raises(ValueError, match="no axis 'items'"):
        generalise(machine(task), task, "items", [3])


def test_the_old_name_of_resized_warns() -> None:
    with pytest.warns(DeprecationWarning, match="enlarged is called resized"):
        assert enlarged(LSTMBaseline(3, 2, 5), None).config.hidden_size == 5
