"""Takes the path of a capsule; insists that it is as it was packed, and gives its members.

Whatever the file holds, an error says what was expected, what was found, and in which member.
Nothing is unpacked before its name and size were looked at.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.errors import InputError
from assay.record.capsule import layout
from assay.record.capsule.layout import Manifest, Member
from assay.text.files import paths, shared_files
from assay.text.units import size

_ENCRYPTED = 1
_BEGINNING = b"PK\x03\x04"
_BROKEN = (
    zipfile.BadZipFile,
    OSError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    IndexError,
    KeyError,
)
"""What the reader of zip files raises for one that is damaged; `NotImplementedError` where a member
is said to be compressed in a way that it does not know."""
_PACK_AGAIN = "get it again from where it is from, or pack it again with `assay pack`"


@dataclass(frozen=True)
class Capsule:
    """A file that was verified."""

    path: Path
    manifest: Manifest
    size_bytes: int
    sha256: str
    """Of the whole file."""
    _content: bytes = field(repr=False)

    def read(self, name: str) -> bytes:
        """The content of a member."""
        with zipfile.ZipFile(io.BytesIO(self._content)) as file:
            return file.read(name)


def verified(path: Path) -> Capsule:
    """Raises `InputError` where it is not as it was packed, or cannot be read."""
    content = _whole(path)
    with _opened(content, path) as file:
        _insist_on_manifest(file, path)
        names = _names(file, path)
        manifest = _manifest(file, path)
        _insist_on_members(names, manifest, path)
        for name, member in manifest.members.items():
            _insist_on_content(file, name, member, path)
        _insist_on_the_whole(content, file.comment, path)
    return Capsule(path, manifest, len(content), layout.digest(content), content)


def _whole(path: Path) -> bytes:
    if not paths.exists(path):
        raise InputError("there is no such file", file=path)
    if not paths.is_file(path):
        found = "a folder" if paths.is_folder(path) else "a pipe or a device"
        raise InputError(f"expected a capsule, found {found}", file=path)
    try:
        _, content = shared_files.read(path, layout.MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    if len(content) > layout.MOST_BYTES:
        raise InputError(f"expected at most {size(layout.MOST_BYTES)}, found more", file=path)
    return content


def _opened(content: bytes, path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except _BROKEN as error:
        if content.startswith(_BEGINNING):
            raise InputError(
                "expected the directory of a zip file at its end, found none that can be read: the "
                "file is not whole, or was changed there",
                file=path,
                hint=_PACK_AGAIN,
            ) from error
        raise InputError(
            "expected a capsule of `assay pack`, which is a zip file, found another file", file=path
        ) from error


def _names(file: zipfile.ZipFile, path: Path) -> list[str]:
    """Those in the zip file, each of which may be read."""
    entries = file.infolist()
    if len(entries) > layout.MOST_MEMBERS:
        raise InputError(
            f"expected at most {layout.MOST_MEMBERS} members, found {len(entries)}", file=path
        )
    for one in entries:
        name = one.orig_filename
        if why := layout.why_unsafe(name):
            raise InputError(
                f"expected members with the plain name of a file, found {name!r}, which {why}",
                file=path,
            )
        if one.flag_bits & _ENCRYPTED:
            raise InputError(f"{name}: expected a plain member, found an encrypted one", file=path)
        mode = one.external_attr >> 16
        if one.create_system == 3 and mode and not stat.S_ISREG(mode):
            raise InputError(f"{name}: expected a file, found a link or a folder", file=path)
    names = [one.orig_filename for one in entries]
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise InputError(f"{repeated[0]}: expected each member once, found it twice", file=path)
    whole = sum(one.file_size for one in entries)
    if whole > layout.MOST_BYTES:
        raise InputError(
            f"expected at most {size(layout.MOST_BYTES)} of members, found {size(whole)}, unpacked",
            file=path,
        )
    return names


def _insist_on_manifest(file: zipfile.ZipFile, path: Path) -> None:
    """First of all: of a zip file of another program it is what a reader has to know."""
    if layout.MANIFEST not in file.namelist():
        raise InputError(
            f"expected a capsule of `assay pack`, found a zip file without {layout.MANIFEST}",
            file=path,
        )


def _manifest(file: zipfile.ZipFile, path: Path) -> Manifest:
    """Raises `InputError` where it is of another format, or was changed."""
    expected = layout.comment_of(file.comment)
    declared = file.getinfo(layout.MANIFEST).file_size
    if declared > layout.MOST_OF_MANIFEST:
        raise InputError(
            f"{layout.MANIFEST}: expected at most {size(layout.MOST_OF_MANIFEST)}, found "
            f"{size(declared)}",
            file=path,
        )
    text = _content(file, layout.MANIFEST, path)
    _insist_on_format(text, path)
    if expected is None:
        raise InputError(
            "expected the comment of a capsule at the end of the zip file, which has the digest of "
            f"its bytes, found {file.comment[:80]!r}: another program has packed it again, or it "
            "was changed",
            file=path,
            hint=_PACK_AGAIN,
        )
    if (found := layout.digest(text)) != expected.manifest:
        raise _changed(layout.MANIFEST, f"SHA-256 {expected.manifest}", found, path)
    try:
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.MsgspecError as error:
        raise InputError(f"{layout.MANIFEST}: {error}", file=path) from error


class _OfAnyFormat(msgspec.Struct):
    format: int


def _insist_on_format(text: bytes, path: Path) -> None:
    try:
        found = msgspec.json.decode(text, type=_OfAnyFormat).format
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            f"{layout.MANIFEST}: expected the JSON of a manifest with its format, found: {error}",
            file=path,
            hint=_PACK_AGAIN,
        ) from error
    if found != layout.FORMAT:
        raise InputError(
            f"{layout.MANIFEST}: expected format {layout.FORMAT}, which this Assay reads, found "
            f"format {found}",
            file=path,
            hint="upgrade Assay" if found > layout.FORMAT else _PACK_AGAIN,
        )


def _insist_on_members(names: list[str], manifest: Manifest, path: Path) -> None:
    listed = {*manifest.members, layout.MANIFEST}
    if missing := sorted(listed - {*names}):
        added = sorted({*names} - listed)
        other = f"; {added[0]} is there and not in the manifest" if added else ""
        raise InputError(
            f"{missing[0]}: expected this member of the manifest, found none of that name{other}",
            file=path,
            hint=_PACK_AGAIN,
        )
    if added := sorted({*names} - listed):
        raise InputError(
            f"{added[0]}: expected the members of the manifest alone, found this one, too",
            file=path,
            hint=_PACK_AGAIN,
        )
    if lacking := [name for name in layout.NEEDED if name not in manifest.members]:
        raise InputError(f"{lacking[0]}: expected it in every capsule, found none", file=path)


def _insist_on_content(file: zipfile.ZipFile, name: str, member: Member, path: Path) -> None:
    declared = file.getinfo(name).file_size
    if declared != member.size:
        raise _changed(name, f"{member.size} bytes", f"{declared} bytes", path)
    content = _content(file, name, path)
    if (found := layout.digest(content)) != member.sha256:
        raise _changed(name, f"SHA-256 {member.sha256}", found, path)


def _content(file: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """No more than its entry says, whatever it becomes when it is unpacked."""
    try:
        return file.read(name)
    except _BROKEN as error:
        raise InputError(
            f"{name}: expected the content that was packed, found bytes that cannot be unpacked: "
            f"{error}",
            file=path,
            hint=_PACK_AGAIN,
        ) from error


def _insist_on_the_whole(content: bytes, comment: bytes, path: Path) -> None:
    """What is no member has no other digest: the zip file's own fields, and what is between."""
    expected = layout.comment_of(comment)
    assert expected is not None  # `_manifest` has looked
    before = content[: len(content) - len(comment) - 2]
    length = int.from_bytes(content[len(before) : len(before) + 2], "little")
    # The length of the comment was 0 before there was one.
    found = layout.digest(before + b"\0\0")
    is_whole = length == len(comment) and expected.format == layout.FORMAT
    if found != expected.file or not is_whole:
        raise InputError(
            f"expected SHA-256 {expected.file} of the file's bytes before its comment of "
            f"{len(comment)} bytes, found {found} and {length} bytes: the members are as they "
            "were packed, the zip file around them is not",
            file=path,
            hint=_PACK_AGAIN,
        )


def _changed(name: str, expected: str, seen: str, path: Path) -> InputError:
    return InputError(
        f"{name}: expected {expected}, found {seen}: it was changed after it was packed",
        file=path,
        hint=_PACK_AGAIN,
    )
