"""Takes a library's coordinates; puts its jar, and those it needs to run, into a folder, by Maven.

Maven's own configuration decides where from. What it downloads besides (its plugins) goes into a
repository within the prefix, which is removed.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from xml.sax.saxutils import escape

from assay.contracts.installing import Prefix, Report
from assay.provision.install import client
from assay.provision.install.client import InstallFailed
from assay.provision.machine.program import Program

MVN = Program("mvn", "maven")

_UNKNOWN = re.compile(r"Could not find artifact")
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


def with_dependencies(coordinates: str, to: Path, prefix: Prefix, report: Report) -> None:
    """``coordinates`` are GROUP:ARTIFACT:VERSION. Raises `InstallFailed`."""
    mvn = client.need(MVN, f"install it: {MVN.hint} (Debian, Ubuntu)")
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
    with client.version_of(artifact, version, _UNKNOWN):
        client.run(words, prefix, folder=work, without=_ABOUT_ITSELF)
    shutil.rmtree(work)
    jars = list(to.glob("*.jar"))
    if not jars:
        raise InstallFailed(f"Maven succeeded and left no jar of {coordinates}")
    report(f"{len(jars)} jars, {sum(jar.stat().st_size for jar in jars) >> 20} MiB")
