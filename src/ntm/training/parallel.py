"""One run in several processes, which share every batch and make the same updates.

    torchrun --nproc-per-node 2 -m ntm train copy --batch-size 16

A process of the run is called a rank, as in torch.distributed. The weights of all ranks are equal
bit for bit. An update takes one all-reduce of one buffer: the gradients of all parameters, the
cost, and a flag that is set if a rank wants to pause the loop. A value that is not finite on one
rank is not finite in the sum, so all ranks stop at the same step.

Only rank 0 reads and writes the run folder. The number of ranks changes only the order of the sums.
"""

import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, distributed

from ntm.models.step import TwoPartStep
from ntm.runs import RunError, Settings
from ntm.tasks import Batch

_BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}
_meetings = itertools.count()


class Ranks:
    """The processes of one run; this process is number `rank` of `size`.

    Every rank must call the same methods in the same order; each call waits for all ranks.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def leads(self) -> bool:
        """Whether this rank writes the run folder and prints for the user."""
        return self.rank == 0

    def sum(self, buffer: Tensor) -> None:
        """Replace the buffer by its sum over all ranks."""
        with self._together():
            distributed.all_reduce(buffer)

    def largest(self, *values: float) -> list[float]:
        """Return the maximum of each value over all ranks."""
        if self.size == 1:
            return list(values)
        shared = torch.tensor(values, dtype=torch.float64)
        with self._together():
            distributed.all_reduce(shared, distributed.ReduceOp.MAX)
        return shared.tolist()

    def from_leader(self, value: Any) -> Any:
        """Return the leader's value on every rank; the value must be plain JSON."""
        if self.size == 1:
            return value
        text = json.dumps(value).encode()
        length = torch.tensor([len(text)])
        with self._together():
            distributed.broadcast(length, 0)
            content = bytearray(text) if self.leads else bytearray(int(length))
            distributed.broadcast(torch.frombuffer(content, dtype=torch.uint8), 0)
        return json.loads(content)

    def copy_from_leader(self, tensors: Iterable[Tensor]) -> None:
        """Copy the content of the leader's tensors into these tensors."""
        if self.size == 1:
            return
        with self._together():
            for tensor in tensors:
                distributed.broadcast(tensor, 0)

    def tensors_from_leader(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the leader's tensors by name on every rank; they must be float32 on the CPU."""
        sizes = self.from_leader({name: list(tensor.shape) for name, tensor in tensors.items()})
        here = {name: tensors.get(name, torch.empty(size)) for name, size in sizes.items()}
        self.copy_from_leader(here.values())
        return here

    def meet(self) -> None:
        """Wait until every rank has reached this point."""
        self.largest(0)

    @contextmanager
    def _together(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise RunError(
                f"Rank {self.rank} of {self.size} stops because it has lost another "
                f"({_reason(error)}); --resume continues from the last checkpoint."
            ) from error


def number_of_ranks() -> int:
    """Return the number of processes that torchrun started; 1 without torchrun."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size()
    return int(os.environ["WORLD_SIZE"]) if _launched() else 1


def leads() -> bool:
    """Return whether this process prints for the user."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank() == 0
    return not _launched() or os.environ["RANK"] == "0"


def check_shares(batch_size: int) -> None:
    """Raise ValueError if the ranks cannot divide a batch evenly."""
    ranks = number_of_ranks()
    if batch_size % ranks:
        raise ValueError(
            f"training.batch_size is {batch_size} and {ranks} ranks cannot share it evenly; give a "
            f"multiple of {ranks}, such as --batch-size {ranks * -(-batch_size // ranks)}."
        )


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """Connect the processes that torchrun started; without torchrun there is one rank.

    An existing process group of the caller is used as it is.

    device: device of the run.
    """
    if number_of_ranks() == 1:
        yield Ranks()
    elif distributed.is_initialized():
        yield Ranks(distributed.get_rank(), distributed.get_world_size())
    else:
        ranks = _meet(device)
        try:
            yield ranks
        finally:
            distributed.destroy_process_group()


def agreed(settings: Settings, ranks: Ranks) -> Settings:
    """Return the leader's settings: only the leader needs the run's folder."""
    if ranks.size == 1:
        return settings
    settings = Settings.from_json(ranks.from_leader(settings.to_json()))
    check_shares(settings.training.batch_size)
    return settings


def part_of(settings: Settings, ranks: Ranks) -> Settings:
    """Return the settings for this rank: its share of every batch and, on `cuda`, its own GPU."""
    training = settings.training
    device = training.device if ranks.size == 1 else _device_here(training.device)
    training = replace(training, device=device, batch_size=training.batch_size // ranks.size)
    return replace(settings, model=settings.trained_model, training=training)


def _device_here(device: str) -> str:
    if device not in _BACKENDS:
        raise RunError(
            f"training.device={device} is not for several ranks; give cpu, or cuda, which is one "
            f"GPU per rank."
        )
    return device if device == "cpu" else f"{device}:{os.environ.get('LOCAL_RANK', '0')}"


def _launched() -> bool:
    return "TORCHELASTIC_RUN_ID" in os.environ


def _meet(device: str) -> Ranks:
    if not distributed.is_available():
        raise RunError("This build of torch has no torch.distributed; train without torchrun.")
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    here = _device_here(device)
    try:
        if device == "cuda":
            torch.cuda.set_device(here)
        store, rank, size = next(rendezvous("env://"))
        # The store outlives runs and restarts, so each needs its own prefix: ranks must not find
        # the addresses of earlier ranks.
        restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = PrefixStore(f"ntm {restart} {next(_meetings)}", store)
        backend = _BACKENDS[device]
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size)
    except (RuntimeError, AssertionError) as error:
        raise RunError(f"The ranks cannot train together: {_reason(error)}.") from error
    return Ranks(rank, size)


def _reason(error: Exception) -> str:
    """Return the first sentence of an error of torch.distributed, without its source location."""
    return re.sub(r"^\[.*?\] ", "", str(error)).partition("\n")[0].partition(". ")[0].rstrip(".")


class SharedStep:
    """Step of one rank: gradients on its share of a batch, then the update that all ranks make.

    step: step of a single process.
    ranks: processes of the run.
    calls: function that tells whether this rank has a reason to pause the loop.
    """

    def __init__(self, step: TwoPartStep, ranks: Ranks, calls: Callable[[], bool]) -> None:
        self._step, self._ranks, self._calls = step, ranks, calls
        self._parameters = list(step.model.parameters())
        sizes = [parameter.numel() for parameter in self._parameters]
        self._buffer = self._parameters[0].new_zeros(sum(sizes) + 2)
        self._flat, self._extra = self._buffer[:-2], self._buffer[-2:]
        pieces = zip(torch.split(self._flat, sizes), self._parameters, strict=True)
        self._pieces = [piece.view_as(parameter) for piece, parameter in pieces]
        self._called = False

    @property
    def bytes(self) -> int:
        """Size of the buffer that an update sums over the ranks."""
        return self._buffer.nbytes

    def called(self) -> bool:
        """Return whether any rank had a reason to pause the loop at the last step."""
        return self._called

    def __call__(self, block: Batch, start: int, stop: int) -> float:
        """Train on the sequences `start` to `stop - 1`, divided among the ranks; see `Step`."""
        share = (stop - start) // self._ranks.size
        first = start + share * self._ranks.rank
        bits = self.exchange(self._step.differentiate(block, first, first + share))
        self._step.update(bits)
        return bits

    @torch.no_grad()
    def exchange(self, bits: float) -> float:
        """Average the gradients over all ranks in place; return the sum of the ranks' costs."""
        here = [
            (piece, parameter.grad)
            for piece, parameter in zip(self._pieces, self._parameters, strict=True)
            if parameter.grad is not None
        ]
        pieces, gradients = [piece for piece, _ in here], [gradient for _, gradient in here]
        torch._foreach_copy_(pieces, gradients)
        self._extra.copy_(torch.tensor([bits, float(self._calls())]))
        self._ranks.sum(self._buffer)
        self._flat.div_(self._ranks.size)
        torch._foreach_copy_(gradients, pieces)
        extra: list[float] = self._extra.tolist()
        self._called = extra[1] > 0
        return extra[0]
