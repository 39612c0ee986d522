"""TOML files: every error has its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import ExperimentError, RunFailed
from assay.experiment import from_file as experiment_file
from assay.text import quantities, toml_file


def written(folder: Path, text: str) -> toml_file.TomlTable:
    file = folder / "some.toml"
    file.write_text(text, encoding="utf-8")
    return toml_file.read(file)


def test_a_syntax_error_has_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as caught:
        written(tmp_path, "a = 1\nb = = 2\n")
    assert (caught.value.line, caught.value.column) == (2, 5)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert written(tmp_path, "\ufeffa = 1\n").plain() == {"a": 1}


def test_a_wrong_type_is_placed_at_its_key_in_the_right_table(tmp_path: Path) -> None:
    top = written(
        tmp_path,
        '[[tables]]\nname = "a"\n\n[[tables]]\n# n\nname = 7\n[tables.columns]\n\nx = true\n',
    )
    _first, second = top.sections("tables")
    with pytest.raises(ExperimentError, match="expected text in quotes") as caught:
        second.text("name")
    assert caught.value.line == 6
    with pytest.raises(ExperimentError) as caught:
        second.section("columns").text("x")
    assert caught.value.line == 9


def test_a_key_of_a_table_in_a_list_within_a_table_is_placed_at_its_line(tmp_path: Path) -> None:
    top = written(
        tmp_path,
        '[[tables]]\nname = "a"\ncolumns = 1\n[[tables]]\nname = "b"\n'
        "[[tables.indexes]]\ncolumns = 1\n[[tables.indexes]]\n\ncolumns = []\nwhen = 1\n",
    )
    first, second = top.sections("tables")[1].texts_or_tables("indexes")
    assert not isinstance(first, str) and not isinstance(second, str)
    assert (first.line_of("columns"), second.line_of("columns")) == (7, 10)
    assert second.line_of("when") == 11
    with pytest.raises(ExperimentError, match=r"x is missing in \[tables\.indexes\]") as caught:
        second.text("x")
    assert caught.value.line == 8


def test_a_list_in_place_of_a_value_is_answered_with_the_fix(tmp_path: Path) -> None:
    top = written(tmp_path, 'columns = ["day"]\nwhen = [1]\n')
    with pytest.raises(ExperimentError, match="expected text in quotes") as caught:
        top.text("columns")
    assert caught.value.hint is not None and "leave the brackets out" in caught.value.hint
    with pytest.raises(ExperimentError) as caught:
        top.text("when")
    assert caught.value.hint is None


def test_lines_of_a_text_are_no_keys(tmp_path: Path) -> None:
    top = written(tmp_path, 'a = """\nb = 1\n[t]\n"""\nb = 2\n[t]\nc = 3\n')
    assert (top.line_of("b"), top.section("t").line_of("c")) == (5, 7)


def test_quotes_in_a_comment_begin_no_text(tmp_path: Path) -> None:
    top = written(tmp_path, '# """ and \'\'\'\na = 1 # """\n[t] # """\nb = "# \'\'\'"\nc = 1\n')
    assert (top.line_of("a"), top.column_of("a")) == (2, 5)
    table = top.section("t")
    assert (table.line_of("b"), table.column_of("b"), table.line_of("c")) == (4, 6, 5)


def test_each_table_of_a_list_in_brackets_has_its_own_line(tmp_path: Path) -> None:
    top = written(
        tmp_path,
        'steps = [\n  { do = "load" },\n  # { do = 1 }\n'
        '  { do = "drive", "a b" = { rate = 2, "é" = "ü", "more" = 7 } }, { do = 3 },\n]\nc = 1\n',
    )
    load, drive, last = top.sections("steps")
    assert [one.line_of("do") for one in (load, drive, last)] == [2, 4, 4]
    assert [one.column_of("do") for one in (load, drive, last)] == [11, 11, 73]
    inner = drive.section("a b")
    assert (inner.column_of("rate"), inner.column_of("é"), inner.column_of("more")) == (36, 46, 59)
    assert top.line_of("c") == 6
    with pytest.raises(ExperimentError, match=r"x is missing in \[steps\]") as caught:
        last.text("x")
    assert caught.value.line == 4


def test_what_is_wrong_in_a_list_is_placed_at_its_element(tmp_path: Path) -> None:
    text = 'a = [\n  1,\n  [2,\n   3],\n]\nb = [\n  "x", # ]\n  1_0.50,\n]\n'
    top = written(tmp_path, text)
    for key, line, found in (("a", 3, "[2, 3]"), ("b", 8, "1_0.50")):
        with pytest.raises(ExperimentError) as caught:
            top.texts(key) if key == "b" else top.wholes(key, quantities.CLIENTS)
        assert (caught.value.line, f"{key}: {found}: " in caught.value.message) == (line, True)


