"""Takes a directory on a storage; says whether its file system has failed since it was made.

After an error of its disk a file system takes no more changes: ext4 can only be read then, others
return errors.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


def why_failed(directory: Path, storage_name: str) -> str | None:
    """None while it can be written, as far as the kernel knows."""
    try:
        flags = os.statvfs(directory).f_flag
    except OSError as error:
        if error.errno == errno.EIO:
            return f"the file system of the storage {storage_name} returns errors: {error.strerror}"
        return None
    if flags & os.ST_RDONLY:
        return (
            f"the file system of the storage {storage_name} can only be read: the kernel does that "
            "after an I/O error"
        )
    return None
