"""Takes a loaded deployment and the statements of its checks; returns the entries that any check
reports.

The variant ``clean`` of a replicated data set holds further replicas of the other entries only, so
that the checks' output stays as short as on the data set itself (Beebe 2011, section 4: it is
"intentionally kept short").
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect
from assay.load.bibsql.declared import FileRows
from assay.provision.engine.session import session

LABEL = "label"

Entries = list[tuple[str, str]]
"""(file name, label) of each."""


def reported_entries(
    deployment: Deployment, dialect: Dialect, statements: Sequence[str], rows: FileRows
) -> Entries:
    """Every entry in the answer of any of the statements.

    An answer without a label reports all entries of its files; one without a file reports the label
    in all files.
    """
    with session(deployment.address) as opened:
        everything = opened.execute(dialect.read_all(rows.table, [rows.key, LABEL])).rows
        files: set[str | None] = set()
        labels: set[str | None] = set()
        entries: set[tuple[str | None, ...]] = set()
        for text in statements:
            answer = opened.execute(text)
            columns = [column.lower() for column in answer.columns]
            if rows.key in columns and LABEL in columns:
                file, label = columns.index(rows.key), columns.index(LABEL)
                entries.update((row[file], row[label]) for row in answer.rows)
            elif rows.key in columns:
                files.update(row[columns.index(rows.key)] for row in answer.rows)
            elif LABEL in columns:
                labels.update(row[columns.index(LABEL)] for row in answer.rows)
    return sorted(
        (str(file), str(label))
        for file, label in everything
        if file in files or label in labels or (file, label) in entries
    )