def test_a_table_without_a_heading_begins_where_something_in_it_does(tmp_path: Path) -> None:
    top = written(tmp_path, "x = 1\n[[a.b]]\nc.d = 99999999999999999999\n[a]\ne = 1\n")
    table = top.section("a").sections("b")[0]
    assert (top.line_of("a"), top.line_of("f"), table.line_of("c")) == (4, 0, 3)
    with pytest.raises(ExperimentError) as caught:
        table.section("c").whole("d", quantities.CLIENTS)
    assert caught.value.line == 3


def test_true_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="whole number"):
        written(tmp_path, "clients = [1, true]\n").wholes("clients", quantities.CLIENTS)


def test_a_key_nobody_asked_for_is_refused_with_the_nearest(tmp_path: Path) -> None:
    top = written(tmp_path, "seed = 1\nrepetitons = 3\n")
    top.whole("seed", quantities.SEED)
    top.whole("repetitions", quantities.REPETITIONS, 1)
    with pytest.raises(ExperimentError, match="unknown key 'repetitons'") as caught:
        top.done()
    assert caught.value.line == 2
    assert "did you mean 'repetitions'" in str(caught.value.hint)


def test_a_long_key_does_not_hide_the_message(tmp_path: Path) -> None:
    top = written(tmp_path, f'"{"k " * 100_000}" = 1\n')
    with pytest.raises(ExperimentError, match="unknown key 'k k") as caught:
        top.done()
    assert len(caught.value.message) < 200
    long = ExperimentError("k" * 100_000, file="some.toml", hint="h" * 100_000)
    assert "(100,000 characters)" in long.message
    assert len(long.message) + len(long.hint or "") < 400
    repeated = RunFailed(f"syntax error at or near \"'{'x y ' * 500}' !!!\"")
    assert len(repeated.message) < 200 and repeated.message.endswith("' !!!\"")


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("seed = 7\na = 007", (2, 6), "the number 007 begins with 0", "write 7"),
        ("a = {\n b = 1,\n}", (1, 6), "a table in braces goes on", "in one line"),
        ("\u200ba = 1", (1, 1), "invisible character, U+200B", "delete it"),
        ("a =\u00a01", (1, 4), "invisible character, U+00A0", "write a blank"),
    ],
)
def test_a_mistake_of_toml_has_its_own_fix(
    text: str, place: tuple[int, int], message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError) as caught:
        written(tmp_path, text)
    assert (caught.value.line, caught.value.column) == place
    assert message in caught.value.message and hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("given", "table", "hint"),
    [
        ('test = "load"', "test.load", 'write above: tests = ["NAME"]'),
        ('systems = ["sqlite"]', "systems.sqlite", "write [system.NAME]"),
    ],
)
def test_a_key_that_also_has_a_table_is_named_with_the_fix(
    given: str, table: str, hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(f'workload = "tpcb"\n{given}\n[{table}]\nclients = 1\n')
    key = table.partition(".")[0]
    with pytest.raises(ExperimentError, match=rf"\[{table}\]: {key} is given above") as caught:
        experiment_file.read(file)
    assert (caught.value.line, caught.value.hint) == (3, hint)


def test_a_missing_key_says_what_it_must_be(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="workload is missing; expected text"):
        written(tmp_path, "seed = 1\n").text("workload")


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"\xff\xfe", "not UTF-8"), (None, "cannot be read")]
)
def test_a_binary_file_is_a_clear_error(
    tmp_path: Path, content: bytes | None, complaint: str
) -> None:
    file = tmp_path / "some.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ExperimentError, match=complaint):
        toml_file.read(file)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ("zero", "is a device: expected a file of text"),
        ("pipe", "is a pipe, which can be read only once"),
        ("folder", "is a folder: expected a file of text"),
        ("loop", "cannot be read"),
        ("long", "has more than 1 MiB"),
        ("deep", "values are nested too deeply"),
        ("digits", "a number has too many digits"),
    ],
)
def test_control_characters_are_refused(tmp_path: Path, kind: str, complaint: str) -> None:
    file = tmp_path / "some.toml"
    contents = {"long": "#" * (1 << 21), "deep": "a = " + "[" * 5000, "digits": "a = " + "9" * 5000}
    if kind in contents:
        file.write_text(contents[kind])
    elif kind == "zero":
        file.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(file)
    with pytest.raises(ExperimentError, match=complaint):
        toml_file.read(file)


@pytest.mark.parametrize(
    "long",
    ["a." * 50_000 + "a = 1", "[" + "a." * 50_000 + "a]", "x = { " + "'a' . " * 50_000 + "a = 1 }"],
    ids=["key", "table", "inline"],
)
def test_a_key_of_very_many_parts_is_refused_before_it_is_read(tmp_path: Path, long: str) -> None:
    with pytest.raises(ExperimentError, match="a key of at most 30 parts") as refused:
        written(tmp_path, f"b = 1\n{long}\n")
    assert refused.value.line == 2
