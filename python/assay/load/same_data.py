"""Takes the data sets that the runs of an experiment were loaded with; says where two that were
asked for alike are not the same rows: their systems would be compared on different data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.load.dataset import Dataset

_DIGITS = 12
"""Of a digest, where two are shown side by side."""


class _Loaded(NamedTuple):
    label: str
    """Of the system."""
    language: str
    """Of its statements: the tables of a workload may depend on it, and with them what a source of
    rows says of the whole."""
    dataset: Dataset


@dataclass
class SameData:
    """What was loaded so far, by what was asked for."""

    _loaded: dict[str, list[_Loaded]] = field(default_factory=dict)

    def difference(
        self, asked: Mapping[str, object], label: str, language: str, dataset: Dataset
    ) -> str | None:
        """How the data set differs from one that was loaded before; None: it is the same rows as
        far as that is known. ``asked``: the parameters, and whatever else decides the rows."""
        found = _Loaded(label, language, dataset)
        earlier = self._loaded.setdefault(json.dumps(dict(asked), sort_keys=True, default=str), [])
        for one in earlier:
            if (how := _difference(found, one)) is not None:
                return how
        earlier.append(found)
        return None


def _difference(loaded: _Loaded, before: _Loaded) -> str | None:
    new, old = loaded.dataset, before.dataset
    for table, rows in new.rows.items():
        if old.rows.get(table, rows) != rows:
            return _sentence(loaded, before, f"rows of {table}", rows, old.rows[table])
    for table, digest in new.checksums.items():
        if old.checksums.get(table, digest) != digest:
            other = old.checksums[table]
            return _sentence(
                loaded, before, f"digest of the rows of {table}", digest[:_DIGITS], other[:_DIGITS]
            )
    if loaded.language == before.language and new.request.key != old.request.key:
        what = "digest of the source of its rows"
        digests = [one.request.fingerprint for one in (new, old)]
        if digests[0] == digests[1]:
            what = "digest of all that decides its rows"
            digests = [one.request.key for one in (new, old)]
        return _sentence(loaded, before, what, *(digest[:_DIGITS] for digest in digests))
    return None


def _sentence(
    loaded: _Loaded, before: _Loaded, what: str, value: int | str, value_before: int | str
) -> str:
    return (
        f"{loaded.label} was loaded with other data than {before.label}: {what}: {value} on "
        f"{loaded.label}, {value_before} on {before.label}"
    )
