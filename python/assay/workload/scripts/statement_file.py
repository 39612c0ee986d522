"""Takes a plain file of statements; returns each as a transaction type of its own, sent unchanged.

An interactive client does the same with a file on its standard input: it sends one statement after
the other, regardless of errors.
"""

from __future__ import annotations

from pathlib import Path

from assay import _engine
from assay.errors import InputError, ScriptError
from assay.text.files import text_file
from assay.workload.values import Script


def read(file: Path, literal_style: str) -> tuple[Script, ...]:
    """The statements of ``file``, named by the lines they begin at.

    ``literal_style`` is the dialect's: whether a backslash in a literal escapes a quote. Raises
    `InputError` where the file cannot be read or holds no statement, `ScriptError` where a literal
    or a comment does not end.
    """
    text = text_file.read(file, InputError)
    try:
        found = _engine.split_statements(text, str(file), literal_style)
    except _engine.EngineError as error:
        raise ScriptError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        ) from error
    if not found:
        raise InputError("expected statements, found none", file=file)
    return tuple(
        Script(_name(line, column), f"{file}:{line}", statement, is_plain=True)
        for statement, line, column in found
    )


def _name(line: int, column: int) -> str:
    return f"line {line}" if column == 1 else f"line {line} column {column}"
