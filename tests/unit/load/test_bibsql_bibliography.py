"""A run reads the requested bibliographies, edited or not, or ends with a clear error."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from assay.contracts.events import Event, Events, Warned
from assay.errors import ArgumentError, InputError
from assay.experiment import Experiment
from assay.load.bibsql import beebe
from assay.load.bibsql.bibliography import Bibliography, files_of, resolve
from assay.load.bibsql.source import UpdateTask, edits
from assay.workload import reader

ENTRY = '@Article{%s,\n  title = "T",\n}\n'


def files(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(ENTRY % name)
    return [folder / name for name in names]


def resolved(*paths: Path, keep_going: bool = False) -> Bibliography:
    asked = Experiment(
        "bibsql", ("checks",), (), input_paths=tuple(map(str, paths)), keep_going=keep_going
    )
    return resolve(asked, reader.read("bibsql"), Events())


def test_files_and_folders_are_taken_once_and_by_name(tmp_path: Path) -> None:
    """Of a folder those that a shell would find."""
    b, a, upper, *_ = files(tmp_path, "b.bib", "a.bib", "U.BIB", ".hidden.bib", "notes.txt")
    (tmp_path / "folder.bib").mkdir()
    assert set(files_of([str(b), str(tmp_path)])) == {upper, a, b}
    assert files_of([str(b), str(a), str(b)]) == [a, b]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    files(tmp_path / "closed", "a.bib")
    (tmp_path / "closed").chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        files_of([str(tmp_path / "closed")])


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (one,) = files(tmp_path / "x", "a.bib")
    (other,) = files(tmp_path / "y", "a.bib")
    with pytest.raises(InputError, match="has the same name as"):
        files_of([str(one), str(other)])


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.bib: there is no such file"):
        files_of([str(tmp_path / "none.bib")])
    with pytest.raises(InputError, match=r"holds no \*\.bib"):
        files_of([str(tmp_path)])


def test_the_order_of_the_words_does_not_change_the_data(tmp_path: Path) -> None:
    a, b = files(tmp_path, "a.bib", "b.bib")
    first, second = resolved(a, b).request(), resolved(b, a).request()
    assert (first.items, first.origin) == (2, "files")
    assert first.key == second.key
    assert first.key != resolved(a).request().key
    assert first.key != resolved(a, b).request(replicas=2).key


def test_a_bad_entry_stops_or_is_counted(tmp_path: Path) -> None:
    (a,) = files(tmp_path, "a.bib")
    with a.open("a") as file:
        file.write('@Book{no-end,\n  title = "x\n')
    with pytest.raises(InputError, match=r"a\.bib:\d+"):
        resolved(a)
    request = resolved(a, keep_going=True).request()
    assert (request.items, request.skipped_items) == (1, 1)


def test_a_value_that_no_column_holds_is_a_warning_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.bib"
    file.write_text('@Misc{k,\n  author = "A and and B",\n  pages = "1--99999999999"}\n')
    expected: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Warned):
            expected.append(event.message)

    resolve(
        Experiment("bibsql", ("checks",), (), input_paths=(str(file),)),
        reader.read("bibsql"),
        Events([hear]),
    )
    assert len(expected) == 1
    assert expected[0].startswith("2 warnings; ")
    assert f"the first: {file}:2:3: the field `author` of `k`" in expected[0]


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
    with pytest.raises(ArgumentError, match="not installed by Assay"):
        beebe.remove(folder)  # not installed by Assay: their content is not the manifest's
    monkeypatch.setenv("ASSAY_INPUT_DIRECTORY", str(bare_machine / "input"))
    own = beebe.get()
    (own / "mine.bib").touch()
    assert beebe.remove() == f"removed 13 files from {own}"
    assert [file.name for file in own.iterdir()] == ["mine.bib"]


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


NUMBERED = """\
@Book{{Key:{number},
  title =        "Number {number}",
  year =         "2001",
}}
"""


def test_one_entry_goes_one_is_revised_and_one_is_new(tmp_path: Path) -> None:
    file, copies = tmp_path / "some.bib", tmp_path / "copies"
    copies.mkdir()
    before = [NUMBERED.format(number=number) for number in range(5)]
    file.write_text("".join(before))
    (edited,) = edits([file], copies, UpdateTask(changed=1, removed=0, seed=7))
    (copy,) = edited.left
    assert edited.changed == ["some.bib"]
    after = re.split(r"(?<=^\}\n)\n?", copy.read_text(), flags=re.M)
    kept = [entry for entry in after if entry in before]
    revised, new = (entry for entry in after if entry and entry not in before)
    assert len(kept) == 3
    assert revised.removesuffix('  annote =       "Revised.",\n}\n') + "}\n" in before
    assert new.startswith("@Misc{Assay:2026:U") and new.endswith(",\n}\n")
    assert file.read_text() == "".join(before), "the original is left alone"
