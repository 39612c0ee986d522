"""The fuzz targets are a package of their own; its lock file follows the crates'."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def _packages(lock: Path) -> list[dict[str, Any]]:
    packages: list[dict[str, Any]] = tomllib.loads(lock.read_text())["package"]
    return packages


def test_the_fuzz_targets_lock_the_dependencies_that_the_crates_have() -> None:
    locked = {
        one["name"]: one["dependencies"]
        for one in _packages(ROOT / "fuzz/Cargo.lock")
        if one["name"].startswith("assay-")
    }
    fuzzed = [name for name in locked if name != "assay-fuzz"]
    assert fuzzed
    for name in fuzzed:
        manifest = ROOT / "crates" / name.removeprefix("assay-") / "Cargo.toml"
        expected = sorted(tomllib.loads(manifest.read_text())["dependencies"])
        found = sorted(one.split()[0] for one in locked[name])
        assert found == expected, f"run: cd fuzz && cargo update -p {name}"


def test_the_fuzz_targets_lock_the_versions_that_are_shipped() -> None:
    shipped: dict[str, set[str]] = {}
    for one in _packages(ROOT / "Cargo.lock"):
        shipped.setdefault(one["name"], set()).add(one["version"])
    others = [
        f"{one['name']} {one['version']}"
        for one in _packages(ROOT / "fuzz/Cargo.lock")
        if one["version"] not in shipped.get(one["name"], {one["version"]})
    ]
    assert not others, "run: cd fuzz && cargo update"
