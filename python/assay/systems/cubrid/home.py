"""Makes the folder that a private server takes for its home: links to the programs, and its own
configuration, logs and sockets, so that it touches nothing of the installation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.provision.machine.ports import free_ports
from assay.provision.processes.programs import owner
from assay.systems.cubrid.installation import Installation

USER = "dba"
DATABASE = "assay"
BROKER = "assay"
_ALLOWED, _ADDRESSES, _USERS = "allowed_servers.txt", "addresses.txt", "allowed_users.txt"
_SHARED = ("bin", "lib", "cci", "share", "msg", "locales", "timezones", "include", "java")
_OWN = ("conf", "log", "log/broker", "log/server", "tmp", "var", "var/CUBRID_SOCK")

_FIRST_PROCESSES = 8

_DEFAULTS: Mapping[str, str] = {
    # Volumes grow by themselves; by default each begins with half a gigabyte.
    "db_volume_size": "64M",
    "log_volume_size": "64M",
}


class Home(Struct, frozen=True):
    """A private server's home, and the ports of its parts."""

    folder: Path
    data: Path
    master_port: int
    broker_port: int

    @property
    def shared_memory_keys(self) -> tuple[int, ...]:
        """Of the broker: it reads the digits of its configuration as hexadecimal ones."""
        return int(str(self.master_port), 16), int(str(self.broker_port), 16)

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
    home = Home(folder, directory.data, *free_ports(2))
    server = {
        **_DEFAULTS,
        _java_setting(installation): "no",
        "access_ip_control": "yes",
        "access_ip_control_file": str(folder / "conf" / _ALLOWED),
        "max_clients": str(connections),
        **settings,
        "cubrid_port_id": str(home.master_port),
    }
    lines = ["[service]", "service=server,broker", "", "[common]"]
    lines += [f"{name}={value}" for name, value in server.items()]
    _write(folder / "conf" / "cubrid.conf", lines, uid, gid)
    _write(folder / "conf" / "cubrid_broker.conf", _broker(home, connections), uid, gid)
    # Both of them listen at all addresses; they let in this machine alone.
    this_machine = ["127.0.0.1"]
    _write(folder / "conf" / _ALLOWED, [f"[@{DATABASE}]", *this_machine], uid, gid)
    _write(folder / "conf" / _ADDRESSES, this_machine, uid, gid)
    users = [f"[%{BROKER}]", f"{DATABASE}:{USER}:{_ADDRESSES}"]
    _write(folder / "conf" / _USERS, users, uid, gid)
    return home


def _java_setting(installation: Installation) -> str:
    """What turns off the procedures in Java, which would need a JVM: versions know it by one of two
    names, and refuse to start with the other."""
    library = installation.folder / "lib" / "libcubrid.so"
    words = library.read_bytes() if library.is_file() else b""
    new = "stored_procedure"
    return new if f"\0{new}\0".encode() in words else f"java_{new}"


def _broker(home: Home, connections: int) -> list[str]:
    """Each session has a process of its own; some are there from the beginning, more are started
    for more sessions, and none ends by itself. The keys of shared memory are the ports, which are
    not in use."""
    return [
        "[broker]",
        f"MASTER_SHM_ID={home.master_port}",
        "ADMIN_LOG_FILE=log/broker/cubrid_broker.log",
        "ACCESS_CONTROL=ON",
        f"ACCESS_CONTROL_FILE=conf/{_USERS}",
        "",
        f"[%{BROKER}]",
        "SERVICE=ON",
        "SSL=OFF",
        f"BROKER_PORT={home.broker_port}",
        f"MIN_NUM_APPL_SERVER={min(connections, _FIRST_PROCESSES)}",
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
