"""Takes files out of a Debian package that is downloaded and never installed.

``apt-get download`` works for any user in any folder as long as the machine has a package index. A
fresh container has none; then an index of its own is fetched into the temporary folder, and the
machine's stays as it was.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from assay.provision.install.debian_prefix import APT_GET, DPKG_DEB
from assay.provision.processes.programs import ending

TIMEOUT_S = 900


class PackageUnavailable(Exception):
    """Why the package did not come; the caller knows what to do instead."""


def take(
    package: str, folder: str, names: Iterable[str], to: Path, on_progress: Callable[[str], None]
) -> None:
    """Puts the files ``names`` of the package's ``…/folder/`` into ``to``.

    Raises `PackageUnavailable` where the machine has no such client, the client cannot bring the
    package, or the package lacks one of the files.
    """
    for program in (APT_GET, DPKG_DEB):
        if program.find_in_path() is None:
            raise PackageUnavailable(f"{program.name} is not on this machine")
    with tempfile.TemporaryDirectory(prefix="assay-package-") as temporary:
        archive = _download(package, Path(temporary), on_progress)
        found = unpack(archive, folder, set(names), to)
    if missing := sorted(set(names) - found):
        raise PackageUnavailable(f"{archive.name} holds no {folder}/{missing[0]}")


def _download(package: str, temporary: Path, on_progress: Callable[[str], None]) -> Path:
    downloads = temporary / "downloads"
    downloads.mkdir()
    on_progress(f"downloading the package {package} (it is not installed)")
    try:
        _apt(["download", package], downloads)
    except PackageUnavailable:
        on_progress("this machine's package index does not name it; fetching an index of our own")
        own = _own_index(temporary)
        _apt([*own, "update"], downloads)
        _apt([*own, "download", package], downloads)
    archives = list(downloads.glob("*.deb"))
    if len(archives) != 1:
        raise PackageUnavailable(f"apt-get left {len(archives)} packages, expected one")
    return archives[0]


def _own_index(temporary: Path) -> list[str]:
    """Options that keep apt-get's index and caches below the temporary folder."""
    lists, cache = temporary / "lists", temporary / "cache"
    (lists / "partial").mkdir(parents=True)
    (cache / "archives" / "partial").mkdir(parents=True)
    return ["-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={cache}"]


def _apt(arguments: list[str], downloads: Path) -> None:
    # The unprivileged user apt-get would download as cannot enter this process's temporary folder.
    as_we_are = ["-q", "-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1"]
    try:
        done = subprocess.run(
            [APT_GET.name, *as_we_are, *arguments],
            cwd=downloads,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PackageUnavailable(f"apt-get did not end within {TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        message = "; ".join(line[2:].strip() for line in lines[:2]) or f"status {done.returncode}"
        raise PackageUnavailable(f"apt-get {arguments[-1]}: {message}")


def unpack(archive: Path, folder: str, names: set[str], to: Path) -> set[str]:
    """Names of the files taken. The archive streams: nothing else of it touches the disk.

    Raises `PackageUnavailable` where the archive is damaged.
    """
    found = set()
    with subprocess.Popen(
        [DPKG_DEB.name, "--fsys-tarfile", str(archive)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
                for member in tar:
                    path = PurePosixPath(member.name)
                    if path.name not in names or not str(path.parent).endswith(f"/{folder}"):
                        continue
                    content = tar.extractfile(member)
                    if content is not None:
                        (to / path.name).write_bytes(content.read())
                        found.add(path.name)
            process.stdout.read()  # a closed pipe would end dpkg-deb, as an error does
        except tarfile.TarError as error:
            raise PackageUnavailable(f"{archive.name} is damaged: {error}") from error
    if process.returncode != 0:
        raise PackageUnavailable(f"{archive.name}: {ending('dpkg-deb', process.returncode)}")
    return found
