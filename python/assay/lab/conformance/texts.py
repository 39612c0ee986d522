"""Texts, bytes and names are kept letter by letter."""

from __future__ import annotations

from assay.contracts.dialects.protocol import Column, Index, Table
from assay.errors import AssayError
from assay.lab.conformance.failures import NotMet
from assay.lab.conformance.requirement import requirement
from assay.lab.conformance.subject import RefusedStatement, Row, Subject, insist_on_class

_STORED = ("tables", "stored rows")

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


@requirement(*_STORED)
def texts_are_kept_letter_by_letter(subject: Subject) -> None:
    columns = (Column("words", "text"), Column("short", "varchar(40)"))
    rows: list[Row] = [(number, text, text) for number, text in enumerate(TEXTS)]
    subject.load(subject.made("texts", *columns), rows)


@requirement(*_STORED, "prepared statements")
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


@requirement(*_STORED)
def a_text_with_a_zero_byte_is_kept_or_refused_as_data(subject: Subject) -> None:
    table = subject.made("zero", Column("words", "text"))
    try:
        subject.load(table, [(1, "a\0b")])
    except AssayError:
        error = subject.refusal_of_load(table, [(1, "a\0b")])
        insist_on_class(RefusedStatement.of(error), "data")
        subject.insist_on_count(table, 0)


@requirement(*_STORED)
def bytes_of_every_value_are_kept(subject: Subject) -> None:
    every = bytes(range(256))
    letters = rb"\x6869"  # which one system writes for the two bytes "hi"
    rows: list[Row] = [(0, every), (1, b""), (2, every[::-1]), (3, None), (4, letters)]
    subject.load(subject.made("bytes", Column("b", "bytes")), rows)


@requirement(*_STORED)
def values_of_a_megabyte_are_kept(subject: Subject) -> None:
    size = 1 << 20
    table = subject.made("large", Column("words", "text"), Column("b", "bytes"))
    text = "".join(chr(0x61 + number % 23) for number in range(size - 3)) + "☃"
    subject.load(table, [(1, text, bytes(number % 251 for number in range(size))), (2, "", b"")])


@requirement(*_STORED)
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


REQUIREMENTS = (
    texts_are_kept_letter_by_letter,
    texts_are_compared_letter_by_letter_as_bound_values,
    a_text_with_a_zero_byte_is_kept_or_refused_as_data,
    bytes_of_every_value_are_kept,
    values_of_a_megabyte_are_kept,
    names_that_are_words_of_the_language_can_be_used,
)
