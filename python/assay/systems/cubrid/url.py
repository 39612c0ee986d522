"""Takes ``cubrid://user:password@host:port/database``; returns the server's address."""

from __future__ import annotations

import json
from dataclasses import dataclass

from msgspec import structs

from assay.contracts.deployment import Address
from assay.contracts.engine.deployment import DeploymentDocument
from assay.dialects.cubrid import CUBRID as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.systems import urls
from assay.systems.cubrid.installation import MODULE

SCHEMES = ("cubrid",)
DEFAULT_PORT = 33000
"""Of the broker that a new installation has beside the one for editors."""

PASSWORD = EnvVar("ASSAY_CUBRID_PASSWORD", "The password for a cubrid:// URL that holds none.")


@dataclass(frozen=True)
class CubridAddress(Address):
    """The driver is given the parts of the address as keywords of ``connect()``."""

    def for_engine(self) -> DeploymentDocument:
        document = super().for_engine()
        keywords = {name: getattr(self, name) for name in ("host", "port", "database", "user")}
        options = {**document.options, "keywords": json.dumps(keywords)}
        return structs.replace(document, options=options)


def address(
    *,
    host: str,
    port: int,
    database: str,
    user: str,
    password: str | None,
    session_statements: tuple[str, ...] = (),
) -> Address:
    """Through the Python driver."""
    return CubridAddress(
        driver="dbapi",
        host=host,
        port=port,
        user=user,
        password=password,
        database=database,
        session_statements=session_statements,
        options={
            "module": MODULE,
            "password_keyword": "password",
            "code_attribute": "errno",
            "version_query": "SELECT 'CUBRID ' || version()",
            "error_classes": json.dumps(dict(DIALECT.error_classes)),
            "error_phrases": json.dumps(dict(DIALECT.error_phrases)),
        },
    )


def address_of(url: str) -> Address:
    """Raises `ArgumentError` that names the part which cannot be used, and never the password."""
    parts = urls.read(url, scheme=SCHEMES[0], parameters=(), password=PASSWORD)
    if not parts.database:
        raise ArgumentError("the URL names no database", hint=urls.form(SCHEMES[0]))
    return address(
        host=parts.host or "localhost",
        port=parts.port or DEFAULT_PORT,
        database=parts.database,
        user=parts.user or "public",
        password=parts.password or PASSWORD.get(),
    )
