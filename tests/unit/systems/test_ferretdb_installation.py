"""FerretDB is brought by Go, and the server behind it by Debian's packages, into one folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.contracts.installing import Prefix
from assay.systems.ferretdb import installation

_APT_GET = """
case "$*" in
*indextargets*) echo http://mirror/debian/ ;;
*--download-only*) touch "$(dirname "$APT_CONFIG")/cache/archives/documentdb.deb" ;;
esac
"""
_CLIENTS = {
    "apt-get": _APT_GET,
    "apt-cache": "echo '  Candidate: 1.0-1'",
    "dpkg": "echo amd64",
    "dpkg-deb": 'tar -C "$PACKAGED" -cf - .',
    "go": """
    if [ "$1" = env ]; then echo go1.27.1; exit; fi
    mkdir -p "$GOPATH" "$GOCACHE" "$GOBIN"
    printf '#!/bin/sh\n' >"$GOBIN/ferretdb"
    chmod +x "$GOBIN/ferretdb"
    """,
}


def _program(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.slow
def test_the_program_of_go_and_those_of_the_packages_come_into_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages of today have /usr/bin only, and /bin is a link to it."""
    for name, text in _CLIENTS.items():
        _program(tmp_path / "clients" / name, text)
    packaged = tmp_path / "packaged"
    for name in installation.PROGRAMS:
        _program(packaged / "usr/lib/postgresql/18/bin" / name)
    _program(packaged / "usr/bin/patchelf")
    _program(packaged / "usr/lib/any/ld-linux.so.2")
    _program(packaged / "usr/share/postgresql/18/extension/documentdb.control")
    monkeypatch.setenv("PACKAGED", str(packaged))
    monkeypatch.setenv("PATH", f"{tmp_path / 'clients'}:{os.environ['PATH']}")
    folder = tmp_path / "prefix"
    folder.mkdir()
    prefix = Prefix(folder, tmp_path / "at the end", "mark")
    installation.install("2.7.0", prefix, lambda _line: None)
    programs = installation.programs_in(folder)
    assert programs.ferretdb == folder / "bin" / "ferretdb"
    assert (folder / "usr/bin/ferretdb").samefile(programs.ferretdb)
    assert programs.postgresql.major_version == 18
