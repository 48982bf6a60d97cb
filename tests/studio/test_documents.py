"""The document holds exactly what the network did."""

import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from ntm import NTM, LSTMBaseline
from ntm.description import NTM_ARRAYS
from ntm.studio import trace_document, traced
from ntm.studio.documents import decoded, encoded
from ntm.tasks import Batch, Copy, NGrams, Task, cost_in_bits, wrong_bits
from ntm.trace import Trace

TASK = Copy(bits=3)


def problem(task: Task = TASK) -> Batch:
    return task.sample(1, torch.Generator().manual_seed(5))


def network(**changes: object) -> NTM:
    torch.manual_seed(2)
    sizes = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
    heads = {"read_heads": 2, "write_heads": 3, "shifts": (-1, 0, 2)}
    return NTM(TASK.input_size, TASK.output_size, **(sizes | heads | changes))  # type: ignore[arg-type]


def test_arrays_survive_to_the_bit() -> None:
    values = torch.randn(3, 0, 2).numpy(), np.float32([[math.pi, -0.0], [math.inf, 1e-45]])
    for array in values:
        sent = json.loads(json.dumps(encoded(array)))
        assert decoded(sent).tobytes() == array.tobytes()
        assert decoded(sent).shape == array.shape


def test_every_array_is_that_of_the_trace() -> None:
    net, batch = network(), problem()
    trace = net.trace(batch.inputs, memory=True)
    document = trace_document(traced(net, batch, TASK, "a title"))
    assert np.array_equal(decoded(document["memory"]), trace.memory[:, 0])  # type: ignore[index]
    kinds = [(head["kind"], head["index"]) for head in document["heads"]]
    assert kinds == [("read", 0), ("read", 1), ("write", 0), ("write", 1), ("write", 2)]
    for head in document["heads"]:
        own = [array.name for array in NTM_ARRAYS if array.head == head["kind"]]
        assert len(own) == len(head["arrays"]) == {"read": 10, "write": 11}[head["kind"]]
        for name in own:
            there = getattr(trace, name)[:, 0, head["index"]]
            sent = head["arrays"][name.removeprefix(f"{head['kind']}_")]
            assert np.array_equal(decoded(sent), there), name
    assert document["lanes"] == {}


def test_the_problem_and_the_answer_are_those_of_the_layer() -> None:
    net, batch = network(), problem()
    logits = net(batch.inputs)[0].detach()
    document = trace_document(traced(net, batch, TASK, "a title"))
    assert np.array_equal(decoded(document["inputs"]), batch.inputs[:, 0])
    assert np.array_equal(decoded(document["targets"]), batch.targets[:, 0])
    assert np.allclose(decoded(document["outputs"]), torch.sigmoid(logits[:, 0]), atol=1e-6)
    assert document["cost_bits"] == pytest.approx(float(cost_in_bits(logits, batch)))
    assert document["wrong_bits"] == int(wrong_bits(logits, batch)) > 0
    assert document["answer_steps"] == batch.mask[:, 0].nonzero().flatten().tolist()
    assert document["steps"] == len(batch.inputs)
    assert document["labels"]["inputs"] == list(TASK.input_channels)
    assert document["config"] == asdict(net.config)
    assert (document["title"], document["task"], document["model"]) == ("a title", "copy", "ntm-ff")
    assert document["shifts"] == [-1, 0, 2]


def test_inputs_alone_have_no_target() -> None:
    document = trace_document(traced(network(), problem().inputs))
    assert document["targets"] is document["cost_bits"] is document["wrong_bits"] is None
    assert document["answer_steps"] == []
    assert document["labels"]["outputs"] == ["output 1", "output 2", "output 3"]


def test_an_lstm_has_no_memory_to_show() -> None:
    net, batch = LSTMBaseline(TASK.input_size, TASK.output_size, hidden_size=5), problem()
    document = trace_document(traced(net, batch, TASK))
    assert document["memory"] is None
    assert document["heads"] == document["arrays"] == []
    logits = net(batch.inputs)[0].detach()
    assert np.allclose(decoded(document["outputs"]), torch.sigmoid(logits[:, 0]), atol=1e-6)


@pytest.mark.parametrize("kind", [NTM, LSTMBaseline])
def test_the_order_of_axes_that_a_network_likes_does_not_matter(kind: type) -> None:
    batch = problem()
    plain = kind(TASK.input_size, TASK.output_size)
    turned = kind(TASK.input_size, TASK.output_size, batch_first=True).double()
    turned.load_state_dict(plain.state_dict())
    ours, theirs = (trace_document(traced(net, batch))["outputs"] for net in (turned, plain))
    assert np.allclose(decoded(ours), decoded(theirs), atol=1e-5)


def test_n_grams_come_with_the_best_possible_predictions() -> None:
    task = NGrams(length=12)
    batch = problem(task)
    document = trace_document(traced(NTM(1, 1, memory_locations=5), batch, task))
    assert np.array_equal(decoded(document["optimal"]), task.optimal_probabilities(batch)[:, 0])


def test_a_network_that_has_blown_up_still_makes_valid_json() -> None:
    net = network()
    with torch.no_grad():
        next(iter(net.cell.output.parameters())).fill_(math.nan)
    document = trace_document(traced(net, problem(), TASK))
    assert document["cost_bits"] is None
    assert document["wrong_bits"] == TASK.bits * len(document["answer_steps"])
    json.dumps(document, allow_nan=False)


def test_more_than_one_problem_is_refused() -> None:
    batch = TASK.sample(2, torch.Generator())
    with pytest.raises(ValueError, match=r"Give batch\.narrow"):
        traced(network(), batch)


@pytest.mark.parametrize("task", [TASK, NGrams(length=12)], ids=lambda task: task.name)
def test_a_saved_trace_shows_what_the_recorded_one_shows(task: Task, tmp_path: Path) -> None:
    """Nothing but the file is left of the network."""
    nets = NTM(task.input_size, task.output_size), LSTMBaseline(task.input_size, task.output_size)
    for number, net in enumerate(nets):
        trace = traced(net, problem(task), task, "a title")
        trace.save(tmp_path / f"{number}.npz")
        document = trace_document(trace)
        again = trace_document(Trace.load(tmp_path / f"{number}.npz"))
        assert json.loads(json.dumps(again)) == json.loads(json.dumps(document))
        assert document["cost_bits"] is not None


def test_of_several_sequences_the_first_is_shown() -> None:
    net, batch = network(), TASK.sample(3, torch.Generator().manual_seed(5))
    document = trace_document(net.trace(batch.inputs, lengths=batch.lengths))
    alone = trace_document(net.trace(batch.narrow(0, 1).inputs))
    assert document["title"] == "trace, sequence 1 of 3"
    assert document["steps"] == int(batch.lengths[0]) < len(batch.inputs)
    assert np.allclose(decoded(document["outputs"]), decoded(alone["outputs"]), atol=1e-6)
    assert document["memory"] is document["targets"] is document["task"] is None


def test_a_sequence_without_steps_is_refused() -> None:
    empty = network().trace(problem().inputs, lengths=[0])
    with pytest.raises(ValueError, match="nothing to show"):
        trace_document(empty)
