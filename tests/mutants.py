"""Modules with one thing changed, for `tests/mutate.py`."""

import ast
import hashlib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.MatMult: ast.Mult,
    ast.RShift: ast.LShift,
}


class Mutant(NamedTuple):
    """A module with one thing changed."""

    module: str
    line: int
    change: str
    tree: ast.Module
    in_body: bool
    """Whether the change is in the body of a function, and not in its signature."""

    @property
    def name(self) -> str:
        """The name of the module."""
        return f"ntm.{self.module.replace('/', '.')}"

    @property
    def file(self) -> str:
        """The file of the module."""
        return str(ROOT / "src" / "ntm" / f"{self.module}.py")

    @property
    def source(self) -> str:
        """The source of the module."""
        return ast.unparse(self.tree)

    @property
    def key(self) -> str:
        """Hash of the changed source."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield possible replacements of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield _with(node, ops=[_COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield _with(node, op=_ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.If | ast.IfExp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(
        node, ast.Raise
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and ast.unparse(node) not in {"return", "return None"}:
        yield ast.Return(ast.Constant(None))


def _with(node: Any, **fields: Any) -> Any:
    changed = deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def skipped(node: ast.AST) -> bool:
    """Return whether a node has no behaviour to test: an error text, an import or a __repr__."""
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith(("__repr__", "_repr_", "extra_repr"))
    return isinstance(node, ast.JoinedStr | ast.ImportFrom | ast.Import)


class Place(NamedTuple):
    """Position of a node: a field of its parent, and an index if the field is a list."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    in_body: bool

    def put(self, node: ast.AST) -> None:
        """Put another node in this position."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def places(node: ast.AST, in_body: bool = False) -> Iterator[Place]:
    """Yield the positions of all nodes below a node."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        inside = in_body or (isinstance(node, ast.FunctionDef) and name == "body")
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not skipped(child):
                yield Place(node, name, index if isinstance(value, list) else None, child, inside)
                yield from places(child, inside)


def mutants(module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    tree = ast.parse((ROOT / "src" / "ntm" / f"{module}.py").read_text())
    for place in list(places(tree)):
        for other in changes(place.node):
            ast.copy_location(other, place.node)
            place.put(other)
            changed = ast.fix_missing_locations(deepcopy(tree))
            place.put(place.node)
            text = f"{ast.unparse(place.node)[:60]!r} -> {ast.unparse(other)[:60]!r}"
            yield Mutant(module, getattr(place.node, "lineno", 0), text, changed, place.in_body)
