"""Takes the ``[[views]]`` of a workload file; returns them, each a query that scripts and checks
read like a table.

They are made in their order once all tables are filled, on systems whose language is SQL, and
dropped with the tables. ``overrides`` has the queries of dialects that spell one otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from assay.contracts.dialects.protocol import View
from assay.text.files.toml_file import TomlTable
from assay.workload import dialect_names
from assay.workload.tables import columns

_VARIABLE = re.compile(r"(?<![:\w]):\{?([A-Za-z_]\w*)")
_LITERAL = re.compile(r"'[^']*'")


def read(
    sections: Sequence[TomlTable], tables: Collection[str], views: Collection[str] = ()
) -> tuple[View, ...]:
    """Raises `ExperimentError` with the line. ``views``: those of the workload that this one
    extends."""
    taken = {name.lower() for name in (*tables, *views)}
    found = []
    for section in sections:
        view = _view(section)
        if view.name.lower() in taken:
            raise section.error(f"a second table or view is called {view.name}", "name")
        taken.add(view.name.lower())
        found.append(view)
    if sections and not tables:
        raise sections[0].error("a view without a table", hint="declare [[tables]] that it reads")
    return tuple(found)


def _view(section: TomlTable) -> View:
    name = section.text("name")
    columns.refuse_long(section, name, "name")
    own = section.section("overrides")
    for dialect in own.names():
        if hint := dialect_names.hint_if_unknown(dialect):
            raise own.error(f"no dialect is called {dialect!r}", dialect, hint=hint)
    view = View(name, _query(section, "query"), {one: _query(own, one) for one in own.names()})
    section.done()
    return view


def _query(section: TomlTable, key: str) -> str:
    """Without the semicolon that ends it; its text is sent as it stands."""
    text = section.text(key).strip().rstrip(";").strip()
    if not text:
        raise section.error(f"{key} is empty", key, hint="a query of a table")
    if variable := _VARIABLE.search(_LITERAL.sub("", text)):
        raise section.error(
            f"{key}: the query of a view has no variables, found {variable[0]}",
            key,
            hint="select by it in the script that reads the view",
        )
    return text
