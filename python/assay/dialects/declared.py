"""Takes what a dialect of SQL says otherwise than its base, as words and the texts of statements;
returns the dialect. Takes one of another package; says in what it breaks the contract of
`Dialect`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.dialects import ABILITIES, Dialect, Index, Table, View
from assay.contracts.plugins import ContractBroken, half_an_ability, members_broken
from assay.dialects.limits import SchemaLimits
from assay.dialects.standard import StandardSql

Texts = tuple[str, ...]
Attribute = str | bool | Texts | frozenset[str] | Mapping[str, str] | SchemaLimits
STATEMENTS: Final[Mapping[str, Texts]] = {
    "begin": (),
    "begin_at": ("level",),
    "commit": (),
    "rollback": (),
    "session_isolation": ("level",),
    "session_read_only": (),
    "mark_table": ("table", "mark"),
    "drop_table": ("table",),
    "drop_view": ("view",),
    "exists": ("table",),
    "count": ("table",),
    "update_statistics": ("table",),
}
"""What can be given as texts: the names that stand in braces in them."""


def declared(
    base: type[StandardSql], attributes: Mapping[str, Attribute], statements: Mapping[str, Texts]
) -> StandardSql:
    """A dialect of a class of its own. ``attributes``: those of the base and of `_OfTexts`, of the
    types that they have there; ``statements``: of `STATEMENTS`."""
    members = {**attributes, "statements": statements}
    made: Any = type(f"{base.__name__}OfTexts", (_OfTexts, base), members)()
    return cast(StandardSql, made)


class _OfTexts(StandardSql):
    """Stands before the base, which says what is not given."""

    statements: Mapping[str, Texts] = {}
    level_words: Mapping[str, str] = {}
    """Isolation level → its name here, where it is not its own in capital letters."""
    marks: str | None = None
    """The text of `marks_query`."""
    descending_index: str = ""
    """What stands in place of ``INDEX`` where all columns of an index descend, if DESC cannot stand
    behind a column."""

    def begin(self) -> list[str]:
        return self._given("begin", super().begin)

    def begin_at(self, level: str) -> list[str]:
        if not level:
            return super().begin_at(level)
        self.insist_on_level(level)
        return self._given("begin_at", lambda: super(_OfTexts, self).begin_at(level), level=level)

    def commit(self) -> list[str]:
        return self._given("commit", super().commit)

    def rollback(self) -> list[str]:
        return self._given("rollback", super().rollback)

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        usual = super().session_isolation
        return self._given("session_isolation", lambda: usual(level), level=level)

    def session_read_only(self) -> list[str]:
        return self._given("session_read_only", super().session_read_only)

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        if "mark_table" not in self.statements:
            return super().create_marked_table(table, options, mark)
        named = {"table": self.identifier(table.name), "mark": self.literal(mark)}
        return [*self.create_table(table, options), *self._given("mark_table", list, **named)]

    def marks_query(self, database: str) -> str | None:
        return self.marks or super().marks_query(database)

    def drop_table(self, table: Table) -> list[str]:
        usual = super().drop_table
        name = self.identifier(table.name)
        return self._given("drop_table", lambda: usual(table), table=name)

    def drop_view(self, view: View) -> list[str]:
        usual = super().drop_view
        return self._given("drop_view", lambda: usual(view), view=self.identifier(view.name))

    def exists(self, table: str) -> str:
        usual = super().exists
        (text,) = self._given("exists", lambda: [usual(table)], table=self.identifier(table))
        return text

    def count(self, table: str) -> str:
        usual = super().count
        (text,) = self._given("count", lambda: [usual(table)], table=self.identifier(table))
        return text

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        usual = super().update_statistics
        if "update_statistics" not in self.statements:
            return usual(tables)
        names = [self.identifier(table.name) for table in tables]
        return [
            text for name in names for text in self._given("update_statistics", list, table=name)
        ]

    def index(self, table: Table, index: Index, on: str = "") -> str:
        if not self.descending_index:
            return super().index(table, index, on)
        plain = super().index(table, replace(index, descending=frozenset()), on)
        descends = index.columns[0] in index.descending
        return plain.replace("INDEX", self.descending_index, 1) if descends else plain

    def _given(self, name: str, usual: Callable[[], list[str]], **values: str) -> list[str]:
        """The texts of a statement, with these values; what the base says where there are none."""
        if name not in self.statements:
            return usual()
        if level := values.get("level"):
            values["level"] = self.level_words.get(level, level.upper())
        return [text.format(**values) for text in self.statements[name]]


def validate(dialect: Any) -> None:
    """Raises `ContractBroken` with every violation that can be seen without a server."""
    if violations := list(_violations(dialect)):
        raise ContractBroken(f"the dialect {getattr(dialect, 'name', dialect)!r}", violations)


def _violations(dialect: Any) -> Iterator[str]:
    if not isinstance(dialect, StandardSql):
        yield (
            "expected an object of a class that derives from assay.dialects.standard.StandardSql, "
            f"found {type(dialect).__name__}"
        )
        return
    yield from members_broken(dialect, Dialect).values()
    for ability in ABILITIES:
        yield from half_an_ability(dialect, ability)
    for name in sorted(map(str, set(dialect.lacking) - set(CAPABILITIES))):
        yield f"lacking: {name!r} is no capability; known: {', '.join(CAPABILITIES)}"
    try:
        type(dialect)()
    except Exception as error:
        yield f"its class cannot be called without arguments: {error}"
