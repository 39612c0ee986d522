"""Takes a source file; returns each change of one place that makes it wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from proofs._fault_table import Fault

_TURNED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_RUST_CHANGES = (
    (r" (<=) ", "<", "a comparison turned"),
    (r" (<) ", "<=", "a comparison turned"),
    (r" (>=) ", ">", "a comparison turned"),
    (r" (==) ", "!=", "a comparison turned"),
    (r" (!=) ", "==", "a comparison turned"),
    (r"[\w)] (&&) ", "||", "or for and"),
    (r"[\w)] (\|\|) ", "&&", "and for or"),
    (r"[ (](!)[a-z]", "", "a not removed"),
    (r"[-+] (1)[;,) ]", "2", "a constant off by one"),
)


def python_sites(path: Path, root: Path) -> Iterator[Fault]:
    """Of a Python file: in its functions, what stands on one line."""
    text = path.read_text("utf-8")
    file = str(path.relative_to(root))
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    yield from _changes(node, text, file)


def rust_sites(path: Path, root: Path) -> Iterator[Fault]:
    """Of a Rust file, above its tests."""
    file = str(path.relative_to(root))
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if line.startswith("#[cfg(test)]"):
            return
        if line.strip().startswith(("//", "#")) or '"' in line or "assert" in line:
            continue
        for pattern, after, what in _RUST_CHANGES:
            for match in re.finditer(pattern, line):
                changed = line[: match.start(1)] + after + line[match.end(1) :]
                yield Fault(file, number, line, changed, what)


def _changes(node: ast.AST, text: str, file: str) -> Iterator[Fault]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        between = (_end(node.left), _start(node.comparators[0]))
        word = f" {_TURNED[type(node.ops[0])]} "
        yield from _change(text, file, between, word, "a comparison turned")
    elif isinstance(node, ast.BoolOp):
        between = (_end(node.values[0]), _start(node.values[1]))
        is_and = isinstance(node.op, ast.And)
        word, what = (" or ", "or for and") if is_and else (" and ", "and for or")
        yield from _change(text, file, between, word, what)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _change(text, file, (_start(node), _start(node.operand)), "", "a not removed")
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        place = (_start(node), _end(node))
        yield from _change(text, file, place, str(node.value + 1), "a constant off by one")
    elif isinstance(node, ast.If) and not node.orelse:
        place = (_start(node.test), _end(node.test))
        yield from _change(text, file, place, "False", "a branch dropped")


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _change(
    text: str, file: str, between: tuple[tuple[int, int], tuple[int, int]], new: str, what: str
) -> Iterator[Fault]:
    (line, start), (end_line, end) = between
    if line != end_line:
        return
    before = text.split("\n")[line - 1]
    in_bytes = before.encode()
    replaced = in_bytes[start:end].decode()
    if any(char in replaced for char in "()[]") and what != "a branch dropped":
        return  # a bracket between the operands
    after = (in_bytes[:start] + new.encode() + in_bytes[end:]).decode()
    yield Fault(file, line, before, after, what)
