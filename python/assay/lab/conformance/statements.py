"""Statements and their errors: empty answers, bound values, classes and effects of errors."""

from __future__ import annotations

from assay.contracts.dialects.protocol import Column, SingleRows, Table
from assay.lab.conformance.failures import NotMet
from assay.lab.conformance.requirement import requirement
from assay.lab.conformance.subject import RefusedStatement, Subject, insist_on_class
from assay.load.tables import drop

_STORED = ("tables", "stored rows")


def _numbered(subject: Subject, name: str, rows: int) -> Table:
    table = subject.made(name, Column("value", "int"))
    subject.load(table, [(number, 0) for number in range(rows)])
    return table


@requirement("tables")
def an_empty_table_has_no_rows(subject: Subject) -> None:
    table = subject.made("empty", Column("value", "int"))
    subject.insist_on_count(table, 0)
    if found := subject.rows(table):
        raise NotMet(f"an empty table gives the rows {found}")


@requirement(*_STORED, "prepared statements")
def a_key_is_found_by_a_bound_value_and_another_is_not(subject: Subject) -> None:
    table = _numbered(subject, "bound", 100)
    text = subject.dialect.read_by_key(table.name, ["id"], "id", ":id")
    for protocol in ("prepared", "extended"):
        for number, expected in [(0, [("0",)]), (99, [("99",)]), (100, []), (-1, [])]:
            if (found := subject.ask(text, {"id": number}, protocol)) != expected:
                raise NotMet(f"{protocol}: of the key {number} it gives the rows {found}")


@requirement(*_STORED, spellings=(SingleRows,))
def single_rows_are_inserted_and_updated_with_bound_values(subject: Subject) -> None:
    dialect = subject.dialect
    assert isinstance(dialect, SingleRows)
    table = subject.made("single", Column("value", "int"), Column("words", "text"))
    text, large = "it's ☃ \\ 🐘", "x" * (1 << 20)
    insert = dialect.insert_row(table, [":id", ":value", ":words"])
    update = dialect.update_row(table, "words", ":words", "id", ":id")
    subject.ask(insert, {"id": 1, "value": 7, "words": text})
    subject.ask(insert, {"id": 2, "value": -7, "words": large})
    subject.ask(insert, {"id": 3, "value": None, "words": None}, "extended")
    subject.ask(update, {"id": 3, "words": text})
    expected = [("1", "7", text), ("2", "-7", large), ("3", None, text)]
    if (found := subject.rows(table)) != expected:
        shown = [(key, value, len(words or "")) for key, value, words in found]
        raise NotMet(f"expected three rows as they were inserted, found {shown}")


@requirement(*_STORED)
def what_is_no_statement_is_refused_as_syntax(subject: Subject) -> None:
    insist_on_class(subject.refusal("this is no statement"), "syntax")


@requirement(*_STORED)
def a_table_that_is_not_there_is_an_unknown_object(subject: Subject) -> None:
    insist_on_class(subject.refusal(subject.dialect.exists("verify_nothing")), "unknown object")


@requirement(*_STORED)
def a_dropped_table_is_gone(subject: Subject) -> None:
    table = _numbered(subject, "dropped", 1)
    for _ in range(2):
        drop(subject.deployment, subject.dialect, [table])
    insist_on_class(subject.refusal(subject.dialect.exists(table.name)), "unknown object")


@requirement(*_STORED, "unique keys", spellings=(SingleRows,))
def a_second_row_of_a_key_is_refused_as_a_constraint(subject: Subject) -> None:
    assert isinstance(subject.dialect, SingleRows)
    table = _numbered(subject, "unique", 1)
    again = subject.dialect.insert_row(table, ["0", "1"])
    insist_on_class(subject.refusal(again), "constraint")
    if (found := subject.rows(table)) != [("0", "0")]:
        raise NotMet(f"the refused row has changed the table to {found}")


@requirement(*_STORED, "not null")
def null_is_refused_where_a_column_must_not_be(subject: Subject) -> None:
    table = subject.made("not_null", Column("value", "int", not_null=True))
    error = subject.refusal_of_load(table, [(1, None)])
    insist_on_class(RefusedStatement.of(error), "constraint")
    subject.insist_on_count(table, 0)


@requirement(*_STORED)
def rows_are_deleted_by_their_texts_and_all_at_once(subject: Subject) -> None:
    table = subject.make(
        Table(
            name="verify_deleted",
            columns=(Column("id", "int", not_null=True), Column("words", "varchar(40)", True)),
            primary_key=("words",),
        )
    )
    subject.load(table, [(1, "it's"), (2, "a \\"), (3, "other")])
    for expected, statements in (
        (1, subject.dialect.delete_where(table.name, "words", ["it's", "a \\", "nowhere"])),
        (0, subject.dialect.delete_all(table.name)),
    ):
        subject.execute(*statements)
        subject.insist_on_count(table, expected)


REQUIREMENTS = (
    an_empty_table_has_no_rows,
    a_key_is_found_by_a_bound_value_and_another_is_not,
    single_rows_are_inserted_and_updated_with_bound_values,
    what_is_no_statement_is_refused_as_syntax,
    a_table_that_is_not_there_is_an_unknown_object,
    a_dropped_table_is_gone,
    a_second_row_of_a_key_is_refused_as_a_constraint,
    null_is_refused_where_a_column_must_not_be,
    rows_are_deleted_by_their_texts_and_all_at_once,
)
