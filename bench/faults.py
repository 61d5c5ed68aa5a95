"""Small faults that can be planted in Python code, and how to find the same fault in another tree.

A fault is named by its function, its statement and the change, without the wording of messages.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

PACKAGE = "sketchmark"
_BOTH_WAYS = "Lt LtE, Lt GtE, Gt GtE, Gt LtE, Eq NotEq, Is IsNot, In NotIn, And Or, Add Sub, Mult Div"
_ONE_WAY = "FloorDiv Mult, Mod Mult, Pow Mult"
_ACTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Delete, ast.Assert, ast.Expr)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class Fault:
    """One change. `function`, `statement`, `change` and `nth` find it again in another tree."""

    module: str
    function: str
    statement: str
    change: str
    nth: int
    first: int
    last: int
    number: int
    """Place among all faults of the module."""


@dataclass(frozen=True)
class _Place:
    """The place of a node: its function, its statement, and the kinds of change that apply there."""

    function: tuple[str, ...] = ()
    statement: ast.AST = field(default_factory=ast.Pass)
    in_function: bool = False
    in_error: bool = False


def faults_in(source: str, module: str) -> list[Fault]:
    seen: Counter[tuple[str, str, str]] = Counter()
    texts: dict[int, str] = {}
    found = []
    for number, (old, new, place) in enumerate(_changes(ast.parse(source), _Place())):
        node = place.statement
        text = texts.setdefault(id(node), _text(_head(node)))
        key = (".".join(place.function), text, f"{_text(old)} -> {_text(new)}")
        blocks = [child for name in _BLOCKS for child in getattr(node, name, []) if hasattr(child, "lineno")]
        first = getattr(node, "lineno", 0)
        last = max(first, blocks[0].lineno - 1) if blocks else getattr(node, "end_lineno", first)
        found.append(Fault(module, *key, seen[key], first, last, number))
        seen[key] += 1
    return found


def planted(source: str, number: int) -> str:
    """Return the source with the fault of this number in it."""
    tree = ast.parse(source)
    for place, (old, new, _) in enumerate(_changes(tree, _Place())):
        if place == number:
            return ast.unparse(ast.fix_missing_locations(_Swap(old, new).visit(tree)))
    raise IndexError(number)


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


class _Quiet(ast.NodeTransformer):
    """Hide wording, which may be rewritten between two trees."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("…") if isinstance(node.value, str) and " " in node.value else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("…")


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(_Quiet().visit(ast.parse(ast.unparse(node)))).split())


def _head(node: ast.AST) -> ast.AST:
    """Return a statement without the statements in it."""
    emptied: dict[str, list[ast.AST]] = {name: [] for name in _BLOCKS if isinstance(getattr(node, name, None), list)}
    if "body" in emptied:
        emptied["body"] = [ast.Pass()]
    if isinstance(node, ast.Try):
        emptied["finalbody"] = [ast.Pass()]
    if isinstance(node, ast.Match):
        emptied["cases"] = [ast.match_case(ast.MatchAs(), None, [ast.Pass()])]
    return _with(node, **emptied) if emptied else node


def _changes(node: ast.AST, place: _Place) -> Iterator[tuple[ast.AST, ast.AST, _Place]]:
    """Yield (a node, what to put in its place, where it is), for all nodes that decide what the program does.

    Left out: imports, types, decorators, docstrings, `__repr__`, the wording of errors, and removals at module and
    class level, which any import would notice.
    """
    types = isinstance(node, (ast.Import, ast.ImportFrom))
    types |= isinstance(node, (ast.If, ast.Subscript)) and ast.unparse(node).startswith(
        ("if TYPE_CHECKING", "Literal[")
    )
    said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if types or said or getattr(node, "name", "") == "__repr__":
        return
    if isinstance(node, ast.stmt):
        place = replace(place, statement=node)
    yield from ((node, other, place) for other in _others(node, place))
    if isinstance(node, _SCOPES):
        inside = place.in_function or not isinstance(node, ast.ClassDef)
        place = replace(place, function=(*place.function, node.name), in_function=inside)
    place = replace(place, in_error=place.in_error or isinstance(node, ast.Raise))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, place)


def _others(node: ast.AST, place: _Place) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            for other in _instead_of(op):
                yield _with(node, ops=[*node.ops[:at], other, *node.ops[at + 1 :]])
    elif isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)):
        yield from (_with(node, op=other) for other in _instead_of(node.op))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value, place.in_error)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield _with(node, value=ast.Constant(None))
    elif isinstance(node, (ast.Break, ast.Continue)):
        yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    if place.in_function and isinstance(node, _ACTS):
        yield ast.Pass()


def _instead_of(op: ast.AST) -> list[ast.AST]:
    both, one_way = ([pair.split() for pair in pairs.split(", ")] for pairs in (_BOTH_WAYS, _ONE_WAY))
    swaps = [*both, *one_way, *([other, one] for one, other in both)]
    return [getattr(ast, other)() for one, other in swaps if one == type(op).__name__]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    return ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), **fields}), node)


def _other_constants(value: object, in_error: bool) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield from (ast.Constant(value + step) for step in (1, -1))
    elif isinstance(value, str) and not in_error:
        yield ast.Constant("" if value else "planted")


def all_faults(root: Path) -> dict[str, list[Fault]]:
    package = root / "src" / PACKAGE
    names = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    return {name: faults_in((package / name).read_text("utf-8"), name) for name in names}


_KEYS: tuple[Callable[[Fault], tuple[object, ...]], ...] = (
    lambda fault: (fault.function, fault.statement, fault.change, fault.nth),
    lambda fault: (_last(fault.function), fault.statement, fault.change, fault.nth),
    lambda fault: (fault.statement, fault.change, fault.nth),
    lambda fault: (_last(fault.function), fault.change),
)
"""Keys of a fault, the strictest first. The last one counts only if it finds a single place."""


def _last(function: str) -> str:
    return function.rpartition(".")[2].lstrip("_")


def find(wanted: list[Fault], tree: dict[str, list[Fault]]) -> list[Fault | None]:
    """Find faults in a tree, preferably in the module that holds most faults of the old module."""
    indexes: list[dict[tuple[object, ...], list[Fault]]] = [defaultdict(list) for _ in _KEYS]
    for fault in (fault for faults in tree.values() for fault in faults):
        for key, index in zip(_KEYS, indexes, strict=True):
            index[key(fault)].append(fault)
    near: Counter[tuple[str, str]] = Counter()
    for fault in wanted:
        near.update((fault.module, name) for name in {place.module for place in indexes[0][_KEYS[0](fault)]})

    def place_of(fault: Fault) -> Fault | None:
        for key, index in zip(_KEYS[:-1], indexes, strict=False):
            places = index.get(key(fault), [])
            if places:
                return max(places, key=lambda place: (place.module == fault.module, near[fault.module, place.module]))
        places = indexes[-1].get(_KEYS[-1](fault), [])
        return places[0] if len(places) == 1 and fault.function else None

    return [place_of(fault) for fault in wanted]
