"""The format of a capsule: a zip file whose bytes follow from its members alone.

::

    manifest.json               format, version of Assay, and the size and SHA-256 of each member
    facts.json                  what was measured, where and how, for readers and for galleries
    assay-records.sqlite        a record file with this experiment alone
    report.html                 its report
    experiment/experiment.toml  what was asked, as an experiment file
    experiment/…                the files that it names: workload, scripts, feed, input

Members stand in the order of their names, with one time and one mode. The comment of the zip file
holds the SHA-256 of the manifest and that of all bytes before the comment, so that no byte can
change unseen. That guards against mistakes and damage; who it is from, it cannot say.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import PurePosixPath
from typing import Final

import msgspec

from assay.experiment import of_capsule
from assay.experiment.settings.catalogue import DEFAULT_FILE_NAME

FORMAT: Final = 1
"""Counts up with each change that an earlier Assay cannot read."""
MANIFEST: Final = of_capsule.MANIFEST
FACTS: Final = "facts.json"
RECORD: Final = DEFAULT_FILE_NAME
REPORT: Final = "report.html"
EXPERIMENT_FOLDER: Final = "experiment"
EXPERIMENT: Final = f"{EXPERIMENT_FOLDER}/experiment.toml"
NEEDED: Final = (FACTS, RECORD, REPORT, EXPERIMENT)
ENDING: Final = ".assay"

MOST_BYTES: Final = 2 << 30
"""Of all members, unpacked: a longer file is a mistake, or one that is to fill the disk."""
MOST_OF_MANIFEST: Final = of_capsule.MOST_BYTES
MOST_MEMBERS: Final = 10_000
TIME: Final = (1980, 1, 1, 0, 0, 0)
"""The first that a zip file knows."""
_COMMENT = re.compile(rb"assay capsule (\d{1,9}) manifest ([0-9a-f]{64}) file ([0-9a-f]{64})")
_NAME = re.compile(r"[^\x00-\x1f\x7f\\:]{1,1000}")
END_BYTES: Final = 22
"""The zip file's last record, without the comment."""


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    assay: str
    """The version that packed it."""
    members: dict[str, Member]
    """All but this one."""


class Comment(msgspec.Struct, frozen=True):
    format: int
    manifest: str
    file: str

    @property
    def text(self) -> bytes:
        return f"assay capsule {self.format} manifest {self.manifest} file {self.file}".encode()


def comment_of(text: bytes) -> Comment | None:
    """None: it is not that of a capsule."""
    found = _COMMENT.fullmatch(text)
    if found is None:
        return None
    return Comment(int(found[1]), found[2].decode(), found[3].decode())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entry(name: str) -> zipfile.ZipInfo:
    """Of a member: nothing in it is of the machine or the moment."""
    found = zipfile.ZipInfo(name, TIME)
    found.compress_type = zipfile.ZIP_DEFLATED
    found.create_system = 3  # Unix, whose modes these are
    found.external_attr = 0o100644 << 16
    return found


def why_unsafe(name: str) -> str:
    """Why no member may have this name; empty: it may."""
    if not _NAME.fullmatch(name):
        return "has a character that is no part of a file's name in a capsule"
    if name.startswith("/"):
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the folder"
    if not all(parts) or "." in parts or str(PurePosixPath(name)) != name:
        return "is not the plain name of a file"
    return ""
