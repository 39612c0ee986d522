"""The wheel, the man pages and the site are made, and work in a clean environment."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from assay.cli.program import COMMANDS
from forked_programs import BIN
from programs import GROFF, need_program
from tools import make_site

ROOT = Path(__file__).parents[2]
MAN_PAGES = ROOT / "assay._engine.data/data/share/man/man1"
LICENCES = ROOT / "THIRD-PARTY-LICENCES.txt"
OF_A_BUILD = {"Cargo.toml", "Cargo.lock", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}


def _run(*command: str | Path) -> str:
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_wheel_runs_in_a_clean_environment(tmp_path: Path) -> None:
    _run(sys.executable, "tools/man_pages.py", MAN_PAGES)
    _run(sys.executable, "tools/licences.py", LICENCES)
    maturin = [BIN / "maturin", "build", "--quiet", "--release", "--compatibility", "linux"]
    _run(*maturin, "--out", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as opened:
        (licences,) = (name for name in opened.namelist() if name.endswith(LICENCES.name))
        assert b"\nrustls 0." in opened.read(licences)
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
    if LICENCES.exists():
        expected.add(Path(LICENCES.name))
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


WRITE = Path(__file__).parents[2] / "tools" / "man_pages.py"


def _formatted(page: Path) -> str:
    groff = ["groff", "-ww", "-K", "utf8", "-man", "-T", "utf8", "-P", "-cbou", str(page)]
    done = subprocess.run(groff, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), page.name
    return done.stdout


def test_every_command_has_a_page_that_is_formatted_without_a_warning(tmp_path: Path) -> None:
    need_program(GROFF)
    subprocess.run([sys.executable, WRITE, tmp_path], check=True)
    pages = {page.stem: " ".join(_formatted(page).split()) for page in tmp_path.glob("*.1")}
    assert pages.keys() == {
        "assay",
        "bibtosql",
        "bibsql",
        *(f"assay-{one.replace(' ', '-')}" for one in COMMANDS),
    }
    for name, text in pages.items():
        assert all(heading in text for heading in ("NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO")), name
    assert "--repetitions N" in pages["assay-run"]
    assert "ASSAY_RECORDS" in pages["assay"]
    assert "bibtosql -c *.bib | sqlite3 bibtex.db" in pages["bibtosql"]


def test_the_site_has_every_page_and_no_broken_link(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="`make site` installs zensical")
    command = [sys.executable, str(ROOT / "tools/make_site.py"), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for page in (ROOT / "docs/guides").glob("*.md"):
        assert (tmp_path / "site/docs/guides" / page.with_suffix(".html").name).is_file()
    assert (tmp_path / "site" / make_site.MADE_BY_US).is_file()


def test_words_of_others_lead_to_ours() -> None:
    page = make_site.other_words((ROOT / make_site.GLOSSARY).read_text(encoding="utf-8"))
    for theirs, ours in (
        ("response", "latency"), ("users", "client"), ("qps", "offered rate"),
        ("target", "system under test"), ("config", "cell"), ("job", "experiment"),
    ):  # fmt: skip
        found = [part for part in page.split("## ")[1:] if re.search(rf"\b{theirs}\b", part)]
        assert any(f"Here: **{ours}**" in part for part in found), theirs


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(SystemExit, match="is left as it is"):
        make_site.main([str(tmp_path)])
    assert (tmp_path / "mine.txt").is_file()


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<a href="there.html">x</a> <a href="index.html#here">x</a> <p id="there">'
        '<a href="#there">x</a> <a href="https://example.org/">x</a>'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "x.css").write_text("@font-face { src: url('//example.org/font') }")
    assert [*make_site.broken_links(tmp_path)] == [
        "index.html: the link there.html leads nowhere",
        "index.html: the link index.html#here leads to no place of that page",
    ]
    assert [*make_site.foreign_resources(tmp_path)] == [
        "index.html: loads https://example.org/x.js",
        "x.css: loads //example.org/font",
    ]
