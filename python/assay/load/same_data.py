"""Takes the data sets that the runs of an experiment were loaded with; says where two that were
asked for alike are not the same rows: their systems would be compared on different data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
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


class _Known(Struct):
    """Of what was loaded alike, the first that said each fact: the others agree with it, so that a
    further one is compared with these alone, however many there were."""

    rows: dict[str, _Loaded] = field(default_factory=dict)
    """By table, as the next one."""
    checksums: dict[str, _Loaded] = field(default_factory=dict)
    keys: dict[str, _Loaded] = field(default_factory=dict)
    """By the language of the statements."""

    def add(self, loaded: _Loaded) -> None:
        for table in loaded.dataset.rows:
            self.rows.setdefault(table, loaded)
        for table in loaded.dataset.checksums:
            self.checksums.setdefault(table, loaded)
        self.keys.setdefault(loaded.language, loaded)


class SameData(Struct):
    """What was loaded so far, by what was asked for."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def difference(
        self, asked: Mapping[str, object], label: str, language: str, dataset: Dataset
    ) -> str | None:
        """How the data set differs from one that was loaded before; None: it is the same rows as
        far as that is known. ``asked``: the parameters, and whatever else decides the rows."""
        loaded = _Loaded(label, language, dataset)
        known = self._known.setdefault(
            json.dumps(dict(asked), sort_keys=True, default=str), _Known()
        )
        if (how := _difference(loaded, known)) is None:
            known.add(loaded)
        return how


def _difference(loaded: _Loaded, known: _Known) -> str | None:
    new = loaded.dataset
    for table, rows in new.rows.items():
        before = known.rows.get(table, loaded)
        if (rows_before := before.dataset.rows[table]) != rows:
            return _sentence(loaded, before, f"rows of {table}", rows, rows_before)
    for table, digest in new.checksums.items():
        before = known.checksums.get(table, loaded)
        if (other := before.dataset.checksums[table]) != digest:
            return _sentence(
                loaded, before, f"digest of the rows of {table}", digest[:_DIGITS], other[:_DIGITS]
            )
    before = known.keys.get(loaded.language, loaded)
    old = before.dataset
    if new is not old and new.request.key != old.request.key:
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
