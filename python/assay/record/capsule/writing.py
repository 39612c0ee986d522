"""Takes the members of a capsule; returns its bytes, the same for the same members. One of them is
the experiment's own record file, which is made here, too."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from assay.errors import ArgumentError, SystemUnderTestError
from assay.record.capsule import layout
from assay.record.capsule.layout import Comment, Manifest, Member
from assay.record.experiment_copy import ExperimentCopy
from assay.record.file.read_only import open_for_reading
from assay.text.units import size


def record_of(path: Path, experiment_id: int) -> bytes:
    """Of a record file, another one with that experiment alone. Raises `SystemUnderTestError` where
    there is no room for a temporary copy."""
    with closing(open_for_reading(path)) as record:
        try:
            with closing(ExperimentCopy.of(record, experiment_id)) as copy:
                return copy.content()
        except sqlite3.Error as error:
            raise SystemUnderTestError(
                f"experiment {experiment_id} cannot be copied into a temporary file: {error}",
                hint="free space there, or name another folder in TMPDIR",
            ) from error


def packed(members: Mapping[str, bytes], assay: str) -> bytes:
    """``assay``: the version that packs. Raises `ArgumentError` where they are too much for a
    capsule, or one of them cannot be called as it is."""
    whole = sum(map(len, members.values()))
    if whole > layout.MOST_BYTES or len(members) >= layout.MOST_MEMBERS:
        raise ArgumentError(
            f"this experiment has {size(whole)} in {len(members)} files: expected at most "
            f"{size(layout.MOST_BYTES)} in {layout.MOST_MEMBERS - 1}, the most of a capsule"
        )
    for name in members:
        if why := layout.why_unsafe(name):
            raise ArgumentError(f"{name!r} {why}", hint="rename the file, and run it again")
    manifest = Manifest(
        layout.FORMAT,
        assay,
        {name: Member(len(one), layout.digest(one)) for name, one in sorted(members.items())},
    )
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in sorted({**members, layout.MANIFEST: text}.items()):
            file.writestr(layout.entry(name), content, compresslevel=9)
    content = stream.getvalue()
    comment = Comment(layout.FORMAT, layout.digest(text), layout.digest(content)).text
    return content[:-2] + len(comment).to_bytes(2, "little") + comment
