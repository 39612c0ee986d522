"""No password of a URL is in a record, a message, a file of Assay's own or a list of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.deployment import Address
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import ReachedByUrl
from assay.provision.machine.ports import free_port
from assay.systems.options import TRANSPORT
from commands import Assay, need
from servers import provisioned
from shown_passwords import (
    MARKED,
    command_lines_without,
    is_nowhere,
    runs_by_url_keep_it_to_themselves,
    url_at,
)

NAMES = [
    name
    for name in registry.systems()
    if isinstance(registry.system(name), ReachedByUrl) and name != "null"
]
SHARED = {"cassandra": "tests/conformance/test_cassandra_private_cluster.py"}
"""Of those that take long to start: where the same is asked of a server that is up anyway."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SHARED])
def test_a_run_by_url_keeps_the_password_to_itself(
    name: str, assay: Assay, working_folder: Path, storage: StorageFacts
) -> None:
    need(name)
    system = registry.system(name)
    options = {"transport": "tcp"} if TRANSPORT in system.option_specs else {}
    with provisioned(system, storage, options=options) as deployment:
        if deployment.address.host is None:
            pytest.skip(f"{name} listens on no port, and its URLs have no password")
        runs_by_url_keep_it_to_themselves(deployment, assay, working_folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_reaches_nothing_keeps_the_password_to_itself(
    name: str, assay: Assay, working_folder: Path
) -> None:
    """Nothing listens there; and URLs that cannot be right, of which messages quote a part."""
    nowhere = Address(registry.system(name).driver, host="127.0.0.1", port=free_port())
    good = url_at(name, nowhere, "somebody", MARKED)
    script = working_folder / "read.sql"
    script.write_text("SELECT 1;\n")
    with command_lines_without(MARKED):
        for url in (
            good,
            f"{good}nowhere?no_such_parameter=1",
            good.replace("127.0.0.1:", "127.0.0.1:x"),
            good.replace("@127", "@[127"),
            good.partition("@127")[0],
        ):
            ended = assay("run", script, "--on", url, "--transactions", "1")
            assert ended.status in (2, 3), ended.err
            is_nowhere(working_folder, ended, MARKED)
