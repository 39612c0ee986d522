"""Takes the limits of a server; makes control groups that have them, which its processes enter
before their programs begin (see `programs`).

There is a group for each hierarchy of version 1, and a single one for everything in version 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.contracts.storages.group_limits import GroupLimit
from assay.errors import MachineLimit
from assay.provision.limits.hierarchies import ENABLED, parents
from assay.provision.undo.ledger import HeldEntry
from assay.provision.undo.resources import ControlGroup


def make(entry: HeldEntry, limits: Sequence[GroupLimit]) -> tuple[Path, ...]:
    """The folders of the groups, whose names end in the mark of the entry, and which are removed
    with it; none where nothing is limited. Raises `MachineLimit` where they cannot be made."""
    found = parents({limit.controller: None for limit in limits}.keys())
    folders = {
        controller: parent.folder / f"assay-{entry.entry.id}"
        for controller, parent in found.items()
    }
    made = tuple(dict.fromkeys(folders.values()))
    for folder in made:
        entry.add(ControlGroup(str(folder)))
    for parent in dict.fromkeys(found.values()):
        for controller in parent.enable:
            # It stays enabled: whether others came to need it since cannot be known.
            _write(parent.folder / ENABLED, f"+{controller}")
    for folder in made:
        try:
            folder.mkdir()
        except OSError as error:
            raise MachineLimit(
                f"the control group {folder} cannot be made: {error.strerror}",
                hint="control groups need root; a container must be allowed to write them",
            ) from error
    for limit in limits:
        folder = folders[limit.controller]
        for name, line in limit.lines(found[limit.controller].version):
            if name not in limit.optional_files or (folder / name).exists():
                _write(folder / name, line)
    return made


def _write(file: Path, line: str) -> None:
    try:
        file.write_text(line)
    except OSError as error:
        raise MachineLimit(
            f"{line!r} cannot be written to the control group's file {file}: {error.strerror}",
            hint="run assay as root; the kernel may also have been built without this limit",
        ) from error
