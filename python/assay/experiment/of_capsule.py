"""Takes the files and folders that an experiment is read from; says whether one is of an unpacked
capsule (`assay.record.capsule`), which may be anyone's. It is known by the manifest above it, which
every capsule has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from assay.contracts.experiment import Experiment

MANIFEST: Final = "manifest.json"
_KEYS: Final = {"format", "assay", "members"}
MOST_BYTES: Final = 4 << 20


def folder_of(target: str) -> Path | None:
    """The unpacked capsule that an experiment file, or the folder of a workload, is in."""
    path = Path(target)
    is_whole = path.is_dir() or path.suffix == ".toml"
    above = sorted(_folders([target]) if is_whole else (), key=lambda folder: len(folder.parts))
    return next(filter(_is_below_a_manifest, above), None)


def is_of_capsule(experiment: Experiment, target: str) -> bool:
    """``target``: the file that was named; empty: none was."""
    scripts = (script.path for script in experiment.scripts)
    named = [target, experiment.workload, experiment.feed or "", *scripts, *experiment.input_paths]
    return any(map(_is_below_a_manifest, _folders(named)))


def _folders(named: Iterable[str]) -> set[Path]:
    """Those that the files are in, through all links."""
    found: set[Path] = set()
    for name in named:
        path = Path(name)
        if name and path.exists():
            whole = path.resolve()
            found.update(whole.parents)
            found.add(whole)
    return found


def _is_below_a_manifest(folder: Path) -> bool:
    manifest = folder / MANIFEST
    try:
        if not manifest.is_file() or manifest.stat().st_size > MOST_BYTES:
            return False
        found = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _KEYS
