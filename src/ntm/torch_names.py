"""Names of torch that are not public, or not in every version: all of them are looked up here.

Each name is looked up once, when this file is imported. Where a torch lacks one, something slower
or simpler takes its place, and `MISSING` says what that means; `ntm info` prints it. The kernels
ask torch's tensors for one more, `__dlpack_c_exchange_api__`, and read their attributes without it.

`torch._foreach_*` is not meant: torch documents these functions.
"""

import warnings
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn.modules import module as _modules
from torch.optim import optimizer as _optimizer

OLDEST = "2.8"
"""The oldest torch that the package supports; pyproject.toml requires it."""
TESTED = ("2.8.0", "2.13.0", "2.15.0")
"""The versions that the tests run with: the oldest, the one of `make test`, the newest."""
LOOKED_UP: list[str] = []
"""All names that are looked up here and need not exist."""
MISSING: dict[str, str] = {}
"""Names that this torch lacks, and the consequence of each."""


def _find(name: str, otherwise: Any, consequence: str) -> Any:
    """What torch has under a dotted name; `otherwise` where it has nothing."""
    LOOKED_UP.append(name)
    try:
        return resolve_name(name)
    except (ImportError, AttributeError):
        MISSING[name] = consequence
        return otherwise


def is_older() -> bool:
    """Whether this torch is older than the oldest that the package supports."""
    return _number(torch.__version__) < _number(OLDEST)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


# --- Transforms and modes: who has to see a call's tensors? -------------------------------------

# A mode of torch that watches operators must see the native engine as one. torch has no public
# question for "is there a mode?".
dispatch_modes: Callable[[], int] = _find(
    "torch._C._len_torch_dispatch_stack",
    lambda: 1,
    "the native engine always runs as an operator, which is slower",
)
function_modes: Callable[[], int] = _find(
    "torch._C._len_torch_function_stack",
    lambda: 1,
    "the native engine always runs as an operator, which is slower",
)
# The kernels read memory, and the tensors of torch.func have none of their own. Only this name
# tells whether a torch.func transform runs, and which.
_LEVEL = "torch._C._functorch.peek_interpreter_stack"
transform_level: Callable[[], Any] = _find(
    _LEVEL,
    lambda: None,
    "the native engine does not run, since it could not tell when torch.func transforms a call",
)


def native_obstacle() -> str | None:
    """Why the native engine cannot run with this torch; None when it can."""
    lacks = f"torch {torch.__version__} has no {_LEVEL}, which tells when torch.func transforms"
    return f"{lacks} a call; install torch {TESTED[-1]}" if _LEVEL in MISSING else None


# torch.jit.trace would fix the number of steps. The public torch.jit.is_tracing is slower.
tracing_state: Callable[[], Any] = _find(
    "torch._C._get_tracing_state",
    lambda: True if cast(Any, torch.jit).is_tracing() else None,
    "a call takes a little longer",
)
# The public forward_ad.unpack_dual refuses to be called outside a level and is slower.
unpack_dual: Callable[..., Any] = _find(
    "torch._VF._unpack_dual",
    lambda tensor, level: cast(Any, forward_ad).unpack_dual(tensor),  # noqa: ARG005
    "forward-mode differentiation takes a little longer",
)
# Almost every call is outside forward-mode differentiation, and then no tensor needs a look.
_find("torch.autograd.forward_ad._current_level", None, "a call takes a little longer")


def in_forward_mode() -> bool:
    """Whether a tensor may carry a derivative in forward mode."""
    return getattr(forward_ad, "_current_level", 0) >= 0


# The public torch.is_autocast_enabled asks about one device at a time.
any_autocast: Callable[[], bool] = _find(
    "torch._C._is_any_autocast_enabled", lambda: True, "a call takes a little longer"
)
# Zeros that autograd never wrote to memory, which the kernels would read.
is_zero_tensor: Callable[[Tensor], bool] = _find(
    "torch.Tensor._is_zerotensor",
    lambda tensor: False,  # noqa: ARG005
    "zeros of autograd that were never written may reach the kernels, which refuse them",
)

