"""A run reads the requested files, or ends with a clear error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.contracts.events import Event, Events, Warned
from assay.errors import InputError
from assay.experiment import Experiment
from assay.load.bibsql.bibliography import Bibliography, files_of, resolve
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
    b, a, _ = files(tmp_path, "b.bib", "a.bib", "notes.txt")
    assert files_of([str(b), str(tmp_path)]) == [a, b]


def test_of_a_folder_the_bib_files_are_taken_that_a_shell_would_find(tmp_path: Path) -> None:
    upper, _, _ = files(tmp_path, "U.BIB", ".hidden.bib", "notes.txt")
    (tmp_path / "folder.bib").mkdir()
    assert files_of([str(tmp_path)]) == [upper]


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
