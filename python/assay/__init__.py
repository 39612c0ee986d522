"""Assay: which database, on which storage, with which settings, is fast enough for your work?"""

from typing import Any


def __getattr__(name: str) -> Any:
    """``__version__``, looked up only when asked for: it costs a tenth of the program's start."""
    if name == "__version__":
        from importlib.metadata import version

        return version("assay-db")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
