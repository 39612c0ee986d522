"""Takes a dialect of another package; says everything in which it breaks the contract of `Dialect`.

The package's own tests run it: ``assay.dialects.validation.validate(MY_DIALECT)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.dialects.protocol import ABILITIES, Dialect
from assay.contracts.members import ContractBroken, half_an_ability, members_broken
from assay.dialects.standard import StandardSql


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
