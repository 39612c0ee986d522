"""pgbench on this machine, and the address of a private server for both programs."""

from __future__ import annotations

from pathlib import Path

from assay.contracts.deployment import Address, Deployment
from assay.systems.postgresql import installation
from programs import PGBENCH, need_program


def pgbench() -> str:
    """The program; skips the test where there is none."""
    beside = installation.find_server().program("pgbench")
    return str(beside) if beside.is_file() else need_program(PGBENCH)


def socket_of(address: Address) -> Path:
    assert address.unix is not None
    return Path(address.unix)


def port_of(address: Address) -> str:
    return str(socket_of(address)).rpartition(".")[2]


def url_of(deployment: Deployment) -> str:
    """The URL of the private server, as of a foreign one."""
    address = deployment.address
    socket = socket_of(address)
    where = {
        "postgresql": f"host={socket.parent}&port={port_of(address)}",
        "mariadb": f"socket={socket}",
    }[deployment.system]
    password = f":{address.password}" if address.password else ""
    return f"{deployment.system}://{address.user}{password}@/{address.database}?{where}"


TPCB_LIKE = r"""
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
"""pgbench's own script, as `pgbench --show-script=tpcb-like` shows it."""
