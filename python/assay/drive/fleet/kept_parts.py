"""Takes files that load generators kept where they lost the process that coordinates; returns what
each of them measured, and the parts of one drive as one.

They are in no record: the run was cut short, and parts of other generators may be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.contracts.observation import Observation, decode_observation
from assay.contracts.observation.merging.simultaneous import merge
from assay.contracts.observation.parts.latency import merged_latency
from assay.contracts.observation.parts.outcomes import OUTCOMES
from assay.errors import InputError
from assay.text.files import text_file

_HINT = "give files that `assay parts` lists on the load machines, as they are there"


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """Of one generator: what stands in its file before what it observed."""

    run: int
    """Its number in the record of the process that was lost."""
    epoch: int
    """Of the drive."""
    generator: int
    of: int
    """How many generators drove together."""
    machine: str

    @property
    def drive(self) -> tuple[int, int]:
        """The same for all parts of one drive."""
        return self.run, self.epoch

    @property
    def place(self) -> str:
        return f"{self.generator} of {self.of}"


class _Kept(_Part, frozen=True, kw_only=True):
    observation: msgspec.Raw


class KeptPart(_Part, frozen=True, kw_only=True):
    observation: Observation
    file: Path


class MergedParts(Struct, frozen=True):
    """Parts of one drive."""

    parts: Sequence[KeptPart]
    """By the number of the generator."""
    observation: Observation
    """Of these, as one."""

    @property
    def missing(self) -> list[int]:
        """The numbers of the generators of which there is no part."""
        there = {one.generator for one in self.parts}
        return [number for number in range(1, self.parts[0].of + 1) if number not in there]


def read(file: Path) -> KeptPart:
    """Raises `InputError` where it cannot be read, or is none of these files."""
    try:
        text = text_file.read(file, InputError)
    except InputError as error:
        error.hint = _HINT
        raise
    try:
        kept = msgspec.json.decode(text, type=_Kept)
        observation = decode_observation(bytes(kept.observation).decode("utf-8"))
        merged_latency([one.latency for one in observation.transactions])
    except (msgspec.MsgspecError, ValueError, RecursionError, InputError) as error:
        raise _not_kept(file, str(error)) from error
    if not 1 <= kept.generator <= kept.of:
        raise _not_kept(file, f"generator {kept.generator} of {kept.of}")
    for name in OUTCOMES:
        if (count := getattr(observation.outcomes, name)) < 0:
            raise _not_kept(file, f"{count} {name}")
    head = {name: getattr(kept, name) for name in _Part.__struct_fields__}
    return KeptPart(**head, observation=observation, file=file)


def merged(parts: Sequence[KeptPart]) -> MergedParts:
    """Raises `InputError` where they are not of one drive, or one is given twice."""
    first = parts[0]
    for one in parts[1:]:
        if one.drive != first.drive:
            raise InputError(
                f"expected parts of one run, found one of {_named(one, first)}, and of "
                f"{_named(first, one)} in {first.file}",
                file=one.file,
                hint="give those of one run at a time; `assay parts` says of which each is",
            )
    counts = Counter(one.generator for one in parts)
    for number, count in counts.items():
        if count > 1:
            files = [str(one.file) for one in parts if one.generator == number]
            raise InputError(
                f"expected one part of each generator, found generator {number} also in {files[0]}",
                file=files[1],
                hint="give each part once",
            )
    ordered = sorted(parts, key=attrgetter("generator"))
    try:
        return MergedParts(ordered, merge([one.observation for one in ordered]))
    except (ValueError, InputError) as error:
        raise _not_kept(first.file, f"in it and those given with it: {error}") from error


def _named(part: KeptPart, other: KeptPart) -> str:
    return f"run {part.run}" + (f", drive {part.epoch}" if part.run == other.run else "")


def _not_kept(file: Path, reason: str) -> InputError:
    return InputError(
        f"expected what a load generator kept where it lost Assay, found {reason}",
        file=file,
        hint=_HINT,
    )
