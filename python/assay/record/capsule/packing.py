"""Takes the members of a capsule; returns the whole file, the same bytes for the same members, and
insists that none of them holds a password."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from assay import registry
from assay.errors import ArgumentError, InputError, SystemUnderTestError
from assay.record.capsule import capsule_file, named_files
from assay.record.capsule.capsule_file import Comment, Manifest, Member
from assay.record.file import kept_texts
from assay.record.file.record_file import open_for_reading, reading_errors
from assay.record.writer import ExperimentCopy
from assay.text import output_file, secrets
from assay.text.units import size

_LENGTH_BYTES = 2
"""At the end of a zip file without a comment: how long that is."""


class Packed(Struct, frozen=True):
    """A capsule in a temporary file."""

    file: IO[bytes]
    """Without its comment."""
    comment: bytes
    size_bytes: int
    """With it."""

    def copy(self, descriptor: int) -> None:
        self.file.seek(0)
        before = self.size_bytes - len(self.comment) - _LENGTH_BYTES
        for piece in output_file.pieces_of_file(self.file, before):
            output_file.write_all(descriptor, piece)
        length = len(self.comment).to_bytes(_LENGTH_BYTES, "little")
        output_file.write_all(descriptor, length + self.comment)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """For the members of a capsule. Raises `SystemUnderTestError` where there is no room."""
    with _room(OSError), tempfile.TemporaryDirectory(prefix="assay-pack-") as folder:
        yield Path(folder)


@contextmanager
def _room(kind: type[sqlite3.Error | OSError]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SystemUnderTestError(
            f"the experiment cannot be copied into a temporary file: {reason}",
            hint="free space there, or name another folder in TMPDIR",
        ) from error


def record_of(path: Path, experiment_id: int, target: Path) -> None:
    """Makes of a record file another one with that experiment alone. Raises `SystemUnderTestError`
    where there is no room for a temporary copy."""
    with (
        closing(open_for_reading(path)) as record,
        _room(sqlite3.Error),
        closing(ExperimentCopy.of(record, experiment_id)) as copy,
    ):
        copy.write_anew(target)


@contextmanager
def packed(members: Mapping[str, Path], assay: str) -> Iterator[Packed]:
    """``members``: by name, the files with their content. ``assay``: the version that packs. Raises
    `ArgumentError` where they are too much for a capsule, or one of them cannot be called as it
    is."""
    whole = sum(file.stat().st_size for file in members.values())
    if whole > capsule_file.MOST_BYTES or len(members) >= capsule_file.MOST_MEMBERS:
        raise ArgumentError(
            f"this experiment has {size(whole)} in {len(members)} files: expected at most "
            f"{size(capsule_file.MOST_BYTES)} in {capsule_file.MOST_MEMBERS - 1}, "
            "the most of a capsule"
        )
    for name in members:
        if why := capsule_file.why_unsafe(name):
            raise ArgumentError(f"{name!r} {why}", hint="rename the file, and run it again")
    manifest = Manifest(
        capsule_file.FORMAT,
        assay,
        {
            name: Member(file.stat().st_size, output_file.file_digest(file))
            for name, file in sorted(members.items())
        },
    )
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    with tempfile.TemporaryFile(prefix="assay-pack-") as stream:
        size_bytes, digest = _zipped(stream, members, text)
        comment = Comment(capsule_file.FORMAT, capsule_file.digest(text), digest).text
        yield Packed(stream, comment, size_bytes + len(comment))


def _zipped(stream: IO[bytes], members: Mapping[str, Path], manifest: bytes) -> tuple[int, str]:
    """How long it is, and its SHA-256."""
    with zipfile.ZipFile(stream, "w") as zipped:
        for name in sorted({*members, capsule_file.MANIFEST}):
            if name == capsule_file.MANIFEST:
                zipped.writestr(capsule_file.zip_entry(name), manifest)
            else:
                output_file.write_member(zipped, capsule_file.zip_entry(name), members[name])
    stream.seek(0)
    digest = hashlib.sha256()
    for piece in output_file.pieces_of_file(stream):
        digest.update(piece)
    return stream.tell(), digest.hexdigest()


_NAME = re.compile(r"(?:passw(?:or)?d|passphrase|_pwd)$", re.IGNORECASE)
"""Of a variable of the environment. ``PWD`` is a directory."""
_WHOLE: Final = (capsule_file.REPORT, capsule_file.FACTS, capsule_file.EXPERIMENT)
_LEAST_CHARACTERS: Final = 6
"""Of a known password: a shorter one is part of many words."""


def insist_on_no_secrets(
    members: Mapping[str, Path], environment: Mapping[str, str] = os.environ
) -> None:
    """``members``: by name, the files with their content. Raises `InputError`."""
    known = _known(environment)
    for name, file in members.items():
        if name == capsule_file.RECORD:
            for place, text in _texts_of_record(file):
                _insist(f"{name}, {place}", text, known, has_words=True)
        elif name in _WHOLE:
            # The report is made of the record, and escapes what it shows.
            text = file.read_text(encoding="utf-8")
            _insist(name, text, known, has_words=name != capsule_file.REPORT)
        elif known:
            for line in named_files.input_lines(file):
                _insist(name, line, known, has_words=False)


def _known(environment: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """By the name of the variable. A password that is a common word of a record (the name of a
    system, of the user) hides nothing, and would be found everywhere."""
    words = {*registry.systems(), environment.get("USER", ""), "password"}
    words |= {scheme for one in registry.systems() for scheme in registry.url_schemes(one)}
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _spellings(value)))})(?!\w)")
        for name, value in environment.items()
        if _NAME.search(name)
        and len(value) >= _LEAST_CHARACTERS
        and value.lower() not in {word.lower() for word in words}
    }


def _spellings(value: str) -> list[str]:
    """As texts, URLs, documents and pages write it."""
    return sorted({value, quote(value, safe=""), json.dumps(value)[1:-1], html.escape(value)})


def _insist(
    place: str, text: str, known: Mapping[str, re.Pattern[str]], *, has_words: bool
) -> None:
    for name, value in known.items():
        if value.search(text):
            raise _holds(f"the password of the environment's {name}", place)
    if has_words and secrets.has_password(text):
        raise _holds("a password or a token", place)


def _holds(what: str, place: str) -> InputError:
    return InputError(
        f"holds {what}: expected none, as a capsule is for others",
        file=place,
        hint="run the experiment again without it in a script, a title or a name, and pack that",
    )


def _texts_of_record(file: Path) -> Iterator[tuple[str, str]]:
    """Each text of the record with its table."""
    with closing(open_for_reading(file)) as connection, reading_errors(file):
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield from ((f"table {table}", one) for one in row if isinstance(one, str))
        for text in kept_texts.every_text(connection):
            yield "long texts", text
