"""Settings have one name and many spellings: dashes for underscores, any letter case."""

from __future__ import annotations


def plain_name(name: str) -> str:
    """The spelling of SHOW VARIABLES."""
    return name.strip().lstrip("-").replace("-", "_").lower()
