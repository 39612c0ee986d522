"""Takes why a run failed: a sentence, and maybe the last lines of a server's log below it; returns
either part."""

from __future__ import annotations

_LOG_FOLLOWS = "; the end of its log:\n"


def with_log(sentence: str, lines: str) -> str:
    """The reason with these lines of a log."""
    return f"{sentence}{_LOG_FOLLOWS}{lines}"


def sentence(reason: str) -> str:
    """The reason without the log, on one line."""
    return " ".join(reason.partition(_LOG_FOLLOWS)[0].split("\n"))


def log_lines(reason: str) -> list[str]:
    """The lines of the log that the reason holds."""
    return reason.partition(_LOG_FOLLOWS)[2].splitlines()


def with_more(reason: str, more: str) -> str:
    """The reason with ``more`` at the end of its sentence, before the log."""
    said, follows, lines = reason.partition(_LOG_FOLLOWS)
    return f"{said}; {more}{follows}{lines}"
