"""What is given away: the wheel runs where nothing else is installed, and the source distribution
has what a build needs and nothing else.

The wheel is made of the engine that `make setup` has compiled; `make wheel` makes the one that is
given away, which differs in its linking.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from forked_programs import BIN

ROOT = Path(__file__).parents[2]
MAN_PAGES = ROOT / "assay._engine.data/data/share/man/man1"
OF_A_BUILD = {"Cargo.toml", "Cargo.lock", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}


def _run(*command: str | Path) -> str:
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_wheel_runs_in_a_clean_environment(tmp_path: Path) -> None:
    _run(sys.executable, "tools/man_pages.py", MAN_PAGES)
    maturin = [BIN / "maturin", "build", "--quiet", "--release", "--compatibility", "linux"]
    _run(*maturin, "--out", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    printed = _run(sys.executable, "tools/try_wheel.py", wheel, "--this-python")
    found = json.loads(printed.splitlines()[-1])
    assert len(found.pop("runs")) == 1
    pages = len(list(MAN_PAGES.glob("*.1")))
    modules = list((ROOT / "python/assay").rglob("*.py"))
    assert found.pop("man_pages") == pages > 20
    assert found.pop("compiled_modules") == len(modules)
    assert found.pop("tests") > 30
    assert found.pop("experiments") == len(list((ROOT / "experiments").glob("*.toml"))) > 3
    assert found.pop("systems") > 10


def test_the_source_distribution_has_what_a_build_needs_and_nothing_else(tmp_path: Path) -> None:
    _run(BIN / "maturin", "sdist", "--out", tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        found = {Path(*Path(name).parts[1:]) for name in opened.getnames()}
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    expected = {Path(name) for name in OF_A_BUILD}
    for folder in ("python", "assay._engine.data", *(f"crates/{name}" for name in _crates())):
        expected |= {
            path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if _is_source(path)
        }
    assert sorted(found - expected) == []
    assert sorted(expected - found) == []
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    manifest = ["--manifest-path", str(unpacked / "Cargo.toml")]
    _run("cargo", "metadata", "--locked", "--offline", "--format-version", "1", *manifest)


def _crates() -> list[str]:
    return [path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")]


def _is_source(path: Path) -> bool:
    of_tests = path.relative_to(ROOT).parts[2:3] in (("tests",), ("examples",))
    made = path.suffix in (".so", ".pyc")
    is_of_crate = path.relative_to(ROOT).parts[0] == "crates"
    return path.is_file() and not made and not (is_of_crate and of_tests)
