"""A Java that compiles less: a test ends before code that its Cassandra compiles twice pays."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from assay.errors import SystemMissing
from assay.systems.cassandra.installation import JAVA, find

OPTIONS = "-XX:TieredStopAtLevel=1"
"""The first of its two compilers alone: a start takes two thirds of the CPU time."""


def use() -> None:
    """Here, and in every program that is started from now on."""
    if JAVA.name in os.environ:
        return
    try:
        java = find().java
    except SystemMissing:
        return
    folder = Path(tempfile.mkdtemp(prefix="assay-test-java-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)  # the servers' user must be able to enter
    program = folder / "java"
    program.write_text(f'#!/bin/sh\nexec {java} {OPTIONS} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    os.environ[JAVA.name] = str(program)
