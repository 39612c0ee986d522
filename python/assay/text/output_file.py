"""Takes the path of a file to be written; writes the whole file or none, its content in pieces
where it is long, and tables of Python as TOML."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import stat
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assay.errors import InputError, SystemUnderTestError
from assay.text import paths, pattern

REPLACE_HINT = "--force replaces it"
_NEW_FILE_MODE = 0o666
"""Before the umask."""
_MACHINE_AT_FAULT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_DESCRIPTORS = Path("/proc/self/fd")
_NAMELESS_UNKNOWN = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


@contextmanager
def written_file(
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


def write_file(file: str | Path, content: bytes, *, force: bool) -> None:
    """Writes the whole content; see `written`."""
    with written_file(file, force=force) as descriptor:
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


_PIECE = 1 << 20


def pieces_of_file(file: IO[bytes], most_bytes: int = sys.maxsize) -> Iterator[bytes]:
    """From where it stands. Raises `OSError`."""
    left = most_bytes
    while left and (piece := file.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece


def pieces_of_member(file: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """No more than its entry says, whatever it becomes when it is unpacked. Raises what `zipfile`
    raises."""
    with file.open(name) as member:
        yield from pieces_of_file(member)


def write_pieces(path: Path, content: Iterable[bytes]) -> None:
    """Writes a file that is not there yet. Raises `OSError`."""
    with path.open("xb") as file:
        for piece in content:
            file.write(piece)


def write_member(file: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    """Writes the content of the file as a member. Raises `OSError`."""
    with paths.opened_file(path) as content:
        # Known before, it decides how the entry is written.
        entry.file_size = os.fstat(content.fileno()).st_size
        with file.open(entry, "w") as member:
            for piece in pieces_of_file(content):
                member.write(piece)


def file_digest(path: Path) -> str:
    """SHA-256. Raises `OSError`."""
    found = hashlib.sha256()
    with paths.opened_file(path) as file:
        for piece in pieces_of_file(file):
            found.update(piece)
    return found.hexdigest()


_LIBC = ctypes.CDLL(None, use_errno=True)


def called_in_libc(name: str, *arguments: object) -> int:
    """What a function of the C library returns that Python does not have. Raises `OSError`."""
    found = int(getattr(_LIBC, name)(*arguments))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def sync_file_system(directory: Path) -> None:
    """``syncfs(2)``. Raises `OSError`."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        called_in_libc("syncfs", opened)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(directory)) from None
    finally:
        os.close(opened)


Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
Table = Mapping[str, Value]
_BARE = pattern(r"[A-Za-z0-9_-]+")


def toml_text(table: Table) -> str:
    """Its values first, then a heading for each table in it. Raises `ValueError` for a text that no
    TOML file can hold (a lone surrogate)."""
    text = "\n".join(_lines(table, ())) + "\n"
    text.encode("utf-8")
    return text


def _lines(table: Table, path: tuple[str, ...]) -> list[str]:
    lines = [
        f"{_key(name)} = {_value(value)}"
        for name, value in table.items()
        if not isinstance(value, Mapping)
    ]
    for name, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, name)
            found = _lines(value, inner)
            # A table of tables alone needs no heading of its own.
            is_named = not value or any(not isinstance(one, Mapping) for one in value.values())
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *found] if is_named else found
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            return repr(value)
        case Mapping():
            inner = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items())
            return f"{{ {inner} }}"
        case _:
            return f"[{', '.join(map(_value, value))}]"


def _text(text: str) -> str:
    """A basic string of TOML has JSON's escapes; JSON leaves one control character as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