# --- Programs ------------------------------------------------------------------------------------

# Tells torch.export from torch.compile: an exported program may have an open number of steps.
is_exporting: Callable[[], bool] = _find(
    "torch.compiler.is_exporting",
    lambda: False,
    "torch.export fixes the number of steps on the reference engine",
)


def scan(advance: Callable[..., Any], start: Any, inputs: Any) -> Any:
    """A loop over time as one operator of a graph, which torch has as a prototype."""
    try:
        from torch._higher_order_ops.scan import scan as loop
    except ImportError as error:
        raise RuntimeError(
            f"torch {torch.__version__} cannot export an open number of steps from the reference "
            f"engine. Export without dynamic_shapes, or with engine='native', or install torch "
            f"{OLDEST} or newer."
        ) from error
    return loop(advance, start, inputs)


# A state is a named tuple; exported programs store it under a name. Public registration is for
# classes that torch does not know, and it knows named tuples.
register_named_tuple: Callable[..., None] = _find(
    "torch.utils._pytree._register_namedtuple",
    lambda kind, serialized_type_name: None,  # noqa: ARG005
    "torch.export.save does not take programs that have a state",
)
tree_map_only: Callable[..., Any] = _find(
    "torch.utils._pytree.tree_map_only",
    lambda kind, function, tree: tree,  # noqa: ARG005
    "under autocast, convert x to the network's dtype yourself",
)
# A function that torch.compile calls once, instead of following it. The public decorator,
# torch.compiler.assume_constant_result, sets this attribute and imports the compiler: two seconds.
CONSTANT_MARK = "_dynamo_marked_constant"


_autograd: Any = _find(
    "torch._library.autograd",
    None,
    "torch.ops.ntm.forward, called by itself, ignores derivatives in forward mode",
)


def make_autograd(operator: Any, backward: Any, setup_context: Any) -> Any | None:
    """What torch.library.register_autograd would register, as a function that can be wrapped.

    The public function drops derivatives in forward mode silently. None where torch lacks it.
    """
    if _autograd is None:
        return None
    return _autograd.make_autograd_impl(operator, _autograd.Info(backward, setup_context))


# --- Numbers, modules and optimisers -------------------------------------------------------------


def _softmax_backward(gradient: Tensor, values: Tensor, dim: int, _dtype: torch.dtype) -> Tensor:
    return values * (gradient - (gradient * values).sum(dim, keepdim=True))


# The gradient of a softmax without its graph; autograd itself calls it.
softmax_backward: Callable[[Tensor, Tensor, int, torch.dtype], Tensor] = _find(
    "torch._softmax_backward_data", _softmax_backward, "the last digit of a gradient may differ"
)

_GLOBAL_HOOKS = (
    *("_global_forward_hooks", "_global_forward_pre_hooks"),
    *("_global_backward_hooks", "_global_backward_pre_hooks"),
)
# Hooks that run for every module would not run for the native engine's.
has_global_hooks: Callable[[], bool] = _find(
    "torch.nn.modules.module._has_any_global_hook",
    lambda: any(getattr(_modules, name, None) for name in _GLOBAL_HOOKS),
    "a call takes a little longer",
)


def optimiser_is_watched() -> bool:
    """Whether torch has to see every optimiser's step: a hook for all of them, or the profiler.

    Where torch does not say, it sees every step, which takes longer.
    """
    return bool(
        getattr(_optimizer, "_global_optimizer_pre_hooks", True)
        or getattr(_optimizer, "_global_optimizer_post_hooks", True)
        or getattr(torch.autograd.profiler, "_is_profiler_enabled", True)
    )


if is_older():
    warnings.warn(
        f"torch {torch.__version__} is older than {OLDEST}, the oldest version that ntm is tested "
        f"with: plain calls work, torch.compile and torch.export may not. Install a newer torch.",
        stacklevel=2,
    )
