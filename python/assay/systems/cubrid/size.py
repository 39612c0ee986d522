"""Takes a session of a DBA; returns the bytes of all tables and indexes."""

from __future__ import annotations

from assay.dialects.cubrid import CUBRID as DIALECT
from assay.provision.engine.engine_calls import Session

_TABLES = "SELECT class_name FROM db_class WHERE is_system_class = 'NO' AND class_type = 'CLASS'"
_PAGE_BYTES = 16 << 10
"""Of a database that was made without the option --db-page-size."""


def data_bytes(opened: Session) -> int:
    """Pages of the rows and of the indexes, free space within them included."""
    pages = 0
    for (name,) in opened.execute(_TABLES).rows:
        table = DIALECT.identifier(name or "")
        pages += _sum(opened, f"SHOW ALL HEAP CAPACITY OF {table}", "num_pages")
        pages += _sum(opened, f"SHOW ALL INDEXES CAPACITY OF {table}", "num_total_page")
    return pages * _PAGE_BYTES


def _sum(opened: Session, question: str, column: str) -> int:
    found = opened.execute(question)
    place = [name.lower() for name in found.columns].index(column)
    return sum(int(row[place] or 0) for row in found.rows)
