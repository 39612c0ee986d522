"""The settings that the work of others may not bring to a private server."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import ArgumentError
from assay.systems.mysql_protocol.names import plain_name

_REACHING = re.compile(
    r"plugin|(early_)?plugin_load|init_(connect|file|slave|replica)|feedback_|wsrep_|secure_|chroot"
    r"|user$|master_|replica(te)?_|slave_load|report_|ssl_|tls_|innodb_data_home|.*_(dir|directory|"
    r"path)$|tmpdir|innodb_directories|proxy_protocol|require_secure|version_ssl|authentication_"
)
"""By the beginning of a name: programs, libraries, statements that the server runs by itself, other
servers, and directories."""


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
