"""A password is in no output, no file and no list of processes: of a run by URL, or of a refused
one."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from assay import registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects import Column, Table
from commands import Assay, Ended
from servers import ask

MARKED = "mark3d/pass:wörd@#%?"
"""With every sign that has a meaning in a URL."""
GIVEN = {"cubrid": ("ALTER USER dba PASSWORD 'g1ven pass'", "g1ven pass")}
"""Of systems whose private servers ask for none: a statement after which they do."""


@contextmanager
def command_lines_without(*passwords: str) -> Iterator[None]:
    """The argument lists of all processes that are started meanwhile, looked at all the time."""
    found: set[str] = set()
    earlier = set(Path("/proc").iterdir())
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.005):
            for process in set(Path("/proc").iterdir()) - earlier:
                try:
                    words = (process / "cmdline").read_bytes().decode(errors="replace")
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


def runs_by_url_keep_it_to_themselves(deployment: Deployment, assay: Assay, folder: Path) -> None:
    """Of a server at a port; with the right password, and with a wrong one where there is one."""
    name, address = deployment.system, deployment.address
    system = registry.system(name)
    script = folder / f"read.{system.dialect.language}"
    table = Table("kept", (Column("id", "int", not_null=True),), primary_key=("id",))
    for statement in system.dialect.create_table(table, deployment.options):
        ask(deployment, statement)
    script.write_text(f"{system.dialect.read_all('kept', ['id'])};\n")
    statement, given = GIVEN.get(name, ("", address.password))
    if statement:
        ask(deployment, statement)
    password = given or MARKED
    user = address.user or "tester"
    with command_lines_without(password, MARKED):
        url = url_at(name, address, user, password)
        done = assay("run", script, "--on", url, "--transactions", "5")
        assert done.status == 0, done.err
        is_nowhere(folder, done, password)
        shown = assay("report", "--format", "json")
        is_nowhere(folder, shown, password)
        made = assay("capsule", "pack", "latest", "-o", "result.assay")
        assert made.status == 0, made.err
        with zipfile.ZipFile(folder / "result.assay") as capsule:
            capsule.extractall(folder / "unpacked")
        is_nowhere(folder, made, password)
        if given is not None:
            url = url_at(name, address, user, MARKED)
            refused = assay("run", script, "--on", url, "--transactions", "5")
            assert refused.status == 3, refused.err
            is_nowhere(folder, refused, password, MARKED)
