"""A private server that does the work of others: its sessions have a role without rights beyond its
database, and there are settings that such work may not bring."""

from __future__ import annotations

from collections.abc import Mapping

from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.errors import ArgumentError
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.postgresql.installation import Installation

ROLE = "assay"

_TEXTS = frozenset(
    {
        "client_encoding",
        "cluster_name",
        "datestyle",
        "default_table_access_method",
        "default_text_search_config",
        "intervalstyle",
        "lc_messages",
        "lc_monetary",
        "lc_numeric",
        "lc_time",
        "log_line_prefix",
        "log_timezone",
        "search_path",
        "synchronous_standby_names",
        "timezone",
        "timezone_abbreviations",
    }
)
"""Settings that are texts, and neither a program, nor a library, nor a path, nor a server. All
others that are texts are refused, those of later versions too."""

_MONITORING = "pg_monitor"
_CHECKPOINT = "pg_checkpoint"
"""Of version 15 on."""
_ROLES_QUERY = f"""
SELECT rolname FROM pg_roles WHERE rolname IN ('{ROLE}', '{_MONITORING}', '{_CHECKPOINT}')
"""


_POWERS_QUERY = """
SELECT p.power FROM pg_roles r, (VALUES ('superuser'), ('pg_execute_server_program'),
    ('pg_write_server_files'), ('pg_read_server_files')) AS p (power)
WHERE r.rolname = current_user AND (
    p.power = 'superuser' AND r.rolsuper
    OR EXISTS (SELECT 1 FROM pg_roles o WHERE o.rolname = p.power
               AND pg_has_role(r.oid, o.oid, 'MEMBER')))
"""


def powers(opened: Session) -> tuple[str, ...]:
    """The rights of the session's user that reach beyond databases."""
    return tuple(str(power) for (power,) in rows_of(opened, _POWERS_QUERY, columns=1) or ())


def make_role(opened: Session, database: str, password: str) -> None:
    """In a session of the superuser; on data that have the role it gets this password. It owns the
    database, and sees what the server says of itself."""
    roles = {str(row[0]) for row in opened.execute(_ROLES_QUERY).rows}
    own, word = DIALECT.identifier(ROLE), DIALECT.literal(password)
    verb = "ALTER" if ROLE in roles else "CREATE"
    opened.execute(
        f"{verb} ROLE {own} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION PASSWORD {word}"
    )
    for role in (_MONITORING, _CHECKPOINT):
        if role in roles:
            opened.execute(f"GRANT {role} TO {own}")
    opened.execute(f"ALTER DATABASE {DIALECT.identifier(database)} OWNER TO {own}")
    opened.execute(f"ALTER SCHEMA public OWNER TO {own}")


def refuse_reaching_settings(installation: Installation, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a text and not among `_TEXTS`, or one of an
    extension, which may be a program as well."""
    kinds = {name.lower(): kind for name, kind in installation.kinds_of_settings().items()}
    for name, value in settings.items():
        plain = name.lower()
        is_text = kinds.get(plain, "STRING") == "STRING"  # config_file, say, is not described
        if "." in plain or (is_text and plain not in _TEXTS):
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of PostgreSQL, which can be a program, a "
                "library or a path"
            )
