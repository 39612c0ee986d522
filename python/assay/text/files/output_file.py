"""Takes the path of a file to be written; returns a descriptor for its content, a whole file or
none.

The content goes into a file without a name in the same folder, and gets the name only when it is
complete; so whatever ends the program before that, even SIGKILL, leaves the old file or no file.
Where the file system knows no files without names, a hidden one stands in, and only SIGKILL leaves
it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import InputError, SystemUnderTestError

REPLACE_HINT = "--force replaces it"
_NEW_FILE_MODE = 0o666
"""Before the umask."""
_MACHINE_AT_FAULT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_DESCRIPTORS = Path("/proc/self/fd")
_NAMELESS_UNKNOWN = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


@contextmanager
def written(
    file: str | Path, *, force: bool, inputs: Iterable[str | Path | int] = ()
) -> Iterator[int]:
    """A descriptor for the content of ``file``, which appears when the block ends without error.

    A file that is there is replaced only where ``force``, and keeps its mode and owner; a symbolic
    link is followed and stays. A pipe, terminal or other device, also by a name such as
    /dev/stdout, is written to as it is. Raises
    `InputError` where the file is there, is one of ``inputs`` by whatever path (or descriptor), or
    cannot be written.
    """
    target = Path(os.path.realpath(file))
    there = _status(file)
    if there is not None:
        insist_on_other_file(there, file, inputs)
        if stat.S_ISDIR(there.st_mode):
            raise InputError("expected a file to write, found a folder", file=file)
        if stat.S_ISREG(there.st_mode) and not force:
            raise _already_there(file)
    try:
        if there is not None and not stat.S_ISREG(there.st_mode):
            # By the name that was given: that of a pipe without one is a link to nothing.
            with Path(file).open("wb") as device:
                yield device.fileno()
            return
        with _unfinished(target.parent) as unfinished:
            yield unfinished.descriptor
            _keep_mode(unfinished.descriptor, there)
            os.fsync(unfinished.descriptor)
            unfinished.name(target, replaces=there is not None)
    except FileExistsError as error:
        raise _already_there(file) from error
    except OSError as error:
        if error.errno in _MACHINE_AT_FAULT:
            raise SystemUnderTestError(
                f"{file}: cannot be written: {error.strerror}", hint="free some space there"
            ) from error
        raise InputError(f"cannot be written: {error.strerror or error}", file=file) from error


def write(file: str | Path, content: bytes, *, force: bool) -> None:
    """Writes the whole content; see `written`."""
    with written(file, force=force) as descriptor:
        write_all(descriptor, content)


def write_all(descriptor: int, content: bytes) -> None:
    """However many calls it takes."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def insist_on_other_file(
    there: os.stat_result, file: str | Path, inputs: Iterable[str | Path | int]
) -> None:
    """Raises `InputError` where ``there``, which goes by ``file``, is one of ``inputs``."""
    if not stat.S_ISREG(there.st_mode):
        return
    for given in inputs:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samestat(there, os.stat(given)):  # noqa: PTH116  (a path or a descriptor)
                name = "" if isinstance(given, int) else f" {given}"
                raise InputError(
                    f"is the input{name} and cannot be the output as well",
                    file=file,
                    hint="write to another file",
                )


def _status(file: str | Path) -> os.stat_result | None:
    try:
        return Path(file).stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot be written: {reason}", file=file) from error


def _already_there(file: str | Path) -> InputError:
    return InputError("already exists and is not overwritten", file=file, hint=REPLACE_HINT)


def _keep_mode(descriptor: int, replaced: os.stat_result | None) -> None:
    if replaced is None:
        return
    with contextlib.suppress(PermissionError):  # only root may give a file away
        os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode))


class _Unfinished:
    """A file in ``folder`` that is not visible yet."""

    def __init__(self, folder: Path) -> None:
        self._hidden: Path | None = None
        self._folder = folder
        try:
            nameless = os.O_TMPFILE if _DESCRIPTORS.is_dir() else os.O_DIRECTORY
            self.descriptor = os.open(folder, nameless | os.O_WRONLY, _NEW_FILE_MODE)
        except OSError as error:
            if error.errno not in _NAMELESS_UNKNOWN or not folder.is_dir():
                raise
            self._hidden = self._another_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self.descriptor = os.open(self._hidden, flags, _NEW_FILE_MODE)

    def name(self, target: Path, *, replaces: bool) -> None:
        """Puts the file at ``target``; raises `FileExistsError` where one is that it should not
        replace."""
        if not replaces:
            self._link(target)
            return
        if self._hidden is None:
            hidden = self._another_name()
            self._link(hidden)
            self._hidden = hidden
        self._hidden.replace(target)
        self._hidden = None

    def close(self) -> None:
        os.close(self.descriptor)
        if self._hidden is not None:
            self._hidden.unlink(missing_ok=True)

    def _link(self, target: Path) -> None:
        if self._hidden is None:
            # A descriptor for the folder makes Python follow the link, which it does not otherwise.
            own = f"{_DESCRIPTORS}/{self.descriptor}"
            os.link(own, target, src_dir_fd=self.descriptor, follow_symlinks=True)
            return
        try:
            os.link(self._hidden, target)
        except PermissionError:  # a file system without hard links
            if target.exists():
                raise FileExistsError(target) from None
            self._hidden.rename(target)
            self._hidden = None

    def _another_name(self) -> Path:
        return self._folder / f".unfinished-{os.urandom(8).hex()}"


@contextmanager
def _unfinished(folder: Path) -> Iterator[_Unfinished]:
    unfinished = _Unfinished(folder)
    try:
        yield unfinished
    finally:
        unfinished.close()
