"""Takes the keys and indexes of a ``[[tables]]`` section, and all tables; returns them as neutral
values, and refuses what they cannot say of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from msgspec import Struct

from assay.contracts.dialects import Column, ForeignKey, Index, Partitioning
from assay.text import pattern
from assay.text.keys import SCALAR, TEXT, in_file
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.schema import DeclaredTable, Expression, expression_of_key


def check_relations(
    sections: Sequence[TomlTable],
    declared: Sequence[DeclaredTable],
    inherited: Sequence[DeclaredTable] = (),
) -> None:
    """Raises `ExperimentError` at the line of the first table that conflicts with the others.
    ``inherited``: those of the workload that this one extends."""
    by_name: dict[str, DeclaredTable] = {table.name.lower(): table for table in inherited}
    for section, table in zip(sections, declared, strict=True):
        if other := by_name.get(table.name.lower()):
            first = f"at line {other.line}" if other.line else "inherited"
            raise section.error(
                f"a second table is called {table.name}; the first is {first}", "name"
            )
        by_name[table.name.lower()] = table
    tables = {table.name: table for table in (*inherited, *declared)}
    places = {table.name: section for section, table in zip(sections, declared, strict=True)}
    for table in declared:
        name = table.name
        _check_parent(places[name], table, tables)
        for key in table.table.foreign_keys:
            _check_foreign_key(places[name], table, key, tables)
    _refuse_circle(
        places, "per", lambda table: [table.generator.per] if table.generator.per else [], tables
    )
    _refuse_circle(
        places,
        "foreign_keys",
        lambda table: [key.table for key in table.table.foreign_keys if key.table != table.name],
        tables,
    )


def parents_first(declared: Sequence[DeclaredTable]) -> tuple[DeclaredTable, ...]:
    """The tables in the order of the file, but each after those that its foreign keys name."""
    tables = {table.name: table for table in declared}
    placed: dict[str, DeclaredTable] = {}

    def place(table: DeclaredTable) -> None:
        for key in table.table.foreign_keys:
            if key.table != table.name and key.table not in placed:
                place(tables[key.table])
        placed.setdefault(table.name, table)

    for table in declared:
        place(table)
    return tuple(placed.values())


def identifiers(section: TomlTable, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name in scripts → the declared tables, or their columns, that it may choose among."""
    known = list(names)
    found = {}
    for word in section.names():
        found[word] = section.texts(word)
        for name in found[word]:
            if name not in known:
                raise section.error(
                    f"{word} names the unknown table or column {name!r}",
                    word,
                    hint=did_you_mean(name, known),
                )
    return found


def _check_parent(
    section: TomlTable, table: DeclaredTable, tables: Mapping[str, DeclaredTable]
) -> None:
    per = table.generator.per
    if not per:
        return
    if per not in tables:
        raise section.error(
            f"rows of {table.name} are per row of the unknown table {per!r}",
            "per",
            hint=did_you_mean(per, tables),
        )
    _check_instances(section, "per", table, tables[per])


def _check_instances(
    section: TomlTable, key: str, table: DeclaredTable, owner: DeclaredTable
) -> None:
    """Raises where a table refers to one with instances and has not the same instances itself."""
    if owner.instances is None:
        return
    bounds = [[bound.text for bound in each.instances or ()] for each in (table, owner)]
    if bounds[0] != bounds[1]:
        raise section.error(
            f"{key}: {owner.name} has instances, but {table.name} has not the same ones",
            key,
            hint=f'instances = "{"..".join(bounds[1])}" in both',
        )


