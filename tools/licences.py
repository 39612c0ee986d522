#!/usr/bin/env python3
"""Writes the licences of all crates that are compiled into the engine, each text once, to a file
that goes into the wheel. Takes its path."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ENGINE = "assay-bridge"
PLATFORM = "x86_64-unknown-linux-gnu"
RULE = "=" * 78


def main(arguments: list[str]) -> int:
    packages = [*compiled_packages(metadata())]
    written = Path(arguments[0])
    written.write_text("\n".join(lines(packages)) + "\n", encoding="utf-8")
    print(f"{written}: licences of {len(packages)} crates")
    return 0


def metadata() -> Mapping[str, Any]:
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += ["--filter-platform", PLATFORM]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compiled_packages(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Packages of others that are in the engine: not those that only its build or tests need."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    engine = next(key for key, package in packages.items() if package["name"] == ENGINE)
    open_ones, seen = [engine], {engine}
    while open_ones:
        for needed in nodes[open_ones.pop()]["deps"]:
            kinds = {kind["kind"] for kind in needed["dep_kinds"]}
            if None in kinds and needed["pkg"] not in seen:
                seen.add(needed["pkg"])
                open_ones.append(needed["pkg"])
    others = (packages[key] for key in seen if packages[key]["source"])
    return iter(sorted(others, key=lambda package: (package["name"], package["version"])))


def lines(packages: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "Assay's engine contains these crates. Their licence texts follow, each once."
    yield ""
    texts: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        name = f"{package['name']} {package['version']}"
        yield f"{name}: {package['license'] or 'see its text'}"
        for text in licence_texts(Path(package["manifest_path"]).parent):
            texts[text].append(name)
    for text, names in texts.items():
        yield from ("", RULE, ", ".join(names), RULE, "", text)


def licence_texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        named = path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))
        if named and path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace").strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
