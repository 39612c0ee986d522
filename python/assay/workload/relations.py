"""Takes all tables of a workload; refuses what is wrong between them: two of one name, parents and
foreign keys that lead nowhere or in a circle, identifiers of no table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.dialects.protocol import ForeignKey
from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.workload.schema import DeclaredTable


def check(sections: Sequence[Section], declared: Sequence[DeclaredTable]) -> None:
    """Raises `ExperimentError` at the line of the first table that does not fit the others."""
    by_name: dict[str, DeclaredTable] = {}
    for section, one in zip(sections, declared, strict=True):
        if other := by_name.get(one.name.lower()):
            raise section.error(
                f"a second table is called {one.name}; the first is at line {other.line}", "name"
            )
        by_name[one.name.lower()] = one
    tables = {one.name: one for one in declared}
    places = {one.name: section for section, one in zip(sections, declared, strict=True)}
    for name, one in tables.items():
        _check_parent(places[name], one, tables)
        for key in one.table.foreign_keys:
            _check_foreign_key(places[name], one, key, tables)
    _refuse_circle(
        places, "per", lambda one: [one.generator.per] if one.generator.per else [], tables
    )
    _refuse_circle(
        places,
        "foreign_keys",
        lambda one: [key.table for key in one.table.foreign_keys if key.table != one.name],
        tables,
    )


def in_order(declared: Sequence[DeclaredTable]) -> tuple[DeclaredTable, ...]:
    """The tables in the order of the file, but each behind those that its foreign keys name."""
    tables = {one.name: one for one in declared}
    placed: dict[str, DeclaredTable] = {}

    def place(one: DeclaredTable) -> None:
        for key in one.table.foreign_keys:
            if key.table != one.name and key.table not in placed:
                place(tables[key.table])
        placed.setdefault(one.name, one)

    for one in declared:
        place(one)
    return tuple(placed.values())


def identifiers(section: Section, tables: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name in scripts → the declared tables it may choose among."""
    known = list(tables)
    found = {}
    for word in section.names():
        found[word] = section.texts(word)
        for name in found[word]:
            if name not in known:
                raise section.error(
                    f"{word} names the unknown table {name!r}", word, hint=did_you_mean(name, known)
                )
    return found


def _check_parent(
    section: Section, one: DeclaredTable, tables: Mapping[str, DeclaredTable]
) -> None:
    per = one.generator.per
    if not per:
        return
    if per not in tables:
        raise section.error(
            f"rows of {one.name} are per row of the unknown table {per!r}",
            "per",
            hint=did_you_mean(per, tables),
        )
    _check_instances(section, "per", one, tables[per])


def _check_instances(section: Section, key: str, one: DeclaredTable, other: DeclaredTable) -> None:
    """Who belongs to a table with instances belongs to the one of its own number."""
    if other.instances is None:
        return
    bounds = [[bound.text for bound in each.instances or ()] for each in (one, other)]
    if bounds[0] != bounds[1]:
        raise section.error(
            f"{key}: {other.name} has instances, and {one.name} has not the same ones",
            key,
            hint=f'instances = "{"..".join(bounds[1])}" in both',
        )


def _check_foreign_key(
    section: Section, one: DeclaredTable, key: ForeignKey, tables: Mapping[str, DeclaredTable]
) -> None:
    if key.table not in tables:
        raise section.error(
            f"a foreign key to the unknown table {key.table!r}",
            "foreign_keys",
            hint=did_you_mean(key.table, tables),
        )
    other = tables[key.table]
    columns = {column.name: column for column in other.table.columns}
    for own, theirs in zip(key.columns, key.references, strict=True):
        if theirs not in columns:
            raise section.error(
                f"a foreign key to the unknown column {theirs!r} of {key.table}",
                "foreign_keys",
                hint=did_you_mean(theirs, columns),
            )
        if (type_ := one.table.column(own).type) != columns[theirs].type:
            raise section.error(
                f"a foreign key from {own}, which is {type_}, to {key.table}.{theirs}, which is "
                f"{columns[theirs].type}",
                "foreign_keys",
                hint="give both columns one type",
            )
    if key.references != other.table.primary_key and key.references not in other.table.unique:
        raise section.error(
            f"a foreign key to {key.table}({', '.join(key.references)}), which is neither its "
            "primary key nor unique",
            "foreign_keys",
            hint=f"primary_key = {list(key.references)} in {key.table}".replace("'", '"'),
        )
    _check_instances(section, "foreign_keys", one, other)


def _refuse_circle(
    places: Mapping[str, Section],
    key: str,
    leads_to: Callable[[DeclaredTable], Sequence[str]],
    tables: Mapping[str, DeclaredTable],
) -> None:
    """Raises where the references form a circle."""
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            circle = [*way[way.index(name) :], name]
            raise places[name].error(f"{key} leads in a circle: {' -> '.join(circle)}", key)
        if name not in done:
            for following in leads_to(tables[name]):
                walk(following, (*way, name))
            done.add(name)

    for name in tables:
        walk(name, ())
