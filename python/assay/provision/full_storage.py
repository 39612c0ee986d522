"""Takes an error of a system that ran out of something; says so where its storage is full."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import (
    FULL_DISK_HINT,
    RESOURCES,
    AssayError,
    SystemRefused,
    SystemUnderTestError,
    says_disk_is_full,
)
from assay.provision.deployment import Deployment

_BEGINNING = "no space left on storage"
_FULL_SHARE = 0.02
"""Free space below this share of the storage: a system that is refused a block may have freed some
of its own since."""


def is_full(deployment: Deployment) -> bool:
    """Whether a storage of the deployment has no room left now."""
    folders = [node.directory for node in deployment.nodes if node.directory is not None]
    return any(map(has_no_room, folders))


def has_no_room(directory: Path) -> bool:
    """Whether the file system of the directory has no room left now."""
    try:
        found = os.statvfs(directory)
    except OSError:
        return False
    has_no_files_left = found.f_files > 0 and found.f_favail == 0  # some do not count them
    return found.f_bavail <= found.f_blocks * _FULL_SHARE or has_no_files_left


def no_space_left(storage_name: str, message: str) -> str:
    """The message, with the storage that is full; unchanged where it says so already."""
    if not storage_name or message.startswith(_BEGINNING):
        return message
    return f"{_BEGINNING} {storage_name}: {message}"


def name_full_storage(error: AssayError, storage_name: str, *, is_full: bool) -> None:
    """Changes the error's message where it is that the storage is full."""
    if not isinstance(error, SystemUnderTestError):
        return
    ran_out = isinstance(error, SystemRefused) and error.error_class == RESOURCES
    if says_disk_is_full(error.message) or (is_full and ran_out):
        error.message = no_space_left(storage_name, error.message)
        error.hint = error.hint or FULL_DISK_HINT
