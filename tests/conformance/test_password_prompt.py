"""A missing password is prompted for on a terminal, and only there."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from able import one_of_each_line
from assay.contracts.storage_facts import StorageFacts
from assay.record import DEFAULT_FILE_NAME
from assay.systems import System
from commands import Assay
from forked_programs import BIN
from programs import SETSID
from servers import SERVERS, provisioned

QUIET = {"PGPASSWORD": "", "PGPASSFILE": "/nowhere", "MYSQL_PWD": ""}


@pytest.mark.parametrize("server", one_of_each_line(SERVERS), indirect=True)
def test_a_password_is_prompted_for_only_on_a_terminal(
    assay: Assay, server: System, storage: StorageFacts, working_folder: Path
) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    with provisioned(server, storage, options={"transport": "tcp"}) as deployment:
        address = deployment.address
        place = f"{address.host}:{address.port}/{quote(address.database)}"
        url = f"{server.url_schemes[0]}://{address.user}@{place}"
        words = ("run", "one.sql", "--on", url, "--transactions", "2")
        without = assay(*words, **QUIET)
        assert without.status == 3
        assert "password: none found" in without.err

        status, message = at_a_terminal(working_folder, words, "")
        assert status == 3, message
        assert "password: none was typed" in message.replace("\r\n", " ")

        status, message = at_a_terminal(working_folder, words, str(address.password))
        assert status == 0, message
        assert re.search(f"Password for {server.name} {address.user}@{address.host}: ", message)
        assert str(address.password) not in message
        kept = (working_folder / DEFAULT_FILE_NAME).read_bytes()
        assert str(address.password).encode() not in kept
        assert without.runs[0].deployment_document is not None
        assert without.runs[0].deployment_document["address"]["origins"]["password_from"] == "typed"


def at_a_terminal(working_folder: Path, words: tuple[str, ...], typed: str) -> tuple[int, str]:
    """The status of ``assay``, and the terminal's output when this is typed at the prompt."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        # A session of its own whose terminal is this one.
        [SETSID.path, "--ctty", BIN / "assay", *words],
        cwd=working_folder,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, **QUIET, "XDG_STATE_HOME": str(working_folder / "state")},
    ) as running:
        os.close(its)
        message = b""
        try:
            while (read := os.read(ours, 4096)) != b"":
                message += read
                if message.endswith(b": ") and b"Password" in message.splitlines()[-1]:
                    os.write(ours, typed.encode() + b"\n")
        except OSError:
            pass  # the other end is closed
        finally:
            os.close(ours)
        return running.wait(60), message.decode(errors="replace")
