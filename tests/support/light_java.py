"""A Java that compiles less, and that has the classes of Cassandra read already: a test ends before
code that its Cassandra compiles twice pays.

Run as a program it makes the archive of these classes, once for each Cassandra and each Java, in
the cache folder; tests do without where there is none.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from assay import registry
from assay.errors import SystemMissing
from assay.provision.install import cache
from assay.systems.cassandra.installation import JAVA, Installation, find
from servers import directory_for_servers, provisioned

OPTIONS = "-XX:TieredStopAtLevel=1"
"""The first of its two compilers alone: a start takes two thirds of the CPU time."""
_WITH_AGENT = "-XX:+UnlockDiagnosticVMOptions -XX:+AllowArchivingWithJavaAgent"
"""Cassandra's agent measures objects and changes no class."""


def use() -> None:
    """Here, and in every program that is started from now on."""
    if JAVA.name in os.environ:
        return
    try:
        found = find()
    except SystemMissing:
        return
    archive = _archive(found)
    # One of other jars, or of another Java, is left unread by Java itself.
    more = f"-XX:SharedArchiveFile={archive} {_WITH_AGENT}" if archive.exists() else ""
    _set(found.java, more)


def make_archive() -> None:
    """From the classes that one Cassandra had read when it was stopped: each later start takes
    6.9 s of CPU time in place of 10.6."""
    try:
        found = find()
    except SystemMissing as missing:
        print(f"note: {missing.message}", file=sys.stderr)
        return
    archive = _archive(found)
    if archive.exists():
        return
    with tempfile.TemporaryDirectory(prefix="assay-test-archive-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)  # the servers' user makes it, when Cassandra ends
        made = Path(folder) / "classes.jsa"
        os.environ["ASSAY_STATE_DIRECTORY"] = str(Path(folder) / "state")
        _set(found.java, f"-XX:ArchiveClassesAtExit={made} {_WITH_AGENT}")
        cassandra = registry.system("cassandra")
        with (
            directory_for_servers() as storage,
            provisioned(cassandra, storage, options={"nodes": "1"}),
        ):
            pass
        if not made.exists():
            print("note: Java made no archive of Cassandra's classes", file=sys.stderr)
            return
        archive.parent.mkdir(parents=True, exist_ok=True)
        unfinished = archive.with_name(f"{archive.name}.{os.getpid()}")
        shutil.copyfile(made, unfinished)
        unfinished.chmod(0o644)
        unfinished.rename(archive)


def _archive(found: Installation) -> Path:
    said = subprocess.run([found.java, "-version"], capture_output=True, text=True, check=True)
    java = re.sub(r"[^\w.+-]+", "-", said.stderr.splitlines()[0])
    return cache.cache_folder() / "tests" / f"cassandra-{found.version}-{java}.jsa"


def _set(java: Path, options: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="assay-test-java-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)  # the servers' user must be able to enter
    program = folder / "java"
    words = f'exec {java} {OPTIONS} {options} "$@"'
    # What is asked for its version reads no archive of classes.
    program.write_text(f'#!/bin/sh\n[ $# -gt 1 ] || exec {java} "$@"\n{words}\n', encoding="utf-8")
    program.chmod(0o755)
    os.environ[JAVA.name] = str(program)


if __name__ == "__main__":
    make_archive()
