"""The bibliographies are copied or downloaded, completely or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.load.bibsql import beebe


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No TeX tree and no program: an empty folder is all of PATH."""
    empty = tmp_path / "bin"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr(beebe, "TREES", ())
    return tmp_path


def package(folder: Path, names: list[str]) -> Path:
    """A Debian package with these files, made by Debian's own tool."""
    inside = folder / "root" / "usr/share/tex" / beebe.manifest().folder
    inside.mkdir(parents=True)
    (folder / "root" / "DEBIAN").mkdir()
    (folder / "root" / "DEBIAN" / "control").write_text(
        "Package: some\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    )
    for name in names:
        (inside / name).write_text(f"% {name}\n")
    (inside / "other.txt").write_text("not wanted")
    archive = folder / "some.deb"
    subprocess.run(
        ["dpkg-deb", "--build", str(folder / "root"), str(archive)], check=True, capture_output=True
    )
    return archive


def test_a_machine_with_neither_gets_a_hint_and_no_files(bare_machine: Path) -> None:
    target = bare_machine / "beebe"
    with pytest.raises(InputError, match="apt-get is not on this machine") as caught:
        beebe.get(target)
    assert "--input PATH" in str(caught.value.hint)
    assert "synthetic" in str(caught.value.hint)
    assert list(target.iterdir()) == []


def test_a_tex_tree_is_copied_and_differences_are_reported(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = bare_machine / "texmf"
    names = list(beebe.manifest().files)
    (tree / beebe.manifest().folder).mkdir(parents=True)
    for name in names:
        (tree / beebe.manifest().folder / name).write_text("% short\n")
    monkeypatch.setattr(beebe, "TREES", (str(tree),))
    lines: list[str] = []
    folder = beebe.get(bare_machine / "to", lines.append)
    assert sorted(file.name for file in folder.iterdir()) == sorted(names)
    assert any("epodd.bib has 8 bytes, expected 223,584" in line for line in lines)
    assert "of this one are known" in lines[-1].replace("\n", " ")
    (folder / "epodd.bib").write_text("mine\n")
    (folder / "type.bib").unlink()
    beebe.get(folder)
    assert (folder / "epodd.bib").read_text() == "mine\n"
    assert (folder / "type.bib").read_text() == "% short\n"
    beebe.get(folder, force=True)
    assert (folder / "epodd.bib").read_text() == "% short\n"


def test_only_the_folder_of_a_package_is_extracted(tmp_path: Path) -> None:
    archive = package(tmp_path, ["a.bib", "b.bib"])
    to = tmp_path / "to"
    to.mkdir()
    assert beebe.unpack(archive, "bibtex/bib/beebe", {"a.bib", "c.bib"}, to) == {"a.bib"}
    assert [file.name for file in to.iterdir()] == ["a.bib"]


@pytest.mark.parametrize("size_bytes", [0, 100, -60])
def test_a_damaged_package_is_named_with_the_reason(tmp_path: Path, size_bytes: int) -> None:
    archive = package(tmp_path, ["a.bib"])
    archive.write_bytes(archive.read_bytes()[:size_bytes])
    with pytest.raises(beebe.PackageUnavailable, match=r"some\.deb"):
        beebe.unpack(archive, "bibtex/bib/beebe", {"a.bib"}, tmp_path)


def test_a_tool_of_tex_that_does_not_answer_has_no_tree(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kpsewhich = bare_machine / "bin" / "kpsewhich"
    kpsewhich.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    kpsewhich.chmod(0o755)
    monkeypatch.setattr(beebe, "_KPSEWHICH_S", 0.1)
    with pytest.raises(InputError, match="apt-get is not on this machine"):
        beebe.get(bare_machine / "beebe")
