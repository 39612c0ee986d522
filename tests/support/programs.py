"""The programs that only tests start, each with its Debian package, and how a test asks for one.

What the product starts is declared in the product, where it starts it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from assay.provision.install import cache
from assay.provision.machine import program
from assay.provision.machine.program import Program
from assay.systems.postgresql.installation import PACKAGED
from audit import sitecustomize
from tools import servers

ROOT = Path(__file__).parents[2]
ALWAYS_THERE = {"bash", "coreutils", "dash", "dpkg", "tar", "util-linux"}
"""Packages that Debian calls essential, those of them whose programs need no root."""
PGBENCH = Program("pgbench", "postgresql", (f"{PACKAGED}/*/bin",))
PGBOUNCER = Program("pgbouncer", "pgbouncer")
PGPOOL = Program("pgpool", "pgpool2")
PG_BASEBACKUP = Program("pg_basebackup", "postgresql-client", (f"{PACKAGED}/*/bin",))
CHOWN = Program("chown", "coreutils")
CHROMIUM = Program("chromium", "chromium")
OPENSSL = Program("openssl", "openssl")
SYSTEMD_ANALYZE = Program("systemd-analyze", "systemd")
GROFF = Program("groff", "groff-base")
BLKID = Program("blkid", "util-linux")
BASH = Program("bash", "bash")
ZSH = Program("zsh", "zsh")
FISH = Program("fish", "fish")
UNSHARE = Program("unshare", "util-linux")
MKSWAP = Program("mkswap", "util-linux")
PARTX = Program("partx", "util-linux")
SETSID = Program("setsid", "util-linux")
PS = Program("ps", "procps")
UNAME = Program("uname", "coreutils")
"""Started by Python itself: its module `platform`, which libraries ask."""
FILE = Program("file", None, is_optional=True)
"""The same; where it is missing, the module does without."""
CARGO = Program("cargo", None, is_optional=True)
GIT = Program("git", "git")
"""Of the Rust that `tools/setup` asks for: Debian's own is too old."""
IP = Program("ip", "iproute2")
TC = Program("tc", "iproute2")
NFT = Program("nft", "nftables")
SLEEP = Program("sleep", "coreutils")
CAT = Program("cat", "coreutils")
CP = Program("cp", "coreutils")


def need_program(*needed: Program) -> str:
    """The path of the (last) program; skips the test where one is not on this machine."""
    path = ""
    for one in needed:
        found = one.find_anywhere()
        if found is None:
            pytest.skip(f"{one.name} is not on this machine: {one.hint}")
        path = found
    return path


def undeclared(started: str) -> str | None:
    """What to do about a program that a test has started and that is declared nowhere; None: it is
    declared, or one of our own."""
    if _is_own(started) or _declarations(started):
        return None
    return (
        f'{started} is declared nowhere: add Program("{Path(started).name}", ITS_DEBIAN_PACKAGE) '
        "where it is started, in the product (see assay/provision/machine/program.py) or in "
        "tests/support/programs.py, so that `make test` brings it"
    )


def brought(started: str) -> str | None:
    """What to do about a program that a quick test has started and that is not on every machine."""
    declarations = _declarations(started)
    if _is_own(started) or any(
        one.package in ALWAYS_THERE or one.is_optional for one in declarations
    ):
        return None
    return f"{started} is not on every machine: mark the test with pytest.mark.slow"


def _is_own(started: str) -> bool:
    """Of this environment, this repository, or a test's folder."""
    path = Path(started)
    own = (sys.prefix, ROOT, tempfile.gettempdir(), "/var/tmp", "/dev/shm", cache.cache_folder())
    is_in_own = path.is_absolute() and any(path.is_relative_to(one) for one in own)
    return is_in_own or path.name.startswith("python")


def _declarations(started: str) -> list[Program]:
    """Of the modules that have been imported, or else of all."""
    name = Path(started).name
    for known in (program.declared, servers.declared):
        if declarations := [one for one in known() if one.name == name]:
            return declarations
    return []


class StartedPrograms:
    """What this process, and every Python below it, starts from now on (`audit.sitecustomize`)."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="assay-test-started-")  # noqa: SIM115
        os.environ[sitecustomize.VARIABLE] = self._file.name
        audit = str(Path(sitecustomize.__file__).parent)
        others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = [audit, *(other for other in others if other not in ("", audit))]
        os.environ["PYTHONPATH"] = os.pathsep.join(path)

    def since_last_time(self) -> set[str]:
        return {line.decode().rstrip("\n") for line in self._file}
