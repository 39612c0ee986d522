"""No password of a URL is in a record, a message, a file of Assay's own or a list of processes."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from assay import registry
from assay.contracts.deployment import Address, StorageFacts
from assay.contracts.dialects.protocol import Column, Table
from assay.contracts.systems.abilities import ReachedByUrl
from assay.provision.machine.ports import free_port
from assay.systems.options import TRANSPORT
from commands import Assay, Ended, need
from servers import ask, provisioned

MARKED = "mark3d/pass:wörd@#%?"
"""With every sign that has a meaning in a URL."""

GIVEN = {"cubrid": ("ALTER USER dba PASSWORD 'g1ven pass'", "g1ven pass")}
"""Of systems whose private servers ask for none: a statement after which they do."""

NAMES = [
    name
    for name in registry.systems()
    if isinstance(registry.system(name), ReachedByUrl) and name != "null"
]


@contextmanager
def command_lines_without(*passwords: str) -> Iterator[None]:
    """The argument lists of all processes, looked at all the time."""
    found: set[str] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.005):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = file.read_bytes().decode(errors="replace")
                except OSError:
                    continue
                found.update(words for one in forms(*passwords) if one in words)

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()
    # Ours is the test's: it starts `assay run … --on URL`, as a careless user does.
    assert not [words for words in found if "\0run\0" not in words]


def forms(*passwords: str) -> list[str]:
    """As it is, and as a URL has it."""
    return [form for one in passwords for form in (one, quote(one, safe=""))]


def is_nowhere(folder: Path, ended: Ended, *passwords: str) -> None:
    """In no output and in no file: the record, and what is kept for a later clean-up."""
    for form in forms(*passwords):
        assert form not in ended.out + ended.err
        for file in folder.rglob("*"):
            if file.is_file():
                assert form.encode() not in file.read_bytes(), f"{file} has the password"


def url_at(name: str, address: Address, user: str, password: str) -> str:
    scheme = registry.url_schemes(name)[0]
    who = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return f"{scheme}://{who}@{address.host}:{address.port}/{address.database}"


@pytest.mark.server
@pytest.mark.parametrize("name", NAMES)
def test_a_run_by_url_keeps_the_password_to_itself(
    name: str, assay: Assay, working_folder: Path, storage: StorageFacts
) -> None:
    need(name)
    system = registry.system(name)
    script = working_folder / f"read.{system.dialect.language}"
    table = Table("kept", (Column("id", "int", not_null=True),), primary_key=("id",))
    options = {"transport": "tcp"} if TRANSPORT in system.option_specs else {}
    with provisioned(system, storage, options=options) as deployment:
        address = deployment.address
        if address.host is None:
            pytest.skip(f"{name} listens on no port, and its URLs have no password")
        for statement in system.dialect.create_table(table, deployment.options):
            ask(deployment, statement)
        script.write_text(f"{system.dialect.read_all('kept', ['id'])};\n")
        statement, given = GIVEN.get(name, ("", address.password))
        if statement:
            ask(deployment, statement)
        asks_for_one = given is not None
        password = given or MARKED
        user = address.user or "somebody"
        with command_lines_without(password, MARKED):
            url = url_at(name, address, user, password)
            done = assay("run", script, "--on", url, "--transactions", "5")
            assert done.status == 0, done.err
            is_nowhere(working_folder, done, password)
            shown = assay("report", "--format", "json")
            is_nowhere(working_folder, shown, password)
            made = assay("pack", "latest", "-o", "result.assay")
            assert made.status == 0, made.err
            with zipfile.ZipFile(working_folder / "result.assay") as capsule:
                capsule.extractall(working_folder / "unpacked")
            is_nowhere(working_folder, made, password)
            if asks_for_one:
                url = url_at(name, address, user, MARKED)
                refused = assay("run", script, "--on", url, "--transactions", "5")
                assert refused.status == 3, refused.err
                is_nowhere(working_folder, refused, password, MARKED)


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
