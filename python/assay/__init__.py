"""Assay: which database, on which storage, with which settings, is fast enough for your work?

`run` runs an experiment and returns its `Result`; `open` returns the `Records` of a record file;
`compare` says whether two of them differ.
Errors are raised as exceptions of `assay.errors`.

>>> import assay
>>> result = assay.run("tpcb", on="null", transactions=10, warm_up_s=0, clients=[1, 2])
>>> [cell.clients for cell in result.cells]
[1, 2]
"""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay import errors
    from assay.api.comparing import Comparison, Ratio, compare
    from assay.api.records import Records
    from assay.api.records import open_records as open  # noqa: A004  (it is called assay.open)
    from assay.api.results import Cell, Check, Percentiles, Result, Run, Spread, WarningNote
    from assay.api.running import run

    __version__: str

__all__ = [
    "Cell",
    "Check",
    "Comparison",
    "Percentiles",
    "Ratio",
    "Records",
    "Result",
    "Run",
    "Spread",
    "WarningNote",
    "__version__",
    "compare",
    "errors",
    "open",
    "run",
]

_HOMES = {
    **dict.fromkeys(("Comparison", "Ratio", "compare"), "comparing"),
    "Records": "records",
    "open": "records",
    "run": "running",
    **dict.fromkeys(
        ("Cell", "Check", "Percentiles", "Result", "Run", "Spread", "WarningNote"), "results"
    ),
}


_IMPORTING = Lock()
"""Two threads that import modules which share others may see one that is not complete."""


def __getattr__(name: str) -> Any:
    """Imports on first use, so that `import assay` stays fast."""
    if name == "__version__":
        from assay.text.installed_packages import version_of

        return version_of("assay-db")
    if name == "errors":
        return import_module("assay.errors")
    if name in _HOMES:
        with _IMPORTING:
            module = import_module(f"assay.api.{_HOMES[name]}")
        return getattr(module, "open_records" if name == "open" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
