"""Takes the path of a capsule; verifies it and gives its record, for as long as a temporary copy is
there. Errors name the capsule, not the copy."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import AssayError, YouError
from assay.record.capsule import declared, input_files, layout
from assay.record.capsule.capsule_file import Capsule
from assay.record.capsule.verifying import verified
from assay.record.runs.records import ExperimentRecord
from assay.record.store import Store

_OF_INPUT = f"{layout.EXPERIMENT_FOLDER}/{input_files.FOLDER}/"


@contextmanager
def opened_capsule(
    path: Path, *, to_run: bool = False
) -> Iterator[tuple[Capsule, ExperimentRecord]]:
    """``to_run``: not only to be looked at. Raises `InputError` where it is not as it was packed,
    or where its experiment file declares another experiment than its record."""
    capsule = verified(path)
    with (
        tempfile.TemporaryDirectory(prefix="assay-capsule-") as name,
        errors_name_the_capsule(capsule, Path(name)),
    ):
        folder = Path(name)
        capsule.unpack(layout.RECORD, folder / layout.RECORD)
        with Store(folder / layout.RECORD, must_exist=True) as store:
            record = store.latest()
        for member in capsule.manifest.members:
            if member.startswith(f"{layout.EXPERIMENT_FOLDER}/") and _OF_INPUT not in member:
                (folder / member).parent.mkdir(parents=True, exist_ok=True)
                capsule.unpack(member, folder / member)
        declared.insist_on_the_record(folder / layout.EXPERIMENT, record, to_run=to_run)
        yield capsule, record


@contextmanager
def errors_name_the_capsule(capsule: Capsule, folder: Path) -> Iterator[None]:
    """An error that names what is unpacked in ``folder``, which may be gone when a person reads it,
    names the member of the capsule."""
    try:
        yield
    except AssayError as error:
        further = error.further if isinstance(error, YouError) else ()
        for one in (error, *further):
            one.message = _renamed(one.message, capsule, folder)
            one.hint = one.hint and _renamed(one.hint, capsule, folder)
            one.args = (one.message,)
        raise


def _renamed(text: str, capsule: Capsule, folder: Path) -> str:
    for place in dict.fromkeys((folder, folder.resolve())):
        if str(place) in text:
            text = text.replace(f"{place}/", f"{capsule.path}:").replace(
                str(place), str(capsule.path)
            )
    return text
