"""Makes the folder that a private server takes for its home: links to the programs, and its own
configuration, logs and sockets, so that it touches nothing of the installation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.provision.ports import free_port
from assay.provision.programs import owner
from assay.systems.cubrid.installation import Installation
from assay.systems.protocol import ServerDirectory

BROKER = "assay"
_SHARED = ("bin", "lib", "cci", "share", "msg", "locales", "timezones", "include", "java")
_OWN = ("conf", "log", "log/broker", "log/server", "tmp", "var", "var/CUBRID_SOCK")

_DEFAULTS: Mapping[str, str] = {
    # Volumes grow by themselves; by default each begins with half a gigabyte.
    "db_volume_size": "64M",
    "log_volume_size": "64M",
    "java_stored_procedure": "no",
    "stored_procedure": "no",
}


@dataclass(frozen=True)
class Home:
    """A private server's home, and the ports of its parts."""

    folder: Path
    data: Path
    master_port: int
    broker_port: int

    @property
    def environment(self) -> Mapping[str, str]:
        """For every program of the server."""
        libraries = [self.folder / "lib", self.folder / "cci" / "lib"]
        return {
            "CUBRID": str(self.folder),
            "CUBRID_DATABASES": str(self.data),
            "CUBRID_TMP": str(self.folder / "var" / "CUBRID_SOCK"),
            "CUBRID_MSG_LANG": "en_US",
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            # The master is our child and not a daemon.
            "CUBRID_NO_DAEMON": "true",
        }

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def make(
    installation: Installation,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    connections: int,
) -> Home:
    """Writes the configuration anew: ports differ from start to start."""
    folder = directory.run / "cubrid"
    uid, gid = owner(directory)
    for path in (folder, *(folder / name for name in _OWN)):
        path.mkdir(mode=0o700, exist_ok=True)
        os.chown(path, uid, gid)
    for name in _SHARED:
        target = installation.folder / name
        if target.is_dir() and not (folder / name).is_symlink():
            (folder / name).symlink_to(target)
    home = Home(folder, directory.data, free_port(), free_port())
    server = {
        **_DEFAULTS,
        "max_clients": str(connections),
        **settings,
        "cubrid_port_id": str(home.master_port),
    }
    lines = ["[service]", "service=server,broker", "", "[common]"]
    lines += [f"{name}={value}" for name, value in server.items()]
    _write(folder / "conf" / "cubrid.conf", lines, uid, gid)
    _write(folder / "conf" / "cubrid_broker.conf", _broker(home, connections), uid, gid)
    return home


def _broker(home: Home, connections: int) -> list[str]:
    """A process of its own for each session from the beginning, none of which ends by itself. The
    keys of shared memory are the ports, which are not in use."""
    return [
        "[broker]",
        f"MASTER_SHM_ID={home.master_port}",
        "ADMIN_LOG_FILE=log/broker/cubrid_broker.log",
        "",
        f"[%{BROKER}]",
        "SERVICE=ON",
        "SSL=OFF",
        f"BROKER_PORT={home.broker_port}",
        f"MIN_NUM_APPL_SERVER={connections}",
        f"MAX_NUM_APPL_SERVER={connections}",
        f"APPL_SERVER_SHM_ID={home.broker_port}",
        "LOG_DIR=log/broker/sql_log",
        "ERROR_LOG_DIR=log/broker/error_log",
        "SQL_LOG=OFF",
        "SLOW_LOG=OFF",
        "TIME_TO_KILL=86400",
        "SESSION_TIMEOUT=86400",
        "KEEP_CONNECTION=ON",
        "CCI_DEFAULT_AUTOCOMMIT=ON",
    ]


def _write(path: Path, lines: list[str], uid: int, gid: int) -> None:
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    os.chown(path, uid, gid)
