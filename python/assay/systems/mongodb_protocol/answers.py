"""Takes a session; returns what the server says of itself, by the commands of every MongoDB."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import Session


def command(opened: Session, document: Mapping[str, str | int]) -> dict[str, str | None]:
    """The fields of the one document that a command answers; raises `SystemRefused` where there is
    none."""
    text = json.dumps(document)
    answer = opened.execute(text)
    if len(answer.rows) != 1:
        raise SystemRefused(f"expected one document as the answer to {text}")
    return dict(zip(answer.columns, answer.rows[0], strict=True))


def size_bytes(opened: Session) -> int:
    """Documents and indexes of the session's database, as the server allocates them."""
    said = command(opened, {"dbStats": 1})
    total = said.get("totalSize")
    if total is None:  # before version 4.4
        total = str(float(said.get("storageSize") or 0) + float(said.get("indexSize") or 0))
    return int(float(total))
