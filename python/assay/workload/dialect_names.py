"""Takes a name by which a workload means a dialect or a language; returns what is wrong with it."""

from __future__ import annotations

from assay import registry
from assay.contracts.languages import LANGUAGES
from assay.text.nearest import did_you_mean

_DECLARED = 'dialects = ["FILE.toml"]'


def hint_if_unknown(name: str) -> str | None:
    """None where a system speaks it; else the name that is meant: a system is named by its dialect,
    which several systems may share."""
    dialects = registry.dialects()
    known = [*dialects, *(language for language in LANGUAGES if language not in dialects)]
    if name in known:
        return None
    if name in registry.systems():
        return f"the dialect of {name} is called {registry.system(name).dialect.name}"
    return f"{did_you_mean(name, known)}; of a file: {registry.WORKLOAD_FILE}: {_DECLARED}"