def _check_foreign_key(
    section: TomlTable, table: DeclaredTable, key: ForeignKey, tables: Mapping[str, DeclaredTable]
) -> None:
    if key.table not in tables:
        raise section.error(
            f"a foreign key to the unknown table {key.table!r}",
            "foreign_keys",
            hint=did_you_mean(key.table, tables),
        )
    target = tables[key.table]
    lacking = [name for name in table.languages or ("",) if not target.is_for(name)]
    if lacking:
        systems = f"systems of {lacking[0]}" if lacking[0] else "all systems"
        raise section.error(
            f"{table.name} is for {systems}, and its foreign key leads to {target.name}, which is "
            f"for systems of {', '.join(target.languages)}",
            "foreign_keys",
            hint=f"languages = {list(target.languages)} in {table.name}".replace("'", '"'),
        )
    columns = {column.name: column for column in target.table.columns}
    for own, theirs in zip(key.columns, key.references, strict=True):
        if theirs not in columns:
            raise section.error(
                f"a foreign key to the unknown column {theirs!r} of {key.table}",
                "foreign_keys",
                hint=did_you_mean(theirs, columns),
            )
        if (type_ := table.table.column(own).type) != columns[theirs].type:
            raise section.error(
                f"a foreign key from {own}, which is {type_}, to {key.table}.{theirs}, which is "
                f"{columns[theirs].type}",
                "foreign_keys",
                hint="give both columns one type",
            )
    if key.references != target.table.primary_key and key.references not in target.table.unique:
        raise section.error(
            f"a foreign key to {key.table}({', '.join(key.references)}), which is neither its "
            "primary key nor unique",
            "foreign_keys",
            hint=f"primary_key = {list(key.references)} in {key.table}".replace("'", '"'),
        )
    _check_instances(section, "foreign_keys", table, target)


def _refuse_circle(
    places: Mapping[str, TomlTable],
    key: str,
    leads_to: Callable[[DeclaredTable], Sequence[str]],
    tables: Mapping[str, DeclaredTable],
) -> None:
    """Raises where the references form a cycle."""
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            circle = [*way[way.index(name) :], name]
            raise places[name].error(f"{key} forms a cycle: {' -> '.join(circle)}", key)
        if name not in done:
            for following in filter(places.__contains__, leads_to(tables[name])):
                walk(following, (*way, name))
            done.add(name)

    for name in places:
        walk(name, ())


_FOREIGN_KEY = pattern(r"\s*(?P<own>[^>]+?)\s*->\s*(?P<table>[^()\s]+)\s*\((?P<theirs>[^()]+)\)")


class IndexWhen(Struct, frozen=True):
    """An index that only some runs have."""

    columns: Annotated[str, in_file(
        TEXT, "Columns separated by commas, each with `desc` for descending order."
    )]  # fmt: skip
    when: Annotated[Expression, in_file(
        SCALAR, "An expression of parameters: the index is created where it is true.",
        expression_of_key,
    )]  # fmt: skip


def indexes(
    section: TomlTable, table: str, known: Mapping[str, Column]
) -> dict[Index, Expression | None]:
    """Index → the condition for creating it; None: always."""
    found: dict[Index, Expression | None] = {}
    for number, declared in enumerate(section.texts_or_tables("indexes")):
        when = None
        if isinstance(declared, TomlTable):
            said: IndexWhen = declared.thing(IndexWhen)
            text, when = said.columns, said.when
        else:
            text = declared
        index = _index(section, table, known, text, number)
        if index in found:
            raise section.error(f"the index {text!r} is declared twice", "indexes", number)
        found[index] = when
    return found


def _index(
    section: TomlTable, table: str, known: Mapping[str, Column], text: str, number: int
) -> Index:
    parts = [part.split() for part in text.split(",")]
    if not all(map(_is_in_order, parts)):
        raise section.error(
            f"{text!r} is not an index", "indexes", number, hint='"column", or "column, other desc"'
        )
    columns, descending = _ordered(section, "indexes", known, parts, number)
    words = [word for one in columns for word in (one, *(["desc"] * (one in descending)))]
    return Index(name="_".join([table, *words]).lower(), columns=columns, descending=descending)


def _is_in_order(words: Sequence[str]) -> bool:
    return bool(words) and list(words[1:]) in ([], ["asc"], ["desc"])


