"""Recognition of networks that the native engine can run: the module tree of `NTM`, unedited.

The reference engine calls the modules, so every replaced, wrapped, hooked or parametrised module
takes effect there. The native engine reads only the weights. It runs exactly the tree that `NTM`
builds, and names the first difference. Every call needs this check, so a recognised network is
remembered: the network is not examined again until something in it changes.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from ntm import torch_names
from ntm.cell import Cell
from ntm.config import NTMConfig
from ntm.controllers import CONTROLLERS
from ntm.description import Shape, ntm_parameters, parameter_shapes
from ntm.engine import as_written, native
from ntm.heads import Heads
from ntm.start import StartState

if TYPE_CHECKING:
    from ntm.layer import NTM

_KINDS = (Cell, *CONTROLLERS.values(), Heads, StartState, nn.Linear, nn.ModuleList)
# Methods that a call of a module runs. An attribute with such a name on a module would replace one.
_METHODS: dict[type[nn.Module], tuple[str, ...]] = {}
_NETWORKS: set[type[nn.Module]] = set()
# Attributes of a module that recognition examines.
_DICTS = (
    *("_modules", "_parameters", "_forward_hooks", "_forward_pre_hooks"),
    *("_backward_hooks", "_backward_pre_hooks"),
)
_TENSORS = (nn.Parameter, Tensor)  # functional_call replaces parameters by tensors


def know(kind: type[nn.Module], tensors: tuple[str, ...] = ("weight", "bias")) -> None:
    """Let `own_attributes` recognise modules of this class.

    tensors: names of the tensors that `forward` looks up.
    """
    methods = (name for name in dir(kind) if callable(getattr(kind, name)))
    _METHODS[kind] = (*methods, *tensors)
    as_written.remember(kind)


def know_network(kind: type["NTM"]) -> None:
    """Let `trains_as_built` recognise this class of networks, which a higher layer defines."""
    know(kind)
    _NETWORKS.add(kind)


for _kind in _KINDS:
    know(_kind)
    as_written.watch(_kind)


class Unrecognised(Exception):  # noqa: N818  # an answer, which no user sees
    """Raised at the first difference between a network and the tree that `NTM` builds."""


class _Linear(NamedTuple):
    name: str
    weight: Shape
    bias: Shape


class _Tree(NamedTuple):
    """Expected modules and tensors of a network with a config."""

    controller: type[nn.Module]
    read_values: int
    linears: tuple[_Linear, ...]
    start: tuple[tuple[str, Shape], ...]


class _Recognised:
    """Snapshot of a recognised network."""

    __slots__ = ("_children", "_config", "_facts", "tensors")

    def __init__(self, net: "NTM", weights: list[Tensor], start: list[Tensor]) -> None:
        modules = [*net.cell.modules(), net.start]
        attributes = [module.__dict__ for module in modules]
        dicts = [net._modules, *attributes, *(own[name] for own in attributes for name in _DICTS)]
        tensors = [*weights, *start]
        self.tensors = weights, start
        self._config, self._children = net.config, net._modules
        self._facts = (
            *(modules, [type(module) for module in modules], attributes),
            *(dicts, [dict(found) for found in dicts]),
            *(tensors, [tuple(tensor.shape) for tensor in tensors]),
        )

    def is_still(self, net: "NTM") -> bool:
        """Return whether everything that recognition examines is unchanged."""
        same = net.config is self._config and net._modules is self._children
        return same and as_written.is_intact() and native.unchanged(*self._facts)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # copies of a network have other tensors


def tensors_of(net: "NTM", with_start: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights of a network and its learned start. Do not modify these lists.

    with_start: whether the start is needed; without it, the second list may be empty.
    """
    require_no_global_hooks()
    if torch.compiler.is_compiling():
        _require_own_functions()
        return weights_of(net), start_of(net) if with_start else []
    known: _Recognised | None = net.__dict__.get("_recognised")
    if known is not None and known.is_still(net):
        return known.tensors
    _require_own_functions()
    weights = weights_of(net)
    if not with_start:
        return weights, []
    start = start_of(net)
    if all(type(tensor) is nn.Parameter for tensor in (*weights, *start)):
        net.__dict__["_recognised"] = _Recognised(net, weights, start)
    return weights, start


def weights_of(net: "NTM") -> list[Tensor]:
    """Return weight and bias of each controller layer, the heads and the output, in order."""
    cell = net._modules.get("cell")
    own = own_attributes(cell, Cell, "cell")["_modules"]
    config: Any = cell.config  # type: ignore[union-attr]
    tree = _tree_of(config)
    layers = own_attributes(own.get("controller"), tree.controller, "cell.controller")[
        "_modules"
    ].get("layers")
    heads = own.get("heads")
    linear = own_attributes(heads, Heads, "cell.heads")["_modules"].get("linear")
    _require_heads(heads, config, tree)
    maps = [
        *own_attributes(layers, nn.ModuleList, "cell.controller.layers")["_modules"].values(),
        linear,
    ]
    maps.append(own.get("output"))
    if len(maps) != len(tree.linears):
        raise Unrecognised(
            f"cell.controller has {len(maps) - 2} layers, not {len(tree.linears) - 2}"
        )
    weights = []
    for module, (name, weight, bias) in zip(maps, tree.linears, strict=True):
        parameters = own_attributes(module, nn.Linear, name)["_parameters"]
        weights.append(plain_tensor(parameters, name, "weight", weight))
        weights.append(plain_tensor(parameters, name, "bias", bias))
        if len(parameters) != 2:
            raise Unrecognised(f"{name} has more parameters than weight and bias")
    return weights


