"""PostgreSQL servers that repeat what another one does, for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from msgspec import structs

import servers
from assay.contracts.deployment import Deployment
from assay.contracts.storage_facts import StorageFacts
from assay.provision.directory import server_directory
from assay.systems.postgresql import installation, server
from programs import PG_BASEBACKUP, need_program
from waiting import wait_until


@contextmanager
def standby_of(primary: Deployment, storage: StorageFacts) -> Iterator[Deployment]:
    """A hot standby that receives from ``primary``, a server of its own at a port."""
    backup = need_program(PG_BASEBACKUP)
    # Else a backup's checkpoint removes what a standby asks for that has lost its connection.
    servers.ask(primary, "ALTER SYSTEM SET wal_keep_size = '1GB'")
    servers.ask(primary, "SELECT pg_reload_conf()")
    with server_directory(storage) as directory:
        from_ = primary.address
        subprocess.run(
            [
                *(backup, "--pgdata", directory.data, "--write-recovery-conf", "--checkpoint=fast"),
                *("--host", str(from_.host), "--port", str(from_.port), "--username", from_.user),
            ],
            env={**os.environ, "PGPASSWORD": from_.password or ""},
            check=True,
            capture_output=True,
        )
        owner = directory.run.stat()
        subprocess.run(
            ["chown", "-R", f"{owner.st_uid}:{owner.st_gid}", directory.data], check=True
        )
        found = installation.find_server()
        with server.running(found, directory, {}, from_.password or "") as running:
            node = replace(primary.nodes[0], pid=running.process.pid, directory=directory.data)
            address = structs.replace(from_, port=running.port)
            standby = replace(primary, endpoints=(address,), nodes=(node,))
            wait_until_it_receives(standby)
            yield standby


def wait_until_it_receives(standby: Deployment) -> None:
    """From then on it says from whom."""
    asked = "SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming'"
    wait_until(lambda: servers.ask(standby, asked), "the standby receives")
