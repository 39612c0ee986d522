"""Takes all tables of a workload; refuses duplicate names, parents and foreign keys with an unknown
target or in a cycle, and identifiers of unknown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.contracts.dialects.protocol import ForeignKey
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.schema import DeclaredTable


def check(
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


def in_order(declared: Sequence[DeclaredTable]) -> tuple[DeclaredTable, ...]:
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
