"""RMSProp as in "Generating sequences with recurrent neural networks" (Graves, 2013), and clipping.

For every component g of the gradient, clipped to [-clip, clip]:

    n = decay n + (1 - decay) g^2
    m = decay m + (1 - decay) g
    d = momentum d - learning_rate g / sqrt(n - m^2 + epsilon)
    p = p + d

This RMSProp differs from torch.optim.RMSprop(centered=True) in two ways: epsilon is inside the
square root, and the momentum sums steps that are already scaled by the learning rate.
"""

import inspect
import math
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, overload

import torch
from torch import Tensor
from torch.autograd.graph import increment_version
from torch.optim.optimizer import ParamsT

from ntm import torch_names
from ntm.engine import native

SETTINGS = ("decay", "momentum", "epsilon", "clip")
"""Settings of an update after the learning rate, in the order of the kernels."""
_STATE = ("mean_square", "mean", "delta")
_parts_of = itemgetter(*_STATE)


class GravesRMSprop(torch.optim.Optimizer):
    """The paper's optimiser, with the paper's settings as defaults.

        optimiser = GravesRMSprop(net.parameters(), lr=1e-4)

    params: parameters or parameter groups, as for every torch optimiser.
    lr: learning rate (1e-4).
    decay: decay of the running means of the gradient and its square (0.95).
    momentum: share of the previous step that is added to the next (0.9).
    epsilon: constant added to the gradient's variance, inside the square root (1e-4).
    clip: every component of the gradient is clipped to [-clip, clip]; None for no clipping (10).

    The state of a parameter p is three tensors like p: `mean_square` (n), `mean` (m), `delta` (d).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-4,
        decay: float = 0.95,
        momentum: float = 0.9,
        epsilon: float = 1e-4,
        clip: float | None = 10.0,
    ) -> None:
        _require(lr >= 0, "lr", lr, "at least 0")
        _require(0 <= decay <= 1, "decay", decay, "from 0 to 1")
        _require(0 <= momentum <= 1, "momentum", momentum, "from 0 to 1")
        _require(epsilon > 0, "epsilon", epsilon, "above 0")
        _require(clip is None or clip > 0, "clip", clip, "above 0, or None")
        settings = {"decay": decay, "momentum": momentum, "epsilon": epsilon, "clip": clip}
        super().__init__(params, {"lr": lr, **settings})

    # torch's wrapper imports its compiler on the first call, which takes a second and a half.
    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad = torch.zeros_like(parameter.grad)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update every parameter that has a gradient; the gradients stay unchanged.

        closure: function that recomputes the loss and the gradients (None).
        """
        return self._watched_step(closure) if self._is_watched() else self._step(closure)

    # Avoid torch's wrapper for hooks and the profiler: it takes longer than the update itself.
    step.hooked = True  # type: ignore[attr-defined]

    def _is_watched(self) -> bool:
        """Return whether a hook or the profiler observes the steps."""
        own = self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
        return bool(own) or torch_names.optimiser_is_watched()

    def _step(self, closure: Callable[[], float] | None) -> float | None:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if parameters and not self._update_fused(parameters, group):
                with torch.no_grad():
                    self._update(parameters, group)
        return loss

    _watched_step = torch.optim.Optimizer.profile_hook_step(_step)

    def fused_step(self) -> bool:
        """Make a step with the native engine; if this is impossible, return False, change nothing.

        The native engine needs finite gradients, and tensors of one dtype and one group on the CPU.
        """
        first, *others = self.param_groups
        parameters = [p for p in first["params"] if p.grad is not None]
        return not others and bool(parameters) and self._update_fused(parameters, first)

    def ensure_state(self) -> None:
        """Create the zero state of every parameter now instead of at the first gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                self._state_of(parameter)

    def fused_update(self) -> Callable[[], bool]:
        """Return a function that makes a step with the native engine, for CPU tensors of one dtype.

        Parameters, gradients and state must stay at their addresses in memory. The function returns
        True, or False without a change if a gradient is not finite.
        """
        if len(self.param_groups) != 1:
            raise ValueError(
                f"A fused update has one group of parameters; got {len(self.param_groups)}."
            )
        group = self.param_groups[0]
        if any(parameter.grad is None for parameter in group["params"]):
            raise ValueError("A fused update needs a gradient of every parameter from the start.")
        kept = [[tensor.detach() for tensor in row] for row in self._rows(group["params"])]
        update = native.function("Optimiser", kept[0][0].dtype)(kept)
        return lambda: update.step(_constants(group))

    def _rows(self, parameters: Iterable[Tensor]) -> list[list[Tensor]]:
        """Return parameter, gradient and state tensors of each parameter for the native engine."""
        state = self.state
        try:
            return [[p, p.grad, *_parts_of(state[p])] for p in parameters]  # type: ignore[list-item]
        except KeyError:  # the first gradient of a parameter
            return [[p, p.grad, *_parts_of(self._state_of(p))] for p in parameters]  # type: ignore[list-item]

    def _update_fused(self, parameters: list[Tensor], group: dict[str, Any]) -> bool:
        """Update with the native engine; if impossible, return False and change nothing."""
        if not native.may_take(parameters[0]):
            return False
        update = native.function("update", parameters[0].dtype)
        done: bool = update(self._rows(parameters), _constants(group))
        if done:  # autograd does not notice the writes of the kernels
            increment_version(parameters)
        return done

    def _update(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        decay, lr = group["decay"], group["lr"]
        gradients = [p.grad for p in parameters if p.grad is not None]
        if group["clip"] is not None:
            gradients = list(torch._foreach_clamp_min(gradients, -group["clip"]))
            torch._foreach_clamp_max_(gradients, group["clip"])
        states = [self._state_of(parameter) for parameter in parameters]
        mean_squares = [state["mean_square"] for state in states]
        means = [state["mean"] for state in states]
        deltas = [state["delta"] for state in states]

        torch._foreach_mul_(mean_squares, decay)
        torch._foreach_addcmul_(mean_squares, gradients, gradients, 1 - decay)
        torch._foreach_mul_(means, decay)
        torch._foreach_add_(means, gradients, alpha=1 - decay)

        roots = torch._foreach_mul(means, means)
        torch._foreach_neg_(roots)
        torch._foreach_add_(roots, mean_squares)
        # A variance is never negative, but rounding of two nearly equal numbers can make it so.
        torch._foreach_clamp_min_(roots, 0.0)
        torch._foreach_add_(roots, group["epsilon"])
        torch._foreach_sqrt_(roots)

        torch._foreach_mul_(deltas, group["momentum"])
        torch._foreach_addcdiv_(deltas, gradients, roots, -lr)
        torch._foreach_add_(parameters, deltas)

    def _state_of(self, parameter: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[parameter]
        if not state:
            for name in _STATE:
                state[name] = torch.zeros_like(parameter)
        return state


def _constants(group: dict[str, Any]) -> list[float]:
    """Return the settings in the order of RMSPropSettings in csrc/contract.h."""
    return [float(group["lr"]), *(_number(group[name]) for name in SETTINGS)]


def _number(value: float | None) -> float:
    return math.inf if value is None else value


def _require(fits: bool, name: str, value: object, wanted: str) -> None:
    if not fits:
        raise ValueError(f"{name} must be {wanted}; got {value!r}.")
