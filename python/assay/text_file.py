"""Takes a file that somebody wrote; gives its text, or says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from assay.errors import ExperimentError, InputError, ScriptError


def read(file: Path, error: type[ExperimentError] | type[InputError] | type[ScriptError]) -> str:
    """The text of ``file``; raises ``error`` where it cannot be read or is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as reason:
        raise error(f"cannot be read: {reason.strerror}", file=file) from reason
    except UnicodeDecodeError as reason:
        raise error(
            f"is not UTF-8 (byte {reason.start})", file=file, hint="convert it to UTF-8"
        ) from reason
