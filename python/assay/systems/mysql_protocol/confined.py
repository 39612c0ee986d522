"""The settings that the work of others may not bring to a private server."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import ArgumentError
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.mysql_protocol.names import plain_name

_REACHING = re.compile(
    r"plugin|(early_)?plugin_load|init_(connect|file|slave|replica)|feedback_|wsrep_|secure_|chroot"
    r"|user$|master_|replica(te)?_|slave_load|report_|ssl_|tls_|innodb_data_home|.*_(dir|directory|"
    r"path)$|tmpdir|innodb_directories|proxy_protocol|require_secure|version_ssl|authentication_"
)
"""By the beginning of a name: programs, libraries, statements that the server runs by itself, other
servers, and directories."""


_POWERS_QUERY = """
SELECT privilege_type FROM information_schema.user_privileges
WHERE privilege_type IN ('FILE', 'SUPER')
  AND grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')
ORDER BY 1
"""


def powers(opened: Session) -> tuple[str, ...]:
    """The rights of the session's user that reach beyond databases."""
    return tuple(str(power) for (power,) in rows_of(opened, _POWERS_QUERY, columns=1) or ())


def refuse_reaching_settings(title: str, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a program, a library or a path. A file without a
    directory is in that of the data."""
    for name, value in settings.items():
        plain = plain_name(name).removeprefix("loose_")
        if _REACHING.match(plain) or "/" in value:
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of {title}, which can be a program, a library "
                "or a path"
            )
