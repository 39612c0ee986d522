"""Every neutral type keeps its values, from one limit to the other, and NULL; texts, bytes and
names are kept letter by letter."""

from __future__ import annotations

from assay.contracts.dialects import Column, Index, SingleRows, Table
from assay.errors import AssayError
from assay.lab.conformance.requirement import (
    NotMet,
    RefusedStatement,
    Row,
    Subject,
    insist_on_class,
    requirement,
)
from assay.load.tables import table_digest

_STORED = ("tables", "stored rows")


def _keeps(subject: Subject, types: list[str], values: list[list[object]]) -> None:
    """Rows of values for one column of each type; and a row of NULLs."""
    columns = [Column(f"c{number}", word) for number, word in enumerate(types)]
    nothing: list[object] = [None] * len(types)
    rows: list[Row] = [(number, *row) for number, row in enumerate([*values, nothing])]
    subject.load(subject.made("types", *columns), rows)


@requirement(*_STORED)
def whole_numbers_are_kept_up_to_their_limits(subject: Subject) -> None:
    bits = (15, 31, 63)
    _keeps(
        subject,
        ["smallint", "int", "bigint"],
        [[0, 0, 0], [-1, -1, -1], [-(1 << n) for n in bits], [(1 << n) - 1 for n in bits]],
    )


@requirement(*_STORED, "exact decimals")
def decimals_are_kept_to_the_last_digit(subject: Subject) -> None:
    _keeps(
        subject,
        ["decimal(18,4)", "decimal(9,0)", "decimal(30,10)"],
        [
            ["99999999999999.9999", "999999999", "99999999999999999999.9999999999"],
            ["-99999999999999.9999", "-999999999", "-99999999999999999999.9999999999"],
            ["0.0001", "1", "0.0000000001"],
            ["0", "0", "0"],
        ],
    )


@requirement(*_STORED)
def decimals_of_fifteen_digits_are_kept(subject: Subject) -> None:
    _keeps(
        subject,
        ["decimal(15,2)"],
        [["9999999999999.99"], ["-9999999999999.99"], ["0.01"], ["1.10"], ["0"], ["100"]],
    )


@requirement(*_STORED)
def floats_are_kept_to_the_digits_that_they_have(subject: Subject) -> None:
    _keeps(
        subject,
        ["float", "double"],
        [
            [0.0, 0.0],
            [-0.5, 0.1],
            [3.4e38, 1.797693134862e308],
            [-3.4e38, -1.797693134862e308],
            [1.2e-38, 2.3e-308],
            [0.333333, 0.333333333333333],
        ],
    )


@requirement(*_STORED)
def truth_values_are_kept(subject: Subject) -> None:
    _keeps(subject, ["bool"], [[True], [False]])


@requirement(*_STORED)
def dates_are_kept_from_the_year_1_to_9999(subject: Subject) -> None:
    days = ["0001-01-01", "1900-03-01", "1969-12-31", "2000-02-29", "9999-12-31"]
    _keeps(subject, ["date"], [[day] for day in days])


@requirement(*_STORED, "gregorian dates")
def dates_that_the_julian_calendar_skips_are_kept(subject: Subject) -> None:
    """Where the calendars change, 4 October 1582 is followed by the 15th."""
    _keeps(subject, ["date"], [["1582-10-05"], ["1582-10-10"], ["1582-10-14"]])


@requirement(*_STORED)
def timestamps_are_kept_from_the_year_1_to_9999(subject: Subject) -> None:
    _keeps(
        subject,
        ["timestamp"],
        [
            ["0001-01-01 00:00:00"],
            ["1969-12-31 23:59:59.999"],
            ["1970-01-01 00:00:00"],
            ["2000-02-29 12:00:00.5"],
            ["2038-01-19 03:14:08"],
            ["9999-12-31 23:59:59.999"],
        ],
    )


@requirement(*_STORED, "microseconds")
def timestamps_are_kept_to_the_microsecond(subject: Subject) -> None:
    _keeps(subject, ["timestamp"], [["1969-12-31 23:59:59.999999"], ["2026-03-29 02:30:00.000001"]])


