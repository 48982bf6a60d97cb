"""Tapes use memory that is kept between calls: no call may disturb another one."""

import gc
import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor

from ntm.engine import native
from ntm.engine.fused import NTMGradients
from ntm.layer import NTM

pytestmark = pytest.mark.skipif(native.loaded().module is None, reason="no native engine")
STEPS, BATCH = 40, 6


def network(seed: int = 0, **options: Any) -> NTM:
    torch.manual_seed(seed)
    return NTM(3, 2, engine="native", **options)


def inputs(seed: int, steps: int = STEPS) -> Tensor:
    return torch.randn(steps, BATCH, 3, generator=torch.Generator().manual_seed(seed))


def gradients(net: NTM, x: Tensor) -> list[Tensor]:
    loss = net(x)[0].square().sum()
    return list(torch.autograd.grad(loss, list(net.parameters())))


def require_equal(found: list[Tensor], expected: list[Tensor]) -> None:
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


def spoil() -> None:
    """Fill the memory that is kept for later calls with NaN."""
    rooms = [native.empty(torch.empty(0), count << 16) for count in (1, 4, 16, 64)]
    for room in rooms:
        room.fill_(torch.nan)


def test_several_forwards_before_their_backwards_in_any_order() -> None:
    net = network()
    parameters = list(net.parameters())
    expected = [gradients(net, inputs(seed)) for seed in range(4)]
    losses = [net(inputs(seed))[0].square().sum() for seed in range(4)]
    for seed in (2, 0, 3, 1):
        spoil()
        require_equal(list(torch.autograd.grad(losses[seed], parameters)), expected[seed])


def test_a_retained_graph_gives_the_same_gradients_again() -> None:
    net = network()
    parameters = list(net.parameters())
    loss = net(inputs(0))[0].square().sum()
    first = torch.autograd.grad(loss, parameters, retain_graph=True)
    gradients(net, inputs(1))
    spoil()
    second = torch.autograd.grad(loss, parameters)
    require_equal(list(second), list(first))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(loss, parameters)


def test_an_exception_in_the_middle_of_a_graph_changes_no_later_call() -> None:
    net = network()
    expected = gradients(net, inputs(0))

    def fail(_gradient: Tensor) -> None:
        raise ValueError("on purpose")

    logits, _ = net(inputs(1))
    logits.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose"):
        logits.sum().backward()  # type: ignore[no-untyped-call]
    with pytest.raises(ValueError, match="lengths"):
        net(inputs(1), lengths=torch.tensor([STEPS + 1] * BATCH))
    del logits
    require_equal(gradients(net, inputs(0)), expected)


def test_graphs_of_several_threads_do_not_mix() -> None:
    nets = [network(seed) for seed in range(4)]
    expected = [[gradients(net, inputs(seed)) for seed in range(6)] for net in nets]

    def work(number: int) -> list[list[Tensor]]:
        return [gradients(nets[number], inputs(seed)) for seed in range(6)]

    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(work, range(4)), expected, strict=True):
            for ours, theirs in zip(found, wanted, strict=True):
                require_equal(ours, theirs)


def test_a_graph_may_be_freed_by_another_thread() -> None:
    net = network()
    graphs = [net(inputs(seed))[0] for seed in range(3)]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(graphs.clear).result()
    require_equal(gradients(net, inputs(0)), gradients(network(), inputs(0)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_goes_back_through_a_graph_of_its_parent() -> None:
    net = network()
    parameters = list(net.parameters())
    expected = gradients(net, inputs(0))
    loss = net(inputs(0))[0].square().sum()
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def child() -> None:
        found = [*gradients(net, inputs(0)), *torch.autograd.grad(loss, parameters)]
        same = [torch.equal(*pair) for pair in zip(found, expected * 2, strict=True)]
        answers.put(all(same))

    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert answers.get()
    require_equal(list(torch.autograd.grad(loss, parameters)), expected)


def page_faults(work: Callable[[], object], calls: int = 5) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(calls):
        work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls


@pytest.mark.skipif("sanitizers" in native.build_summary(), reason="each block is a new one")
def test_memory_is_kept_for_the_next_call_and_released_on_request() -> None:
    net, x = network(), inputs(0, 400)

    def work() -> None:
        gradients(net, x)

    pages = (
        native.loaded().module.tape_size(400, BATCH, True, native.sizes_of(net.config, None))
        // 1024
    )
    work()
    assert page_faults(work) < pages / 20
    native.release_memory()
    assert page_faults(work, 1) > 0


def test_memory_is_released_with_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[bool] = []
    monkeypatch.setattr(native, "_users", type(native._users)())
    monkeypatch.setattr(native, "release_memory", lambda: released.append(True))
    for use in (lambda net: gradients(net, inputs(0)), NTMGradients):
        net = network()
        use(net)  # type: ignore[operator]
        use(net)  # type: ignore[operator]
        assert not released
        del net
        gc.collect()
        assert released == [True]
        released.clear()


def test_without_gradients_there_is_no_tape() -> None:
    net = network()
    sizes = native.sizes_of(net.config, None)
    assert native.loaded().module.tape_size(10**6, 1, False, sizes) == 0
    with torch.no_grad():
        assert net(inputs(0))[0].grad_fn is None


def test_the_memories_between_checkpoints_are_not_on_the_tape() -> None:
    net = network(memory_locations=1024)
    sizes = native.sizes_of(net.config, None)
    short, long = (
        native.loaded().module.tape_size(steps, BATCH, True, sizes) for steps in (100, 200)
    )
    assert long - short < 100 * BATCH * 1024 * 20 * 0.8


def test_a_memory_that_is_overwritten_gives_the_results_of_one_that_is_kept() -> None:
    """The memories of a group exceed the cache, the memories of one sequence do not."""
    net, lengths = network(memory_locations=300), torch.tensor([STEPS, 8, 39, 9, 17, 1])
    x = inputs(0).requires_grad_()
    logits, state = net(x, lengths=lengths)
    logits.square().sum().backward()  # type: ignore[no-untyped-call]
    memories = net.trace(x.detach(), lengths=lengths, memory=True).memory
    for i, length in enumerate(lengths.tolist()):
        alone = x[:length, i : i + 1].detach().requires_grad_()
        own_logits, own_state = net(alone)
        own_logits.square().sum().backward()  # type: ignore[no-untyped-call]
        own_memories = net.trace(alone.detach(), memory=True).memory
        require_equal([*(part[i] for part in state)], [part[0] for part in own_state])
        require_equal([x.grad[:length, i]], [alone.grad[:, 0]])  # type: ignore[index]
        assert (memories[:length, i] == own_memories[:, 0]).all()
