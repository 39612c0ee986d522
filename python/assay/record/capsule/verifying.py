"""Takes the path of a capsule; insists that it is as it was packed, and gives its members.

Whatever the file holds, an error says what was expected, what was found, and in which member.
Nothing is unpacked before its name and size were looked at. A file is read in pieces, however long
it and its members are.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from collections import Counter
from pathlib import Path
from typing import IO

import msgspec

from assay.errors import InputError
from assay.record.capsule import layout
from assay.record.capsule.capsule_file import (
    PACK_AGAIN,
    Capsule,
    file_pieces,
    member_pieces,
    no_capsule,
    opened,
    opened_zip,
)
from assay.record.capsule.layout import Manifest, Member
from assay.text.units import size

_ENCRYPTED = 1


def verified(path: Path) -> Capsule:
    """Raises `InputError` where it is not as it was packed, or cannot be read."""
    with opened(path) as file, opened_zip(file, path) as members:
        _insist_on_manifest(members, path)
        names = _names(members, path)
        manifest = _manifest(members, path)
        _insist_on_members(names, manifest, path)
        for name, member in manifest.members.items():
            _insist_on_content(members, name, member, path)
        size_bytes, sha256 = _insist_on_the_whole(file, members.comment, path)
    return Capsule(path, manifest, size_bytes, sha256)


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
        # Other programs write the permissions without the kind: that is a file.
        mode = one.external_attr >> 16
        if one.create_system == 3 and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
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
    names = file.namelist()
    if layout.MANIFEST in names:
        return
    if layout.comment_of(file.comment) is not None:
        raise InputError(
            f"{layout.MANIFEST}: expected it in every capsule, found none",
            file=path,
            hint=PACK_AGAIN,
        )
    kind = "a zip file" if names else "an empty zip file,"
    raise no_capsule(f"{kind} without {layout.MANIFEST}", path)


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
    text = b"".join(member_pieces(file, layout.MANIFEST, path))
    _insist_on_format(text, path, has_comment=expected is not None)
    if expected is None:
        raise InputError(
            "expected the comment of a capsule at the end of the zip file, which has the digest of "
            f"its bytes, found {file.comment[:80]!r}: another program has packed it again, or it "
            "was changed or is not whole",
            file=path,
            hint=PACK_AGAIN,
        )
    if (found := layout.digest(text)) != expected.manifest:
        raise _changed(layout.MANIFEST, f"SHA-256 {expected.manifest}", found, path)
    try:
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.MsgspecError as error:
        raise InputError(f"{layout.MANIFEST}: {error}", file=path) from error


class _OfAnyFormat(msgspec.Struct):
    format: int
    assay: str


def _insist_on_format(text: bytes, path: Path, *, has_comment: bool) -> None:
    try:
        found = msgspec.json.decode(text, type=_OfAnyFormat).format
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if not has_comment:  # packages of web browsers have a file of this name
            raise no_capsule(
                f"a zip file with a {layout.MANIFEST} of another program", path
            ) from error
        raise InputError(
            f"{layout.MANIFEST}: expected the JSON of a manifest with its format, found: {error}",
            file=path,
            hint=PACK_AGAIN,
        ) from error
    if found != layout.FORMAT:
        raise InputError(
            f"{layout.MANIFEST}: expected format {layout.FORMAT}, which this Assay reads, found "
            f"format {found}",
            file=path,
            hint="upgrade Assay" if found > layout.FORMAT else PACK_AGAIN,
        )


def _insist_on_members(names: list[str], manifest: Manifest, path: Path) -> None:
    listed = {*manifest.members, layout.MANIFEST}
    if missing := sorted(listed - {*names}):
        added = sorted({*names} - listed)
        other = f"; {added[0]} is there and not in the manifest" if added else ""
        raise InputError(
            f"{missing[0]}: expected this member of the manifest, found none of that name{other}",
            file=path,
            hint=PACK_AGAIN,
        )
    if added := sorted({*names} - listed):
        raise InputError(
            f"{added[0]}: expected the members of the manifest alone, found this one, too",
            file=path,
            hint=PACK_AGAIN,
        )
    if lacking := [name for name in layout.NEEDED if name not in manifest.members]:
        raise InputError(f"{lacking[0]}: expected it in every capsule, found none", file=path)


def _insist_on_content(file: zipfile.ZipFile, name: str, member: Member, path: Path) -> None:
    declared = file.getinfo(name).file_size
    if declared != member.size:
        raise _changed(name, f"{member.size} bytes", f"{declared} bytes", path)
    digest = hashlib.sha256()
    for piece in member_pieces(file, name, path):
        digest.update(piece)
    if (found := digest.hexdigest()) != member.sha256:
        raise _changed(name, f"SHA-256 {member.sha256}", found, path)


def _insist_on_the_whole(file: IO[bytes], comment: bytes, path: Path) -> tuple[int, str]:
    """What is no member has no other digest: the zip file's own fields, and what is between.
    Returns how long the file is, and its SHA-256."""
    expected = layout.comment_of(comment)
    assert expected is not None  # `_manifest` has looked
    whole = file.seek(0, os.SEEK_END)
    left = whole - len(comment) - 2
    file.seek(0)
    digest, of_all = hashlib.sha256(), hashlib.sha256()
    for piece in file_pieces(file, path, left):
        digest.update(piece)
        of_all.update(piece)
    end = b"".join(file_pieces(file, path))
    of_all.update(end)
    length = int.from_bytes(end[:2], "little")
    # The length of the comment was 0 before there was one.
    digest.update(b"\0\0")
    found = digest.hexdigest()
    is_whole = length == len(comment) and expected.format == layout.FORMAT
    if found != expected.file or not is_whole:
        raise InputError(
            f"expected SHA-256 {expected.file} of the file's bytes before its comment of "
            f"{len(comment)} bytes, found {found} and {length} bytes: the members are as they "
            "were packed, the zip file around them is not",
            file=path,
            hint=PACK_AGAIN,
        )
    return whole, of_all.hexdigest()


def _changed(name: str, expected: str, seen: str, path: Path) -> InputError:
    return InputError(
        f"{name}: expected {expected}, found {seen}: it was changed after it was packed",
        file=path,
        hint=PACK_AGAIN,
    )
