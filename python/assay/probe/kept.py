"""Takes what a measurement depends on; returns its result of the last 24 hours from the user's
cache, and keeps new ones there, a file each.

A file appears whole or not at all, so that several experiments may measure the same at once. What
cannot be read or written is passed over: it is measured.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import structs

from assay import __version__
from assay.contracts.deployment import Deployment
from assay.contracts.durability import Durability, SessionSettings
from assay.contracts.storage_facts import StorageFacts
from assay.errors import AssayError
from assay.probe.measure import Probe, age
from assay.provision.install.cache import cache_folder, make_folder
from assay.provision.machine.mounts import mount_of
from assay.provision.machine.process_table import boot_id
from assay.text.output_file import write_file
from assay.text.phrases import phrase

_FOR_S = 24 * 3600
Kept = TypeVar("Kept", Probe, Durability)


def of_probe(storage: StorageFacts, seconds: float) -> tuple[object, ...]:
    return _place(storage), seconds


def of_durability(deployment: Deployment, settings: SessionSettings) -> tuple[object, ...]:
    """The settings in effect have directories and ports, so those stand for them that were asked
    for, and what the system says that they lower and safeguard."""
    one = deployment
    places = [_place(storage) for storage in (one.storage, one.commit_storage)]
    asked = [sorted(named.items()) for named in (one.options, one.settings_asked)]
    in_effect = (one.durability_lowered_by, one.safeguards)
    return places, one.system, one.label, one.version, asked, in_effect, settings


def _place(storage: StorageFacts) -> tuple[object, ...]:
    """Of a storage in an image, whose device has another number each time, the device below."""
    image_in = storage.facts.get("image_in")
    device = mount_of(Path(image_in)).source if image_in else storage.device
    options, limits = storage.mount_options, sorted(storage.in_force.items())
    return storage.kind, device, storage.file_system, options, storage.size_bytes, limits


def find(kind: type[Kept], *depends_on: object) -> Kept | None:
    """None where nothing is kept, or what is there is too old, or no such file."""
    now_ns = time.time_ns()
    with contextlib.suppress(OSError, AssayError, msgspec.MsgspecError, ValueError):
        found = msgspec.json.decode(_file(kind, depends_on).read_bytes(), type=kind)
        if 0 <= now_ns - found.begun_unix_ns < _FOR_S * 1_000_000_000:
            return structs.replace(found, taken_unix_ns=now_ns)
    return None


def keep(found: Kept, *depends_on: object) -> None:
    """Removes those that are too old."""
    file = _file(type(found), depends_on)
    with contextlib.suppress(OSError, AssayError):
        make_folder(file.parent)
        write_file(file, msgspec.json.encode(found), force=True)
        for old in _too_old(file.parent):
            old.unlink()


def _too_old(folder: Path) -> Iterator[Path]:
    for file in folder.iterdir():
        if time.time() - file.stat().st_mtime >= _FOR_S:
            yield file


def _file(kind: type[Kept], depends_on: tuple[object, ...]) -> Path:
    whole = repr((__version__, boot_id(), *depends_on))
    name = f"{kind.__name__.lower()}-{hashlib.sha256(whole.encode()).hexdigest()}.json"
    return cache_folder() / "measured" / name


def in_a_stage(found: Probe | Durability) -> str:
    return phrase("measured {} ago; {--again} measures anew", age(found))
