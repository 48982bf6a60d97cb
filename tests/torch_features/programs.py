"""Features that turn a network into a program: compiled, exported, traced."""

import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnxruntime
import torch
from tests.torch_features.feature import assert_same, feature, gradients, inputs, small_net
from torch.export import Dim

from ntm import NTM, Weightings

TIME, SEQUENCES = Dim("time", min=1, max=1000), Dim("sequences", min=1, max=1000)


@feature("`torch.compile`")
def compiled(engine: str) -> None:
    torch.compiler.reset()
    net, x = small_net(engine), inputs(steps=2)
    program = torch.compile(net, fullgraph=True, backend="aot_eager")
    for options in ({}, {"lengths": torch.tensor([1, 2, 0])}):
        assert_same(program(x, **options), net(x, **options), exactly=False)
    for ours, theirs in zip(gradients(net, program(x)[0]), gradients(net, net(x)[0]), strict=True):
        torch.testing.assert_close(ours, theirs)


def through_a_file(net: NTM, *arguments: object, dynamic: Sequence[object] | None = None) -> Any:
    """The network exported, saved and loaded."""
    return reloaded(torch.export.export(net, arguments, dynamic_shapes=dynamic))


def reloaded(program: torch.export.ExportedProgram) -> Any:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


@feature("`torch.export`, save and load")
def exported(engine: str) -> None:
    net, x = small_net(engine), inputs()
    program = through_a_file(net, x, net(x)[1].detach(), torch.tensor([3, 5, 0]))
    state, lengths = net(-x)[1].detach(), torch.tensor([5, 0, 2])
    assert_same(program(-x, state, lengths), net(-x, state, lengths), exactly=False)


@feature("`torch.export` with any number of steps and sequences")
def exported_open(engine: str) -> None:
    net, x = small_net(engine, controller="feedforward"), inputs()
    program = through_a_file(net, x, dynamic=({0: TIME, 1: SEQUENCES},))
    other = inputs(steps=9, batch=4)
    with torch.no_grad():
        assert_same(program(other), net(other), exactly=False)
    check_gradients(net, program, inputs(steps=1, batch=1))


def check_gradients(net: NTM, program: Any, x: torch.Tensor) -> None:
    names = [name for name, _ in net.named_parameters()]
    parameters = dict(program.named_parameters())
    ours = torch.autograd.grad(
        program(x)[0].square().sum(), [parameters[name] for name in names], allow_unused=True
    )
    theirs = torch.autograd.grad(net(x)[0].square().sum(), net.parameters(), allow_unused=True)
    for name, found, expected in zip(names, ours, theirs, strict=True):
        if expected is not None and expected.numel():
            torch.testing.assert_close(found, expected, msg=lambda text, n=name: f"{n}: {text}")


@feature("`torch.export` with `return_weightings=True`")
def exported_weightings(engine: str) -> None:
    net, x, asked = small_net(engine, controller="feedforward"), inputs(), inputs(7, 4)
    for dynamic in (None, {"x": {0: TIME, 1: SEQUENCES}, "return_weightings": None}):
        options = {"return_weightings": True}
        program = reloaded(torch.export.export(net, (x,), options, dynamic_shapes=dynamic))
        given = x if dynamic is None else asked
        logits, state, found = program(given, return_weightings=True)
        expected = net(given, return_weightings=True)
        assert_same((logits, state), expected[:2], exactly=False)
        assert type(found) is Weightings
        torch.testing.assert_close(list(found), list(expected[2]))
        assert program.cell.heads.linear.weight.grad is None
        found.read.square().sum().backward()
        assert program.cell.heads.linear.weight.grad.any()


@feature("`torch.export` of a network with a `backward_clip`", refusal="would lose backward_clip")
def exported_clip(engine: str) -> None:
    net, x = small_net(engine, backward_clip=1e-3), inputs()
    check_gradients(net, through_a_file(net, x), -x)


@feature("ONNX, any number of steps and sequences", refusal="ONNX has no operator for its kernels")
def onnx(engine: str) -> None:
    net, arguments = small_net(engine).eval(), {"x": inputs(), "lengths": torch.tensor([1, 5, 3])}
    shapes = {"x": {0: TIME, 1: SEQUENCES}, "lengths": {0: SEQUENCES}}
    with TemporaryDirectory() as folder, torch.no_grad():
        file = Path(folder, "net.onnx")
        options = {"dynamo": True, "dynamic_shapes": shapes, "verbose": False}
        torch.onnx.export(net, (), file, kwargs=arguments, **options)
        session = onnxruntime.InferenceSession(file)
    for steps, lengths in ((5, [2, 5, 0]), (9, [9, 8, 7, 0]), (1, [1])):
        arguments = {"x": inputs(steps, len(lengths)), "lengths": torch.tensor(lengths)}
        found = session.run(None, {name: tensor.numpy() for name, tensor in arguments.items()})
        logits, state = net(**arguments)
        expected = [part.detach() for part in (logits, *state)]
        torch.testing.assert_close([torch.tensor(array) for array in found], expected)


@feature("ONNX with `dynamo=False`", refusal=r"torch\.onnx\.export\(net, \(x,\), dynamo=True\)")
def onnx_by_tracing(engine: str) -> None:
    torch.onnx.export(small_net(engine).eval(), (inputs(),), io.BytesIO(), dynamo=False)


@feature("`torch.jit.trace`", refusal="torch.jit.trace would silently fix the number of steps")
def traced(engine: str) -> None:
    torch.jit.trace(small_net(engine), (inputs(),))


@feature("`torch.fx.symbolic_trace`", refusal=r"symbolic_trace cannot follow.*torch\.export")
def traced_by_fx(engine: str) -> None:
    torch.fx.symbolic_trace(small_net(engine))


@feature("`torch.jit.script`", refusal="torch.jit.script cannot read this layer")
def scripted(engine: str) -> None:
    torch.jit.script(small_net(engine))
