"""Bibliographies of Debian packages have the entries that another parser finds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pybtex.errors
import pytest
from pybtex.database import BibliographyData
from pybtex.database.input import bibtex

import forked_programs
from assay.load.bibsql import beebe
from assay.load.row_sources.data_folder import input_folder

PACKAGES = {
    "bibtexconv": ("bibtexconv/examples", ("ExampleReferences.bib",)),
    "hevea": ("hevea/examples/upstream", ("bib.bib", "natbib.bib")),
    "r-cran-knitr": ("knitr/examples", ("knitr-manual.bib", "knitr-packages.bib")),
}
"""Package → the end of the folder in it, and files there."""

FEWEST = {"ExampleReferences.bib": 200, "bib.bib": 30, "knitr-packages.bib": 10}
"""The least number of entries of the larger ones, since two parsers that find nothing agree too."""

EXPLAINED: dict[tuple[str, str], str] = {}
"""(file, key) → why only one of the two has the entry. No difference is known."""


@pytest.fixture(scope="session", params=PACKAGES)
def package(request: pytest.FixtureRequest) -> list[Path]:
    """The package's bibliographies, downloaded and kept like those of `bibsql`."""
    inside, names = PACKAGES[request.param]
    folder = input_folder() / "debian" / request.param
    files = [folder / name for name in names]
    if not all(file.is_file() for file in files):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            beebe.take_debian_package(request.param, inside, names, folder, print)
        except beebe.PackageUnavailable as reason:
            pytest.skip(f"the package {request.param} cannot be had: {reason}")
    return files


def test_the_entries_are_those_of_another_parser(package: list[Path]) -> None:
    assert package, "a package without bibliographies compares nothing"
    for file in package:
        ours = our_keys(file)
        with pybtex.errors.capture():  # undefined macros, which are warnings in ours too
            parsed: BibliographyData = bibtex.Parser().parse_file(str(file))
        theirs = sorted(parsed.entries)
        differing = {(file.name, key) for key in set(ours) ^ set(theirs)}
        assert differing <= EXPLAINED.keys(), file
        assert len(ours) == len(set(ours)), file
        assert len(ours) >= FEWEST.get(file.name, 1), file


def our_keys(file: Path) -> list[str]:
    """The column ``label`` of every row of the script that `bibtosql` writes."""
    done = forked_programs.run("bibtosql", ["--create", file])
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.executescript(done.stdout.replace(".bail on\n", "", 1))
        return [label for (label,) in opened.execute("SELECT label FROM bibtab")]
