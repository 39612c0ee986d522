"""Takes the words of ``--log-storage`` and the storages of the experiment; returns the levels: each
is a storage, by its name among those or as a storage is written, or none: the log is with the data.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.contracts.experiment import StorageChoice
from assay.experiment.choices.checked_choices import split
from assay.experiment.choices.server_limits import NOT_LIMITED
from assay.experiment.choices.storage_words import storage_choices


def of_words(
    words: Iterable[str], storages: Iterable[StorageChoice]
) -> tuple[StorageChoice | None, ...]:
    """``none,hdd``. Raises `ArgumentError`."""
    named = {name: storage for storage in storages for name in (storage.name_alone, storage.name)}
    found: list[StorageChoice | None] = []
    for word in (word for listed in words for word in split(listed)):
        if word == NOT_LIMITED:
            found.append(None)
        elif word in named:
            found.append(named[word])
        else:
            found += storage_choices([word])
    return tuple(found)
