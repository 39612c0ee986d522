"""An error that speaks of a setting says so in a phrase (`assay.text.phrases`), so that each face
spells it as the person wrote it; no face looks for options in texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from assay.experiment.settings_catalogue import OPTIONS

PACKAGE = Path(__file__).parents[2] / "python" / "assay"
IN_PHRASES = {"phrase", "Mention"}
_OPTION = re.compile(r"(?<![\w{-])--[a-z][a-z-]*")
_COMMAND = re.compile(r"`[^`]*`|\bassay [a-z]+ .*")
"""What is typed in a shell, in any case."""


def is_phrase(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in IN_PHRASES


def texts_outside_phrases(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text, with … for what stands in an f-string."""
    if is_phrase(node):
        return
    if isinstance(node, ast.JoinedStr):
        parts = [getattr(part, "value", "") for part in node.values]
        yield node.lineno, "".join(part if isinstance(part, str) else "…" for part in parts)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    else:
        for below in ast.iter_child_nodes(node):
            yield from texts_outside_phrases(below)


def said_in_errors(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts that are given to errors."""
    for node in ast.walk(tree):
        is_raised = isinstance(node, ast.Raise)
        is_hint = isinstance(node, ast.keyword) and node.arg == "hint"
        is_changed = isinstance(node, ast.Assign) and is_of_an_error(node.targets[0])
        if is_raised or is_hint or is_changed:
            yield from texts_outside_phrases(node)


def is_of_an_error(target: ast.AST) -> bool:
    return isinstance(target, ast.Attribute) and target.attr in ("hint", "message")


def test_errors_name_settings_in_phrases() -> None:
    options = {setting.option for setting in OPTIONS.values()}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {text!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for line, text in said_in_errors(tree_if(path, *options))
        if options & set(_OPTION.findall(_COMMAND.sub("", text)))
    ]
    assert wrong == []


def test_what_is_judged_is_said_in_words() -> None:
    """Reasons are kept in the record, where no face spells them any more."""
    options = {setting.option for setting in OPTIONS.values()}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {text!r}"
        for room in ("judge", "comparison", "dialects")
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for line, text in texts_outside_phrases(without_docs(tree_if(path, *options)))
        if options & set(_OPTION.findall(_COMMAND.sub("", text)))
    ]
    assert wrong == []


def tree_if(path: Path, *words: str) -> ast.Module:
    """Of a file with one of these words; without them an empty one: to parse all takes long."""
    text = path.read_text(encoding="utf-8")
    return ast.parse(text if any(word in text for word in words) else "")


def without_docs(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            is_text = [isinstance(getattr(one, "value", None), ast.Constant) for one in body]
            node.body = [  # type: ignore[attr-defined]
                one
                for one, is_doc in zip(body, is_text, strict=True)
                if not (is_doc and isinstance(one, ast.Expr))
            ]
    return tree


def test_a_phrase_mentions_settings_that_there_are() -> None:
    mentioned = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(tree_if(path, *(f"{each}(" for each in IN_PHRASES))):
            if is_phrase(node) and isinstance(node, ast.Call) and node.args:
                is_mention = ast.unparse(node.func) == "Mention"
                if is_mention and not isinstance(node.args[0], ast.Constant):
                    continue
                for _, text in texts_outside_phrases(node.args[0]):
                    found = [text] if is_mention else re.findall(r"{--([a-z-]+)", text)
                    mentioned |= {name.replace("-", "_") for name in found}
    assert mentioned and mentioned <= OPTIONS.keys()
