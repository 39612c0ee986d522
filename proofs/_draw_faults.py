"""Draws the faults of `faults.toml` by a seed: ``python -m proofs._draw_faults --seed 23``.

Half of them are changes of one place (a comparison turned, a constant off by one, a ``not``
removed, ``and`` for ``or``, a branch dropped), each in another room; the other half are past
mistakes: the smallest hunk of a commit that mended one, backwards.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from proofs._fault_table import TABLE, Fault, as_toml, passed_over

ROOT = Path(__file__).parents[1]
OF_EACH_KIND = 30
RUST_OF_EACH_KIND = 5
"""Few, as each is compiled for minutes."""
_LONGEST_HUNK = 12
_LEAST_CODE = 20
"""Characters: a hunk of a bracket says nothing."""
_NO_MENDS = re.compile(r"^(docs|tests|tools|benches|proofs|papers|packaging)\b", re.I)


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=23)
    seed = parser.parse_args().seed
    rng = random.Random(seed)
    no_mends = passed_over()
    python = OF_EACH_KIND - RUST_OF_EACH_KIND
    found = [
        *_mechanical(rng, _python_rooms(), python),
        *_past_mistakes(rng, no_mends, ".py", python),
        *_mechanical(rng, _crates(), RUST_OF_EACH_KIND),
        *_past_mistakes(rng, no_mends, ".rs", RUST_OF_EACH_KIND),
    ]
    TABLE.write_text(as_toml(found, seed, no_mends), "utf-8")


def _python_rooms() -> list[list[Path]]:
    package = ROOT / "python" / "assay"
    folders = [sorted(path.rglob("*.py")) for path in sorted(package.iterdir()) if path.is_dir()]
    files = [[path] for path in sorted(package.glob("*.py"))]
    return [room for room in (*folders, *files) if room]


def _crates() -> list[list[Path]]:
    return [sorted(path.rglob("*.rs")) for path in sorted((ROOT / "crates").glob("*/src"))]


def _mechanical(rng: random.Random, rooms: list[list[Path]], number: int) -> Iterator[Fault]:
    """One of each room, until there are so many."""
    rng.shuffle(rooms)
    drawn = 0
    for files in rooms:
        sites = [
            fault
            for path in files
            for fault in (rust_sites if path.suffix == ".rs" else python_sites)(path, ROOT)
        ]
        if sites and drawn < number:
            drawn += 1
            yield rng.choice(sites)


def _past_mistakes(
    rng: random.Random, no_mends: dict[str, str], suffix: str, number: int
) -> Iterator[Fault]:
    """The smallest hunk of commits in random order, backwards, where its text still is."""
    commits = _git(
        "log", "--reverse", "--format=%h %s", "--", "python/assay", "crates"
    ).splitlines()
    rng.shuffle(commits)
    drawn = 0
    for commit, subject in (line.split(" ", 1) for line in commits):
        if drawn == number:
            return
        if commit in no_mends or _NO_MENDS.match(subject):
            continue
        hunks = sorted(
            _hunks(commit, suffix), key=lambda hunk: (len(hunk.before) + len(hunk.after), hunk.name)
        )
        backwards = next((hunk for hunk in hunks if _is_mistake(hunk)), None)
        if backwards is not None:
            drawn += 1
            yield Fault(
                backwards.file, backwards.line, backwards.before, backwards.after,
                f"{commit} {subject}",
            )  # fmt: skip


def _hunks(commit: str, suffix: str) -> Iterator[Fault]:
    """Each hunk of the commit, backwards."""
    shown = _git("show", "-U0", "--format=", "--no-renames", commit, "--", "python/assay", "crates")
    for file in re.split(r"^diff --git ", shown, flags=re.M)[1:]:
        named = re.search(r"^\+\+\+ b/(.*)$", file, re.M)
        if not named or not named.group(1).endswith(suffix):
            continue
        for hunk in re.split(r"^@@ ", file, flags=re.M)[1:]:
            lines = hunk.split("\n")[1:]
            added = [line[1:] for line in lines if line.startswith("+")]
            removed = [line[1:] for line in lines if line.startswith("-")]
            if added and len(added) + len(removed) <= _LONGEST_HUNK:
                yield Fault(named.group(1), 1, "\n".join(added), "\n".join(removed), commit)


def _is_mistake(hunk: Fault) -> bool:
    """Its text stands once in the file of today; without it the file is one, does something else,
    and the type checker is content."""
    path = ROOT / hunk.file
    if not path.exists() or len(re.sub(r"\W", "", hunk.before)) < _LEAST_CODE:
        return False
    text = path.read_text("utf-8")
    if f"\n{text}".count(f"\n{hunk.before}\n") != 1:
        return False
    line = f"\n{text}".split(f"\n{hunk.before}\n")[0].count("\n") + 1
    object.__setattr__(hunk, "line", line)
    changed = hunk.put_into(text)
    if changed is None:
        return False
    if path.suffix == ".rs":
        is_item = re.search(r"^\s*(pub |mod |fn |struct |impl |use )", hunk.before, re.M)
        return not is_item and _rust_code(hunk.before) != _rust_code(hunk.after)
    try:
        differs = _meaning(changed) != _meaning(text)
    except SyntaxError:
        return False
    return differs and _declared(changed) == _declared(text) and _is_well_typed(path, changed)


def _declared(text: str) -> list[str]:
    """What other files may use: without it they would all fail at once."""
    kinds = (ast.AnnAssign, ast.FunctionDef, ast.ClassDef)
    declared = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return sorted(
        ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else node.name
        for node in declared
    )


def _is_well_typed(path: Path, changed: str) -> bool:
    """What the type checker finds needs no test."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(changed)
        file.flush()
        mypy = [sys.executable, "-m", "mypy", "--shadow-file", path, file.name, path]
        return not subprocess.run(mypy, cwd=ROOT, capture_output=True, check=False).returncode


def _meaning(text: str) -> str:
    """The code, without what is said in it and how it is typed."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
        elif isinstance(node, ast.AnnAssign) and node.value is None:
            node.annotation = ast.Constant("")
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def _rust_code(text: str) -> list[str]:
    lines = (re.sub(r'"[^"]*"', '""', line).split("//")[0].strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith(("use ", "#["))]


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


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


if __name__ == "__main__":
    main()