def _ordered(
    section: TomlTable,
    key: str,
    known: Mapping[str, Column],
    parts: Sequence[Sequence[str]],
    *at: int,
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The columns, and those of them in descending order."""
    columns = known_columns(section, key, known, tuple(part[0] for part in parts), *at)
    return columns, frozenset(part[0] for part in parts if list(part[1:]) == ["desc"])


def partitioning(
    section: TomlTable, known: Mapping[str, Column], primary_key: tuple[str, ...]
) -> Partitioning | None:
    """``partition_by`` and ``partition_order``, which identify a row together: a system that keeps
    one row for each key loses none."""
    if "partition_by" not in section:
        if "partition_order" in section:
            raise section.error(
                "partition_order needs partition_by",
                "partition_order",
                hint='partition_by = ["column"]',
            )
        return None
    by = known_columns(section, "partition_by", known, section.texts("partition_by"))
    parts = [text.split() for text in section.texts("partition_order", ())]
    if not all(map(_is_in_order, parts)):
        raise section.error(
            "expected a list of columns", "partition_order", hint='["column", "other desc"]'
        )
    order, descending = _ordered(section, "partition_order", known, parts)
    if twice := [name for name in order if name in by]:
        raise section.error(
            f"partition_order names {twice[0]!r}, which partition_by names already",
            "partition_order",
        )
    if missing := [name for name in primary_key if name not in (*by, *order)]:
        raise section.error(
            f"partition_by and partition_order leave out {missing[0]!r} of the primary key, so one "
            "row could replace another",
            "partition_by",
            hint=f'add it: partition_order = ["{missing[0]}"]',
        )
    if nullable := [name for name in (*by, *order) if not known[name].not_null]:
        raise section.error(
            f"the column {nullable[0]!r} of a partition key may be null",
            "partition_by",
            hint=f'{nullable[0]} = "{known[nullable[0]].type} not null"',
        )
    return Partitioning(by, order, descending)


def unique_keys(section: TomlTable, known: Mapping[str, Column]) -> tuple[tuple[str, ...], ...]:
    """The unique constraints, each a list of columns."""
    return tuple(
        known_columns(section, "unique", known, _split(columns), number)
        for number, columns in enumerate(section.texts("unique", ()))
    )


def foreign_keys(
    section: TomlTable, table: str, known: Mapping[str, Column]
) -> tuple[ForeignKey, ...]:
    """The foreign keys; `relations` checks their targets."""
    found = []
    for number, text in enumerate(section.texts("foreign_keys", ())):
        parts = _FOREIGN_KEY.fullmatch(text)
        if parts is None:
            raise section.error(
                f"{text!r} is not a foreign key",
                "foreign_keys",
                number,
                hint='"column -> table(column)", or "a, b -> table(a, b)"',
            )
        own = known_columns(section, "foreign_keys", known, _split(parts["own"]), number)
        theirs = _split(parts["theirs"])
        if len(own) != len(theirs):
            raise section.error(
                f"the foreign key {text!r} has {len(own)} columns for {len(theirs)}",
                "foreign_keys",
                number,
            )
        name = "_".join([table, *own, "fkey"]).lower()
        found.append(ForeignKey(name, own, parts["table"], theirs))
    return tuple(found)


def known_columns(
    section: TomlTable, key: str, known: Mapping[str, Column], names: tuple[str, ...], *at: int
) -> tuple[str, ...]:
    """The names, each checked to be a column and to occur once. ``at``: the element in which all
    stand; without it each is an element of its own."""
    for position, name in enumerate(names):
        place = at or (position,)
        if name not in known:
            said = f"{key} names the unknown column {name!r}"
            raise section.error(said, key, *place, hint=did_you_mean(name, known))
        if name in names[:position]:
            raise section.error(f"{key} names the column {name!r} twice", key, *place)
        if known[name].is_document:
            raise section.error(
                f"{key} names the column {name!r} of type {known[name].type}: expected a type "
                "whose values every system can compare",
                key,
                *place,
                hint='a script can make an index over JSON: steps = [{ do = "ddl", script = "…" }]',
            )
    return names


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