def start_of(net: "NTM") -> list[Tensor]:
    """Return the parameters of the learned start, in the order of a State."""
    parameters = own_attributes(net._modules.get("start"), StartState, "start")["_parameters"]
    shapes = _tree_of(net.config).start
    return [plain_tensor(parameters, "start", name, shape) for name, shape in shapes]


def trains_as_built(net: "NTM") -> bool:
    """Return whether the native engine may do a training step without calling the network.

    Such a step calls no user-defined `forward` or `initial_state`, and trains every parameter.
    """
    if type(net) not in _NETWORKS:
        return False
    try:
        own_attributes(net, type(net), "the network")
        weights, start = tensors_of(net, with_start=True)
    except Unrecognised:
        return False
    parameters = list(net.parameters())
    known = len(parameters) == len(weights) + len(start)
    return known and all(parameter.requires_grad for parameter in parameters)


def require_no_global_hooks() -> None:
    """Raise Unrecognised if torch has hooks for every module: the native engine runs no hooks."""
    if torch_names.has_global_hooks():
        raise Unrecognised("torch has global module hooks")


def own_attributes(module: Any, kind: type[nn.Module], name: str) -> dict[str, Any]:
    """Return the attributes of a module; raise Unrecognised if it is edited or of another type."""
    if type(module) is not kind:
        raise Unrecognised(_of_another_kind(type(module), kind, name))
    if changed := as_written.replaced_method(kind):
        raise Unrecognised(f"{changed} was replaced")
    own: dict[str, Any] = module.__dict__
    if own["_forward_hooks"] or own["_forward_pre_hooks"]:
        raise Unrecognised(f"{name} has forward hooks")
    if own["_backward_hooks"] or own["_backward_pre_hooks"]:
        raise Unrecognised(f"{name} has backward hooks")
    if replaced := [method for method in _METHODS[kind] if method in own]:
        listed = ", ".join(replaced)
        raise Unrecognised(f"{name} has its own attribute in place of {listed}")
    return own


def _of_another_kind(found: type, kind: type, name: str) -> str:
    same = found.__name__ == kind.__name__  # peft's Linear, for example, is not torch's
    names = [
        f"{each.__module__}.{each.__name__}" if same else each.__name__ for each in (found, kind)
    ]
    return f"{name} is a {names[0]}, not a {names[1]}"


def _require_own_functions() -> None:
    if changed := as_written.replaced_function():
        raise Unrecognised(f"{changed} was replaced")


def _require_heads(heads: Any, config: NTMConfig, tree: "_Tree") -> None:
    if heads.config is not config and heads.config != config:
        raise Unrecognised("cell.heads has another config than the cell")
    if heads.read_values != tree.read_values:
        raise Unrecognised(f"cell.heads.read_values was changed to {heads.read_values}")


def plain_tensor(parameters: dict[str, Any], module: str, name: str, shape: Shape) -> Tensor:
    """Return a parameter; raise Unrecognised if it is not a plain tensor of this shape."""
    tensor = parameters.get(name)
    if tensor is None:
        raise Unrecognised(f"{module} has no {name}")
    if type(tensor) not in _TENSORS and not torch.compiler.is_compiling():
        raise Unrecognised(f"{module}.{name} is a {type(tensor).__name__}, not a plain parameter")
    if tensor.shape != shape:
        raise Unrecognised(f"{module}.{name} has the shape {tuple(tensor.shape)}, not {shape}")
    return tensor  # type: ignore[no-any-return]


def _tree_of(config: NTMConfig) -> "_Tree":
    # A compiler traces the function itself, and only once.
    compiling = torch.compiler.is_compiling()
    return _worked_out.__wrapped__(config) if compiling else _worked_out(config)


@lru_cache(maxsize=256)
def _worked_out(config: NTMConfig) -> "_Tree":
    shapes = parameter_shapes(ntm_parameters(config))
    weights = [name.removesuffix(".weight") for name in shapes if name.endswith(".weight")]
    return _Tree(
        CONTROLLERS[config.controller],
        config.read_heads * config.read_head_outputs,
        tuple(_Linear(name, shapes[f"{name}.weight"], shapes[f"{name}.bias"]) for name in weights),
        tuple((name[6:], shape) for name, shape in shapes.items() if name.startswith("start.")),
    )