_DOCUMENTS: list[object] = [
    {"b": {"c": [1, {"d": None}], "é": 'it\'s "so" \\ 🐘\n'}, "a": 1.5, "on": True},
    [1, "two", [], {}],
    {},
]
_ARRAYS: list[list[object]] = [
    [[1, None, -32768], [2147483647], [-(1 << 63), 0], [0.1, -2, 1e300], ["1", ""], [True]],
    [[7], [None], [1], [2.5], ['a "b" \\ c,{}[]\n', "NULL", None, "🐘"], [None, False]],
    [[], [], [], [], [], []],
]
_ARRAY_TYPES = ["smallint[]", "int[]", "bigint[]", "double[]", "text[]", "bool[]"]


@requirement(*_STORED, "documents")
def documents_and_arrays_are_kept(subject: Subject) -> None:
    """Whatever the order of their keys and the digits of their numbers."""
    rows = [[found, *arrays] for found, arrays in zip(_DOCUMENTS, _ARRAYS, strict=True)]
    _keeps(subject, ["json", *_ARRAY_TYPES], rows)
    _keeps(subject, ["bytes", "json", "int[]"], [[b"\xff\x00", {"a": 1}, [1]]])


@requirement(*_STORED, "documents", spellings=(SingleRows,))
def documents_and_lists_of_scripts_stay_what_they_are(subject: Subject) -> None:
    """Bound to values of a statement, they are the same as those that are loaded."""
    dialect = subject.dialect
    assert isinstance(dialect, SingleRows)
    columns = [Column("d", "json"), Column("n", "int[]"), Column("t", "text[]")]
    cells = zip(_DOCUMENTS, [[1, -2], [3], []], [['a "b" \\'], ["x,y", "z"], []], strict=True)
    rows: list[Row] = [(number, *row) for number, row in enumerate(cells)]
    loaded, bound = subject.made("loaded", *columns), subject.made("bound", *columns)
    subject.load(loaded, rows)
    names = ("id", "d", "n", "t")
    insert = dialect.insert_row(bound, [f":{name}" for name in names])
    for protocol, row in zip(("prepared", "extended", "prepared"), rows, strict=True):
        subject.ask(insert, dict(zip(names, row, strict=True)), protocol)
    found = [table_digest(subject.deployment, dialect, table) for table in (loaded, bound)]
    if found[0] != found[1]:
        raise NotMet(f"loaded: {subject.rows(loaded)}; bound by a script: {subject.rows(bound)}")


@requirement(*_STORED, "typed columns", spellings=(SingleRows,))
def a_value_beyond_its_column_is_refused_as_data(subject: Subject) -> None:
    """Inserted with a bound value, and loaded, where the engine may refuse it first."""
    for word, value in [
        ("smallint", 1 << 15),
        ("int", 1 << 31),
        ("decimal(4,2)", "123.45"),
        ("date", "2026-02-30"),
    ]:
        _refuses(subject, word, value)


@requirement(*_STORED, "text lengths", spellings=(SingleRows,))
def a_text_beyond_its_column_is_refused_as_data(subject: Subject) -> None:
    """As the requirement before it."""
    _refuses(subject, "varchar(3)", "four")


def _refuses(subject: Subject, word: str, value: object) -> None:
    dialect = subject.dialect
    assert isinstance(dialect, SingleRows)
    table = subject.made("limits", Column("c", word))
    insert = dialect.insert_row(table, ["1", ":value"])
    insist_on_class(subject.refusal_of_value(insert, {"value": value}), "data")
    subject.refusal_of_load(table, [(1, value)])
    subject.insist_on_count(table, 0)


OF_COLUMN_TYPES = (
    whole_numbers_are_kept_up_to_their_limits,
    decimals_of_fifteen_digits_are_kept,
    decimals_are_kept_to_the_last_digit,
    floats_are_kept_to_the_digits_that_they_have,
    truth_values_are_kept,
    dates_are_kept_from_the_year_1_to_9999,
    dates_that_the_julian_calendar_skips_are_kept,
    timestamps_are_kept_from_the_year_1_to_9999,
    timestamps_are_kept_to_the_microsecond,
    documents_and_arrays_are_kept,
    documents_and_lists_of_scripts_stay_what_they_are,
    a_value_beyond_its_column_is_refused_as_data,
    a_text_beyond_its_column_is_refused_as_data,
)


