"""A capsule is the same bytes for the same members, and none of its bytes can change unseen."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.errors import ArgumentError, InputError
from assay.record.capsule import capsule_file, packing
from assay.record.capsule.opening import verified
from packed_members import packed

MEMBERS = {
    capsule_file.FACTS: b'{"title": "an experiment"}\n',
    capsule_file.RECORD: random.Random(1).randbytes(300) + b"the same again " * 60,
    capsule_file.REPORT: b"<!doctype html><p>a page</p>",
    capsule_file.EXPERIMENT: b'systems = ["sqlite"]\n',
    "experiment/scripts/mine.sql": b"SELECT 1;\n",
}


@pytest.fixture
def capsule(tmp_path: Path) -> Path:
    path = tmp_path / "result.assay"
    path.write_bytes(packed(MEMBERS, "1.2.3"))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as found:
        verified(path)
    assert str(found.value).startswith(f"{path}: ")
    return str(found.value)


def zipped(path: Path, members: list[tuple[str, bytes]], comment: bytes = b"", **how: int) -> Path:
    """Another zip file in its place, as another program would write it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in members:
            entry = capsule_file.zip_entry(name)
            for field, value in how.items():
                setattr(entry, field, value)
            file.writestr(entry, content)
        file.comment = comment
    path.write_bytes(stream.getvalue())
    return path


def members_of(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as file:
        return [(name, file.read(name)) for name in file.namelist()]


def comment_of(path: Path) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.comment


def test_the_same_members_are_the_same_bytes_in_whatever_order() -> None:
    assert packed(MEMBERS, "1") == packed(dict(reversed(MEMBERS.items())), "1")


def test_a_capsule_gives_what_was_packed(capsule: Path) -> None:
    found = verified(capsule)
    for name in found.manifest.members:
        found.unpack(name, capsule.with_name("member"))
        assert capsule.with_name("member").read_bytes() == MEMBERS[name]
        capsule.with_name("member").unlink()
    assert found.manifest.assay == "1.2.3"
    with zipfile.ZipFile(capsule) as file:  # any other program reads it too
        assert file.testzip() is None and file.namelist() == sorted(file.namelist())


@pytest.mark.slow
def test_no_byte_changes_unseen(capsule: Path) -> None:
    content = bytearray(capsule.read_bytes())
    for place in range(len(content)):
        before = content[place]
        content[place] ^= 1 << place % 8
        capsule.write_bytes(content)
        refusal(capsule)
        content[place] = before


def test_no_length_is_cut_off_unseen(capsule: Path) -> None:
    content = capsule.read_bytes()
    for length in [0, 1, 3, 4, 30, *range(100, len(content), 97), len(content) - 1]:
        capsule.write_bytes(content[:length])
        refusal(capsule)
    for other in (content + b"\0", b"#!/bin/sh\n" + content):
        capsule.write_bytes(other)
        refusal(capsule)


@pytest.mark.parametrize("name", [*MEMBERS, capsule_file.MANIFEST])
def test_a_changed_member_is_named(capsule: Path, name: str) -> None:
    """By a program that keeps the rest of the zip file in order."""
    comment = comment_of(capsule)
    changed = [
        (one, content[:-1] + b"!" if one == name else content)
        for one, content in members_of(capsule)
    ]
    said = refusal(zipped(capsule, changed, comment))
    assert f"{name}: expected" in said and "found" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda all_: all_[1:], "assay-records.sqlite: expected this member of the manifest"),
        (lambda all_: [*all_, ("more.txt", b"x")], "more.txt: expected the members of"),
        (lambda all_: [*all_, all_[0]], "assay-records.sqlite: expected each member once"),
        (
            lambda all_: [("other.txt", all_[0][1]), *all_[1:]],
            "other.txt is there and not in the manifest",
        ),
        (lambda all_: [*all_, ("../../evil", b"x")], "'../../evil', which leads out of the folder"),
        (lambda all_: [*all_, ("/etc/evil", b"x")], "'/etc/evil', which is absolute"),
        (lambda all_: [*all_, ("a\\..\\b", b"x")], "a character that is no part"),
        (lambda all_: [*all_, ("a//b", b"x")], "not the plain name of a file"),
        (lambda all_: [*all_, ("folder/", b"")], "not the plain name of a file"),
        (
            lambda all_: [one for one in all_ if one[0] != capsule_file.MANIFEST],
            "manifest.json: expected it in every capsule",
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_other_members_are_refused(
    capsule: Path, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]], said: str
) -> None:
    comment = comment_of(capsule)
    assert said in refusal(zipped(capsule, change(members_of(capsule)), comment))


def test_one_that_was_packed_again_is_said_to_be(capsule: Path) -> None:
    comment, members = comment_of(capsule), members_of(capsule)
    assert "another program has packed it again" in refusal(zipped(capsule, members))
    said = refusal(zipped(capsule, members, comment, create_version=63))
    assert "the members are as they were packed, the zip file around them is not" in said


def test_links_are_refused(capsule: Path) -> None:
    comment, members = comment_of(capsule), members_of(capsule)
    said = refusal(zipped(capsule, members, comment, external_attr=0o120777 << 16))
    assert "found a link or a folder" in said


