"""Brings the 13 public-domain bibliographies the answers of `bibsql` were counted on.

They are part of TeX Live. A TeX tree on this machine is copied from; else the Debian package that
holds them is downloaded by the machine's own package client into a temporary folder, and only that
one folder is taken out of it: no TeX is installed and no root is needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from msgspec import Struct

from assay.errors import ArgumentError, InputError
from assay.load.row_sources.protocol import PLACE_HINT, input_folder
from assay.provision.install.debian_prefix import APT_GET, DPKG_DEB
from assay.provision.machine.program import Program
from assay.provision.processes import ending_of_output
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import UnfinishedPackage
from assay.text import toml_file
from assay.text.phrases import phrase
from assay.text.quantities import COUNT
from assay.text.units import counted

OnProgress = Callable[[str], None]
"""Takes one line for the person at the terminal."""

TREES = (
    "/usr/share/texlive/texmf-dist",
    "/usr/share/texmf-dist",
    "/usr/share/texmf",
    "/usr/local/share/texmf-dist",
    "/usr/local/texlive/*/texmf-dist",
    "/opt/texlive/*/texmf-dist",
)
KPSEWHICH = Program("kpsewhich", "texlive-binaries", is_optional=True)
_KPSEWHICH_S = 30


class CompleteCopy(Struct, frozen=True):
    """What a complete copy is."""

    package: str
    package_version: str
    folder: str
    files: Mapping[str, tuple[int, str]]
    """Name → (bytes, SHA-256)."""


def manifest() -> CompleteCopy:
    """The manifest beside this module."""
    top = toml_file.read(Path(__file__).with_suffix(".toml"))
    listed = top.section("files")
    files = {name: listed.section(name) for name in listed.names()}
    return CompleteCopy(
        package=top.text("package"),
        package_version=top.text("package_version"),
        folder=top.text("folder"),
        files={
            name: (entry.whole("bytes", COUNT), entry.text("sha256"))
            for name, entry in files.items()
        },
    )


def default_folder() -> Path:
    """Where the files are kept by default."""
    return input_folder() / "beebe"


def is_there(folder: Path) -> bool:
    """Whether every file of the manifest is there, whatever its content."""
    return all((folder / name).is_file() for name in manifest().files)


def get(
    to: Path | None = None, on_progress: OnProgress = lambda _line: None, *, force: bool = False
) -> Path:
    """Brings the files into ``to`` (default: `default_folder`) and returns that folder.

    Existing files are kept, unless ``force``. Reports what differs from the
    manifest; raises `InputError` where the files can be had neither from a TeX tree nor from the
    package.
    """
    expected, folder = manifest(), to or default_folder()
    if is_there(folder) and not force:
        on_progress(f"{folder}: already there")
    else:
        _bring(expected, folder, on_progress, force)
    for line in differences(expected, folder):
        on_progress(f"differs: {line}")
    return folder


def remove(to: Path | None = None) -> str:
    """Removes the files, and the folder if nothing else is in it; says so. In another folder
    than the default one, only files with the content of the manifest. Raises `ArgumentError` where
    there are none."""
    folder, known = to or default_folder(), manifest().files
    there = [folder / name for name in known if (folder / name).is_file()]
    found = [file for file in there if to is None or _sha256(file) == known[file.name][1]]
    if not found:
        raise ArgumentError(f"beebe was not installed by Assay in {folder}")
    for file in found:
        file.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return f"removed {counted(len(found), 'file')} from {folder}"


def _bring(expected: CompleteCopy, folder: Path, on_progress: OnProgress, force: bool) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        identity = ledger.new_id()
        with undone_at_end(identity) as entry:
            entry.add(package := UnfinishedPackage.within(folder, identity))
            incomplete = Path(package.path)
            incomplete.mkdir()
            _fetch(expected, incomplete, on_progress)
            for file in incomplete.iterdir():
                if force or not (folder / file.name).exists():
                    file.replace(folder / file.name)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", file=folder, hint=PLACE_HINT
        ) from error


def _fetch(expected: CompleteCopy, to: Path, on_progress: OnProgress) -> None:
    """Puts all files of the manifest into the empty folder ``to``."""
    if tree := _tree_folder(expected):
        on_progress(f"copying from {tree}")
        for name in expected.files:
            shutil.copyfile(tree / name, to / name)
        return
    on_progress(f"no TeX tree on this machine holds {expected.folder}")
    try:
        take_debian_package(expected.package, expected.folder, expected.files, to, on_progress)
    except PackageUnavailable as error:
        raise InputError(
            f"the bibliographies were not found: no TeX tree here has {expected.folder}, and "
            f"the package {expected.package} cannot be brought: {error}",
            file=to.parent,
            hint=(
                phrase(
                    "give any BibTeX files with {--input PATH}; without them `assay run` makes a "
                    "synthetic bibliography of the same statistics"
                )
            ),
        ) from error


def _tree_folder(expected: CompleteCopy) -> Path | None:
    """The folder of a TeX tree that holds every file, if this machine has one."""
    for folder in _tree_folders(expected):
        if all((folder / name).is_file() for name in expected.files):
            return folder
    return None


def _tree_folders(expected: CompleteCopy) -> Iterator[Path]:
    if (named := _kpsewhich(next(iter(expected.files)))) is not None:
        yield named.parent
    for pattern in TREES:
        for tree in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            yield tree / expected.folder


def _kpsewhich(name: str) -> Path | None:
    """Where TeX finds the file; None where it does not, or does not answer."""
    try:
        answer = subprocess.run(
            [KPSEWHICH.name, "--format=bib", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_KPSEWHICH_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip()) if answer.stdout.strip() else None


def differences(expected: CompleteCopy, folder: Path) -> list[str]:
    """Sentences on what the folder has otherwise than the manifest; empty: the same bytes."""
    lines = []
    for name, (size_bytes, digest) in expected.files.items():
        file = folder / name
        if not file.is_file():
            lines.append(f"{name} is missing")
        elif file.stat().st_size != size_bytes:
            lines.append(f"{name} has {file.stat().st_size:,} bytes, expected {size_bytes:,}")
        elif _sha256(file) != digest:
            lines.append(f"{name} has the expected size and another content")
    lines += [
        f"{name} is not one of the {len(expected.files)}" for name in _others(expected, folder)
    ]
    if lines:
        lines.append(
            "expected results are those of an edition of the files: a run says whether those of "
            "this one are known"
        )
    return lines


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _others(expected: CompleteCopy, folder: Path) -> Iterable[str]:
    return (file.name for file in sorted(folder.glob("*.bib")) if file.name not in expected.files)


# Takes files out of a Debian package that is downloaded and never installed.
#
# ``apt-get download`` works for any user in any folder as long as the machine has a package
# index. A fresh container has none; then an index of its own is fetched into the temporary
# folder, and the machine's stays as it was.

TIMEOUT_S = 900


class PackageUnavailable(Exception):
    """Why the package did not come; the caller knows what to do instead."""


def take_debian_package(
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
        raise PackageUnavailable(
            f"{archive.name}: {ending_of_output('dpkg-deb', process.returncode)}"
        )
    return found
