"""Resets within a sequence: each part between two resets (an episode) runs separately.

A network runs all episodes of a batch in one call, as sequences of mixed lengths. So every engine
supports resets, and an episode gives the same numbers as a separate call.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from ntm import engine
from ntm.engine.base import Answer
from ntm.layer.forms import Sequences, is_unbatched
from ntm.states import BatchState

States = TypeVar("States", bound=BatchState)


class Episodes:
    """Episodes of a batch: a sequence starts a new episode at step 0 and at every reset.

    resets: (time, batch) bool, with at least one step.
    lengths: steps of each sequence (None: all steps). Resets beyond a length are ignored.
    """

    def __init__(self, resets: Tensor, lengths: Tensor | None) -> None:
        steps, sequences = resets.shape
        time = torch.arange(steps, device=resets.device).unsqueeze(1)
        if lengths is None:
            lengths = torch.full((sequences,), steps, device=resets.device)
        self._inside = time < lengths
        begins = resets & self._inside
        fresh = begins.clone()
        begins[0] = True
        # Episodes are numbered sequence by sequence.
        self._sequence, self._first = begins.t().nonzero().unbind(1)
        self._fresh = fresh[self._first, self._sequence]
        self._number = begins.t().reshape(-1).cumsum(0).view(sequences, steps).t() - 1
        self.lengths = self._ends(lengths) - self._first
        self.longest = max(int(self.lengths.max()), 1)
        self._step = (time - self._first[self._number]).clamp(max=self.longest - 1)

    def _ends(self, lengths: Tensor) -> Tensor:
        """Return the step after the last step of every episode."""
        ends = lengths[self._sequence]
        same = self._sequence[1:] == self._sequence[:-1]
        ends[:-1] = torch.where(same, self._first[1:], ends[:-1])
        return ends

    def apart(self, x: Tensor) -> Tensor:
        """Return the steps of every episode, (longest episode, episodes, channels)."""
        steps = torch.arange(self.longest, device=x.device).unsqueeze(1) + self._first
        return x[steps.clamp(max=len(x) - 1), self._sequence]

    def start(self, state: States | None, initial_state: Callable[[int], States]) -> States | None:
        """Return the state before every episode; None means the learned start for all episodes."""
        if state is None:
            return None
        given = state.choose(self._sequence)
        return type(state).where(self._fresh, initial_state(len(self._fresh)), given)

    def together(self, values: Tensor) -> Tensor:
        """Join the values of episodes, (time, episodes, ...), by sequence, (time, batch, ...)."""
        found = values[self._step, self._number]
        inside = self._inside.reshape(*self._inside.shape, *[1] * (found.dim() - 2))
        return torch.where(inside, found, torch.zeros_like(found))

    def final(self, state: States) -> States:
        """Return the state after the last episode of every sequence."""
        return state.choose(self._number[-1])


def episodes_of(
    x: Sequences, resets: Any, lengths: Tensor | None, seen: Tensor, batch_first: bool
) -> Episodes:
    """Return the episodes that a caller's mask describes.

    resets: mask in the form of x, without channels: 1 where an episode starts.
    seen: x as (time, batch, channels).
    """
    if isinstance(x, PackedSequence):
        raise ValueError("resets are for a padded batch; give x as a tensor, with lengths.")
    mask = torch.as_tensor(resets, device=seen.device)
    if mask.shape != x.shape[:-1]:
        raise ValueError(
            f"resets must have the shape of x without its channels, {tuple(x.shape[:-1])}; got "
            f"{tuple(mask.shape)}."
        )
    if not ((mask == 0) | (mask == 1)).all():
        raise ValueError("resets must be 0 or 1 at every step.")
    if is_unbatched(x):
        mask = mask.unsqueeze(1)
    return Episodes((mask.t() if batch_first and not is_unbatched(x) else mask) == 1, lengths)


def run(net: Any, request: engine.Request, episodes: Episodes) -> Answer:
    """Run every episode on the network's engine; return what `ntm.engine.run` returns."""
    parts = request._replace(
        x=episodes.apart(request.x),
        state=episodes.start(request.state, net.initial_state),
        lengths=episodes.lengths,
    )
    logits, final, record = engine.run(net, parts)
    whole = {name: episodes.together(array) for name, array in record.items()}
    return episodes.together(logits), episodes.final(net._state(*final)), whole