def test_a_file_of_another_program_is_no_link(tmp_path: Path) -> None:
    """Python writes the permissions of a member that it is given as text, and no kind of file."""
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as file:
        file.writestr(capsule_file.MANIFEST, "{}")
    assert "link" not in refusal(foreign)


@pytest.mark.parametrize(
    ("number", "hint"), [(capsule_file.FORMAT + 1, "upgrade Assay"), (0, "pack it again")]
)
def test_another_format_is_refused(capsule: Path, number: int, hint: str) -> None:
    manifest = msgspec.json.decode(dict(members_of(capsule))[capsule_file.MANIFEST])
    text = msgspec.json.encode({**manifest, "format": number, "of tomorrow": []})
    members = [
        (name, text if name == capsule_file.MANIFEST else one) for name, one in members_of(capsule)
    ]
    with pytest.raises(InputError, match=f"expected format 1, .* found format {number}") as found:
        verified(zipped(capsule, members, comment_of(capsule)))
    assert hint in str(found.value.hint)


def test_encrypted_members_are_refused(capsule: Path) -> None:
    content = bytearray(capsule.read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= 1
    capsule.write_bytes(content)
    assert "found an encrypted one" in refusal(capsule)


def test_what_would_fill_the_disk_is_refused_before_it_is_unpacked(capsule: Path) -> None:
    """A member that says how large it becomes, and one that becomes larger than it says."""
    content = bytearray(capsule.read_bytes())
    entry = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, entry + 24, 0xFFFFFFFE)
    capsule.write_bytes(content)
    assert "expected at most" in refusal(capsule)
    bomb = dict(MEMBERS) | {capsule_file.REPORT: b"\0" * 30_000_000}
    content = bytearray(packed(bomb, "1"))
    at = content.index(b"report.html", content.index(b"PK\x01\x02")) - 46
    struct.pack_into("<I", content, at + 24, 10)
    capsule.write_bytes(content)
    assert "report.html: expected 30000000 bytes, found 10 bytes" in refusal(capsule)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none.assay")
    assert "found a folder" in refusal(tmp_path)
    other = tmp_path / "other"
    other.write_text("SELECT 1;\n")
    assert "not a capsule of Assay" in refusal(other)


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ([], "an empty zip file, without manifest.json"),
        ([("a/__init__.py", b"")], "a zip file without manifest.json"),
        ([("META-INF/", b""), ("META-INF/MANIFEST.MF", b"x")], "a zip file without manifest.json"),
        ([("[Content_Types].xml", b"<x/>")], "a zip file without manifest.json"),
        ([("manifest.json", b'{"name": "a page"}')], "a manifest.json of another program"),
        ([("manifest.json", b"\xff")], "a manifest.json of another program"),
    ],
)
def test_what_another_program_has_zipped_is_no_capsule(
    tmp_path: Path, members: list[tuple[str, bytes]], found: str
) -> None:
    digits = b"assay capsule %s manifest %s file %s" % (b"9" * 5000, b"0" * 64, b"0" * 64)
    assert "capsule" in refusal(zipped(tmp_path / "digits.zip", members, digits))
    said = refusal(zipped(tmp_path / "other.whl", members, b"its own comment"))
    assert (
        "not a capsule of Assay: expected a file of `assay capsule pack`, found" in said
        and found in said
    )


def test_a_part_of_a_zip_file_is_one_of_a_capsule_or_not(capsule: Path, tmp_path: Path) -> None:
    content = capsule.read_bytes()
    capsule.write_bytes(content[:-200])
    assert "the file is not whole" in refusal(capsule)
    other = zipped(tmp_path / "other.jar", [("META-INF/MANIFEST.MF", b"x" * 300)])
    other.write_bytes(other.read_bytes()[:-30])
    said = refusal(other)
    assert (
        "not a capsule of Assay" in said and "zip file of another program that is not whole" in said
    )
    other.write_bytes(b"")
    assert "not a capsule of Assay" in refusal(other) and "an empty file" in refusal(other)


def test_what_is_read_later_is_what_was_verified(capsule: Path, tmp_path: Path) -> None:
    found = verified(capsule)
    capsule.write_bytes(packed({**MEMBERS, capsule_file.REPORT: b"<p>another</p>"}, "1.2.3"))
    with pytest.raises(InputError, match="was changed while it was read"):
        found.unpack(capsule_file.REPORT, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_no_more_than_a_piece_of_a_file_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.assay"
    files = {name: tmp_path / f"member-{number}" for number, name in enumerate(MEMBERS)}
    for name, file in files.items():
        file.write_bytes(MEMBERS[name])
    files[capsule_file.REPORT].write_bytes(random.Random(2).randbytes(30_000_000))
    tracemalloc.start()
    try:
        with packing.packed(files, "1") as found, path.open("wb") as stream:
            found.copy(stream.fileno())
        verified(path).unpack(capsule_file.REPORT, tmp_path / "report.html")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8_000_000


def test_a_name_that_no_member_may_have_is_not_packed() -> None:
    with pytest.raises(ArgumentError, match="leads out of the folder"):
        packed({**MEMBERS, "experiment/../../x": b""}, "1")
