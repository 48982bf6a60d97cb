"""All names of torch that are private, or missing in some versions.

Each name is looked up once, when this file is imported. If a version of torch lacks a name,
something slower or simpler replaces it, and `MISSING` describes the consequence; `ntm info` prints
it. The kernels look up one more name, `__dlpack_c_exchange_api__`, and read the attributes of a
tensor if that name is missing.

`torch._foreach_*` functions are not listed here, because torch documents them.
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

OLDEST = "2.9"
"""Oldest version of torch that the package supports; pyproject.toml requires it."""
TESTED = ("2.9.1", "2.13.0", "2.15.0")
"""Versions that the tests run with: the oldest, the default of `make test`, the newest."""
LOOKED_UP: list[str] = []
"""All names that this file looks up; a version of torch may lack some of them."""
MISSING: dict[str, str] = {}
"""Names that this torch lacks, and the consequence of each."""


def _find(name: str, otherwise: Any, consequence: str) -> Any:
    """Return the object with this dotted name, or `otherwise` if torch lacks it."""
    LOOKED_UP.append(name)
    try:
        return resolve_name(name)
    except (ImportError, AttributeError):
        MISSING[name] = consequence
        return otherwise


def is_older() -> bool:
    """Return whether this torch is older than `OLDEST`."""
    return _number(torch.__version__) < _number(OLDEST)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


# --- Transforms and modes that have to see a call's tensors -------------------------------------

# A mode that watches operators must see the native engine as an operator. torch has no public
# function that tells whether a mode is active.
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
# The kernels read memory, and the tensors of torch.func have no memory. Only this name tells
# which torch.func transform runs, if any.
_LEVEL = "torch._C._functorch.peek_interpreter_stack"
transform_level: Callable[[], Any] = _find(
    _LEVEL,
    lambda: None,
    "the native engine does not run, since it could not tell when torch.func transforms a call",
)


def native_obstacle() -> str | None:
    """Return the reason why the native engine cannot run with this torch; None if it can run."""
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
# Almost every call is outside forward-mode differentiation. Then no tensor has to be checked.
_find("torch.autograd.forward_ad._current_level", None, "a call takes a little longer")


def in_forward_mode() -> bool:
    """Return whether a tensor may carry a derivative in forward mode."""
    return getattr(forward_ad, "_current_level", 0) >= 0


# The public torch.is_autocast_enabled asks about one device at a time.
any_autocast: Callable[[], bool] = _find(
    "torch._C._is_any_autocast_enabled", lambda: True, "a call takes a little longer"
)
# Some zeros of autograd were never written to memory, and the kernels read memory.
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
    """Run a loop over time as one operator of a graph, with a prototype feature of torch."""
    try:
        from torch._higher_order_ops.scan import scan as loop
    except ImportError as error:
        raise RuntimeError(
            f"torch {torch.__version__} cannot export an open number of steps from the reference "
            f"engine. Export without dynamic_shapes, or with engine='native', or install torch "
            f"{OLDEST} or newer."
        ) from error
    return loop(advance, start, inputs)


# A state is a named tuple, and exported programs store the class under a name. torch's public
# registration is for classes that torch does not know, and torch knows named tuples.
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
# torch.compile calls a function with this attribute once instead of tracing it. The public
# decorator, torch.compiler.assume_constant_result, also imports the compiler: two seconds.
CONSTANT_MARK = "_dynamo_marked_constant"


_autograd: Any = _find(
    "torch._library.autograd",
    None,
    "torch.ops.ntm.forward, called by itself, ignores derivatives in forward mode",
)


def make_autograd(operator: Any, backward: Any, setup_context: Any) -> Any | None:
    """Return the function that torch.library.register_autograd would register; None without it.

    The caller wraps the function, because `register_autograd` itself silently drops forward-mode
    derivatives.
    """
    if _autograd is None:
        return None
    return _autograd.make_autograd_impl(operator, _autograd.Info(backward, setup_context))


# --- Numbers, modules and optimisers -------------------------------------------------------------


def _softmax_backward(gradient: Tensor, values: Tensor, dim: int, _dtype: torch.dtype) -> Tensor:
    return values * (gradient - (gradient * values).sum(dim, keepdim=True))


# The gradient of a softmax without a graph. autograd calls this function, too.
softmax_backward: Callable[[Tensor, Tensor, int, torch.dtype], Tensor] = _find(
    "torch._softmax_backward_data", _softmax_backward, "the last digit of a gradient may differ"
)

_GLOBAL_HOOKS = (
    *("_global_forward_hooks", "_global_forward_pre_hooks"),
    *("_global_backward_hooks", "_global_backward_pre_hooks"),
)
# Hooks that torch runs for every module would not run in the native engine.
has_global_hooks: Callable[[], bool] = _find(
    "torch.nn.modules.module._has_any_global_hook",
    lambda: any(getattr(_modules, name, None) for name in _GLOBAL_HOOKS),
    "a call takes a little longer",
)


def optimiser_is_watched() -> bool:
    """Return whether the profiler or a hook for all optimisers has to see every step.

    Return True if this version of torch does not tell; a step then takes longer.
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
