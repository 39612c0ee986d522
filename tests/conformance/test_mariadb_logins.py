"""MariaDB's own logins against a server with its plugins, which come with the package
mariadb-server; that of version 11.6 and newer (`parsec`) against their documentation, in the
driver."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemRefused
from assay.provision.engine.session import session
from commands import need
from servers import ask, provisioned

PLUGINS = Path(os.environ.get("ASSAY_TEST_MARIADB_PLUGINS", "/usr/lib/mysql/plugin"))


@pytest.mark.parametrize("method", ["ed25519", "parsec"])
def test_a_user_whose_password_signs_logs_in(method: str, storage: StorageFacts) -> None:
    need("mariadb")
    if not (PLUGINS / f"auth_{method}.so").is_file():
        pytest.skip(f"the plugin auth_{method} is not in {PLUGINS}: apt-get install mariadb-server")
    system, settings = registry.system("mariadb"), {"plugin_dir": str(PLUGINS)}
    with provisioned(system, storage, options={"transport": "tcp"}, settings=settings) as server:
        ask(server, f"INSTALL SONAME 'auth_{method}'")
        ask(server, f"CREATE USER signer IDENTIFIED VIA {method} USING PASSWORD('secret')")
        address = replace(server.address, user="signer", database="information_schema")
        with session(replace(address, password="secret")) as opened:
            assert opened.execute("SELECT 1").rows == [("1",)]
        wrong = replace(address, password="wrong")
        with pytest.raises(SystemRefused, match="Access denied"), session(wrong):
            pass