_STORED_TEXTS = ("tables", "stored rows")

TEXTS = (
    "",
    " ",
    "  two before, two behind  ",
    'it\'s "quoted" by `three` signs',
    "a \\ backslash, \\n no line, \\' and \\",
    "\\N",
    "NULL",
    "tab\tline\nreturn\r\nend",
    "\x01\x1b\x7f",
    "ä ß ☃ \U0001d538 🐘",
    "e\u0301 is not \u00e9",
    "\u202eright to left",
    '{"json": [1, null]}',
    "%s :name ? $1 {name} -- ; /* */",
)


@requirement(*_STORED_TEXTS)
def texts_are_kept_letter_by_letter(subject: Subject) -> None:
    columns = (Column("words", "text"), Column("short", "varchar(40)"))
    rows: list[Row] = [(number, text, text) for number, text in enumerate(TEXTS)]
    subject.load(subject.made("texts", *columns), rows)


@requirement(*_STORED_TEXTS, "prepared statements")
def texts_are_compared_letter_by_letter_as_bound_values(subject: Subject) -> None:
    """Also the empty one, and those that differ in case or in their composition only."""
    table = Table(
        name="verify_keys",
        columns=(Column("number", "int", not_null=True), Column("word", "varchar(40)", True)),
        primary_key=("word",),
    )
    texts = [*TEXTS[3:], "a", "A", "\u00e9", "e\u0301"]
    subject.make(table)
    subject.load(table, list(enumerate(texts)))
    question = subject.dialect.read_by_key(table.name, ["number"], "word", ":word")
    for protocol in ("prepared", "extended"):
        for number, text in enumerate(texts):
            found = subject.ask(question, {"word": text}, protocol)
            if found != [(str(number),)]:
                raise NotMet(f"asked for {text!r} of row {number}, it gives the rows {found}")


@requirement(*_STORED_TEXTS)
def a_text_with_a_zero_byte_is_kept_or_refused_as_data(subject: Subject) -> None:
    table = subject.made("zero", Column("words", "text"))
    try:
        subject.load(table, [(1, "a\0b")])
    except AssayError:
        error = subject.refusal_of_load(table, [(1, "a\0b")])
        insist_on_class(RefusedStatement.of(error), "data")
        subject.insist_on_count(table, 0)


@requirement(*_STORED_TEXTS)
def bytes_of_every_value_are_kept(subject: Subject) -> None:
    every = bytes(range(256))
    letters = rb"\x6869"  # which one system writes for the two bytes "hi"
    rows: list[Row] = [(0, every), (1, b""), (2, every[::-1]), (3, None), (4, letters)]
    subject.load(subject.made("bytes", Column("b", "bytes")), rows)


@requirement(*_STORED_TEXTS)
def values_of_a_megabyte_are_kept(subject: Subject) -> None:
    size = 1 << 20
    table = subject.made("large", Column("words", "text"), Column("b", "bytes"))
    text = "".join(chr(0x61 + number % 23) for number in range(size - 3)) + "☃"
    subject.load(table, [(1, text, bytes(number % 251 for number in range(size))), (2, "", b"")])


@requirement(*_STORED_TEXTS)
def names_that_are_words_of_the_language_can_be_used(subject: Subject) -> None:
    is_ours = subject.deployment.is_private
    table = Table(
        name="order" if is_ours else "verify_order",
        columns=(
            Column("user", "int", not_null=True),
            Column("key", "int", not_null=True),
            Column("CODEN", "varchar(9)"),
            Column("select", "text"),
        ),
        primary_key=("user", "key"),
        indexes=(Index("order_coden", ("CODEN",)),),
    )
    subject.make(table)
    subject.load(table, [(1, 1, "a", "b"), (1, 2, None, None), (2, 1, "A", "")])
    subject.execute(*subject.dialect.after_load([table]))
    subject.insist_on_count(table, 3)


OF_TEXTS = (
    texts_are_kept_letter_by_letter,
    texts_are_compared_letter_by_letter_as_bound_values,
    a_text_with_a_zero_byte_is_kept_or_refused_as_data,
    bytes_of_every_value_are_kept,
    values_of_a_megabyte_are_kept,
    names_that_are_words_of_the_language_can_be_used,
)
