"""Texts as they are shown and read: widths, ASCII forms, durations, keys, quantities."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

import invented_records as invented
from assay import comparison
from assay.cli.output import rows as row_table
from assay.errors import Bug, ExperimentError
from assay.experiment import StorageChoice
from assay.experiment import from_file as experiment_file
from assay.report import comparison_report as compared
from assay.report.build import build
from assay.report.forms import table
from assay.report.summaries import first_look
from assay.text import phrases, toml_file, units
from assay.text.keys import FLAG, SCALAR, TEXT, Key, Keys, Listed, NumberWithin, OneOf, members
from assay.text.quantities import (
    CLIENTS,
    COUNT,
    DURATION_S,
    LATENCY_LIMIT_WITH_UNIT_S,
    NUMBER,
    WAIT_S,
    Duration,
)
from assay.text.terminal import LEAST_COLUMNS, cut, cut_within, line_width, with_ascii_forms
from assay.text.toml_file import TomlTable


def test_characters_that_an_encoding_lacks_have_ascii_forms() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")
    with_ascii_forms(stream)
    stream.write("12.5 µs │ ██▌ café ≥ 3 … 数")
    stream.flush()
    assert written.getvalue() == b"12.5 us | ##. cafe >= 3 . ?"


WIDE = "größe 数据库の保存"


def rendered(report: object) -> list[str]:
    stream = io.StringIO()
    table.render(report, stream)  # type: ignore[arg-type]
    return stream.getvalue().splitlines()


def test_tables_with_wide_letters_fit(tmp_path: Path) -> None:
    storages = [StorageChoice(WIDE, "here"), StorageChoice(f"{WIDE} 2", "here")]
    planned = invented.plan([invented.POSTGRESQL], storages, repetitions=3)
    elapsed = {("postgresql", one.name, 8): (1.0, 1.1, 1.2) for one in storages}
    found = invented.experiment(tmp_path / "a", planned, elapsed)
    again = invented.experiment(tmp_path / "b", planned, elapsed)
    sides = [comparison.side(name, "", [one]) for name, one in (("A", found), ("B", again))]
    shown = rendered(compared.build(comparison.compare(*sides)))
    assert max(map(cell_len, shown)) <= 80
    text = "\n".join(shown)
    assert text.count("no difference") == text.count("seen") > 0
    for lines in (
        rendered(build(found)),
        first_look.lines(found, build(found), 80, "assay report"),
    ):
        assert any("数" in line for line in lines)
        assert max(map(cell_len, lines)) <= 80


def test_no_columns_are_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, width in (("0", None), ("000", None), ("7", LEAST_COLUMNS), ("120", 120)):
        monkeypatch.setenv("COLUMNS", named)
        assert line_width(io.StringIO()) == width


@pytest.mark.parametrize("width", [20, 30, 45])
def test_lists_and_cut_names_fit(width: int) -> None:
    rows = [[WIDE, "1"], [f"{WIDE}, {WIDE}", "2"]]
    lines = list(row_table.row_table_lines(["name", "number"], rows, [False, True], width))
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()).count("の") == 3
    no_rows = row_table.row_table_lines(["name", "a number"], [], [False, True], 6)
    assert [*no_rows] == ["name  a number"]
    for cutter in (cut, cut_within):
        assert cell_len(cutter(f"{WIDE}, {WIDE}, {WIDE}", width)) <= width
    assert cut(WIDE, 80) == cut_within(WIDE, 80) == WIDE


@pytest.mark.parametrize(
    ("quantity", "word", "value"),
    [
        (DURATION_S, "5", 5.0),
        (DURATION_S, "1.5e1", 15.0),
        (DURATION_S, "5s", 5.0),
        (DURATION_S, "500ms", 0.5),
        (DURATION_S, "300ms", 0.3),
        (DURATION_S, "2min", 120.0),
        (DURATION_S, "0.5h", 1800.0),
        (WAIT_S, "0s", 0.0),
        (DURATION_S, "5m", 300.0),
        (LATENCY_LIMIT_WITH_UNIT_S, "20ms", 0.02),
        (LATENCY_LIMIT_WITH_UNIT_S, "1.5s", 1.5),
        (LATENCY_LIMIT_WITH_UNIT_S, "250us", 0.00025),
        (LATENCY_LIMIT_WITH_UNIT_S, "250\u00b5s", 0.00025),  # as labels have it
        (LATENCY_LIMIT_WITH_UNIT_S, "250\u03bcs", 0.00025),
    ],
)
def test_a_duration_is_read(quantity: Duration, word: str, value: float) -> None:
    assert quantity.of_word(word) == value


@pytest.mark.parametrize("word", ["s", "-5s", "5 days", "1e3s", "0ms", "9999999h", "5ss"])
def test_an_invalid_duration_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"or with its unit \(500ms, 5s, 2min, 1h\), found"):
        DURATION_S.of_word(word)


def test_a_limit_of_latency_has_its_unit_on_the_command_line() -> None:
    with pytest.raises(ValueError, match="expected a time with its unit, 20ms or 20s, found '20'"):
        LATENCY_LIMIT_WITH_UNIT_S.of_word("20")


def test_in_a_file(tmp_path: Path) -> None:
    written = tmp_path / "e.toml"
    head = 'workload = "tpcb"\nsystems = ["sqlite"]\n[drive]\n'
    written.write_text(
        head + 'duration_s = "2min"\nwarm_up_s = 3\nlatency_limit_s = "20ms"\n'
        'reconnect = { timeout_s = "1min" }\n'
    )
    driving = experiment_file.read(written)[0].driving
    assert driving == {
        "duration_s": 120.0,
        "warm_up_s": 3,
        "latency_limit_s": 0.02,
        "reconnect_timeout_s": 60.0,
    }
    written.write_text(head + 'duration_s = "2 minutes"\n')
    with pytest.raises(ExperimentError, match=r"e.toml:4: duration_s: expected a number of second"):
        experiment_file.read(written)


def test_a_number_in_a_file_is_shown_as_it_is_written(tmp_path: Path) -> None:
    written = tmp_path / "e.toml"
    for text, shown in {"1e3": "1e3", "1_000.5": "1_000.5", "[2, 1E1]": "1E1"}.items():
        key = "clients" if text.startswith("[") else "repetitions"
        written.write_text(f'workload = "tpcb"\n{key} = {text}\n')
        with pytest.raises(ExperimentError) as refused:
            experiment_file.read(written)
        assert f"{shown}: expected a whole number" in refused.value.message


@pytest.mark.parametrize(
    ("value_ns", "unit", "shown"),
    [
        (166_900, "s", "0.000167"), (99_230, "s", "0.0000992"), (5_497_000, "s", "0.00550"),
        (51_630_000, "s", "0.0516"), (516_300_000, "s", "0.5163"), (36_800, "ms", "0.0368"),
        (130_700_000, "min", "0.00218"), (-48_000, "s", "-0.0000480"), (20, "µs", "0.0200"),
        (0, "s", "0"),
    ],
)  # fmt: skip
def test_all_times_of_a_column_are_in_the_unit_of_its_heading(
    value_ns: float, unit: str, shown: str
) -> None:
    assert units.time(value_ns, unit) == shown


def test_a_text_has_the_unit_that_fits_and_keeps_to_the_resolution() -> None:
    assert units.time(1_234, "ms", resolution_ns=100) == "0.0012"
    assert units.time_with_unit(1_234, "ms", resolution_ns=100) == "1.2 µs"
    assert units.time_with_unit(166_900, "s") == "167 µs"
    assert units.time_with_unit(1_234_000, "ms", resolution_ns=1000) == "1.23 ms"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.053, "5.3 %"), (0.0501, "5.01 %"), (0.06, "6 %"), (0.63, "63 %")]
)
def test_a_share_beyond_a_limit_is_not_printed_as_the_limit(value: float, shown: str) -> None:
    assert units.share_beyond(value, 0.05) == shown


KINDS = {"a": Keys((Key("do", TEXT), Key("number", NumberWithin(COUNT))))}
KEYS = Keys(
    (
        Key("title", TEXT, is_required=True),
        Key("clients", (TEXT, NumberWithin(CLIENTS))),
        Key("word", OneOf(("one", "two"))),
        Key("table", below=Keys(of_any_name=Key("", Listed(SCALAR)))),
        Key("steps", below=Keys(variant="do", variants=lambda: KINDS), is_list=True),
        Key("flag", FLAG),
    )
)


def top(folder: Path, text: str) -> TomlTable:
    file = folder / "x.toml"
    file.write_text(text, encoding="utf-8")
    return toml_file.read(file, KEYS)


def test_another_key_or_kind_is_a_bug_of_the_reader(tmp_path: Path) -> None:
    section = top(tmp_path, 'title = "t"\nclients = 3\n')
    with pytest.raises(Bug, match="not declared"):
        section.text("titel", "")
    with pytest.raises(Bug, match="title is read as TrueOrFalse"):
        section.boolean("title")
    with pytest.raises(Bug, match="clients is read as Number"):
        section.whole("clients", COUNT)
    with pytest.raises(Bug, match="word is read as OneOf"):
        section.choice("word", ("one", "three"), "one")
    with pytest.raises(Bug, match="with a default"):
        section.text("title", "none")
    with pytest.raises(Bug, match="a table is read at flag"):
        section.section("flag")


def test_an_unknown_key_is_refused_by_the_declaration(tmp_path: Path) -> None:
    """Also the nearest key is one that this reader has not asked for."""
    section = top(tmp_path, 'title = "t"\nclient = 3\n')
    section.text("title")
    with pytest.raises(ExperimentError, match="unknown key 'client'") as raised:
        section.done()
    assert raised.value.line == 2
    assert "did you mean 'clients'?" in str(raised.value.hint)


def test_the_word_of_a_table_decides_its_keys(tmp_path: Path) -> None:
    """One that is not known is of another package, whose reader alone knows its keys."""
    text = '[[steps]]\ndo = "a"\nnumber = 1\n[[steps]]\ndo = "b"\nmore = true\n'
    known, other = top(tmp_path, text).sections("steps")
    with pytest.raises(Bug, match="the key more is read"):
        known.boolean("more", False)
    assert other.boolean("more")


def test_a_number_of_any_use_is_read_and_a_longer_one_is_refused_before_it_is_looked_at() -> None:
    assert NUMBER.of_word("0." + "1" * 398) == pytest.approx(1 / 9)
    with pytest.raises(ValueError, match="expected"):
        NUMBER.of_word("0." + "1" * 399)


def test_keys_whose_annotations_cannot_be_read_are_not_lost() -> None:
    fields = {"lost": "Annotated[OfTypeCheckers, in_file(TEXT, 'Read.')]"}
    thing = type("Asked", (msgspec.Struct,), {"__annotations__": fields, "__module__": __name__})
    with pytest.raises(TypeError, match=r"Asked cannot be read: name .* import it outside"):
        members(thing)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("tpbc", "tpcb"), ("sqlite3", "sqlite"), ("Postgres", "postgresql"), ("xyz", None)],
)
def test_a_mistyped_name_is_guessed(typed: str, meant: str | None) -> None:
    names = ["tpch", "tpcc", "tpcb", "dbapi:sqlite3", "sqlite", "postgresql"]
    assert phrases.nearest(typed, names) == meant
