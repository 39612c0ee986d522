"""Takes the tables and scripts of a run whose statement was refused; returns the hint that a name
in it is a reserved word of the system."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.contracts.dialects.protocol import Dialect, Table
from assay.contracts.engine.document import ScriptDocument


def hint(
    tables: Iterable[Table], scripts: Iterable[ScriptDocument], dialect: Dialect
) -> str | None:
    """None where no script has such a name without quotes."""
    texts = {script.path: script.text for script in scripts}
    for table in tables:
        for name, what in [
            (table.name, "table"),
            *((column.name, f"column of {table.name}") for column in table.columns),
        ]:
            spelled = dialect.identifier(name)
            if spelled == name:
                continue
            for path, text in texts.items():
                if re.search(rf"(?<![\w:\"'`\[]){re.escape(name)}(?![\w\"'`\]])", text):
                    return (
                        f"{name}, a {what}, is a reserved word of {dialect.name}: in {path} write "
                        f"{spelled}"
                    )
    return None
